package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/api/workflowservice/v1"

	"processidea/internal/longrun"
	"processidea/protocol"
)

// Databases of Temporal hold workflow ids of 255 characters. A child whose id is longer is never started, and its
// process would wait for ever.
func TestIDsFitDatabasesHoweverLongNamesAre(t *testing.T) {
	t.Parallel()
	names := []string{"Общество с ограниченной ответственностью «Ромашка»", strings.Repeat("株式会社", 16),
		strings.Repeat("x", 66) + "1", strings.Repeat("x", 66) + "2"}
	for name, config := range longrun.SampleRows(t, 2, map[string]string{"in one piece": ``, "in parts": `"batch": 1`}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const asks = `{"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_delegate": %q, "_output": {}}`
			var rows []string
			for n, token := range names {
				rows = append(rows, fmt.Sprintf(`{"type": "input", "_instance": %q, "input": {"text": "t%d"}}`, token,
					n))
			}
			s := newScenario(t, fmt.Sprintf(`{"config": {%s}, "schema": {"tools": {"ask": `+asks+`}}, "context": [%s,
				{"type": "plan", "stage": "complete", "plan": [{"_tool": "ask", "text": "†input.text", "_outputPath": "said"}]}]}`,
				config, "1.json", strings.Join(rows, ",")))
			s.id += "/" + strings.Repeat("i", max(1, 89-len(s.id)))
			for n := range 5 {
				inner := fmt.Sprintf(asks, fmt.Sprintf("%d.json", n+2))
				if n == 4 {
					inner = textTool
				}
				s.file(fmt.Sprintf("%d.json", n+1), `{"schema": {"tools": {"shout": `+inner+`}, "output": {}}, "context": [{"type": "plan", "stage": "complete", "plan": [
					{"_tool": "shout", "text": "†input.text", "_outputPath": "said"}], "output": "†state.said"}]}`)
			}
			r := s.finish()
			if r.Calls.Done != len(names) {
				t.Errorf("%+v\n%s", r.Calls, s.story())
			}
			eventually(t, "all are listed", func() bool {
				list, err := s.client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
					Namespace: s.namespace, PageSize: 1000, Query: protocol.ProcessTreeQuery(s.id)})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range list.GetExecutions() {
					if id := e.GetExecution().GetWorkflowId(); len(id) > 255 {
						t.Errorf("%d characters: %s", len(id), id)
					}
				}
				return len(list.GetExecutions()) >= len(names)*6
			})
		})
	}
}
