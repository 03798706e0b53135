package workflows_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/model/jsonval"
)

// manyTools is a palette as it comes of the OpenAPI document of a large API: every Tool with the definitions that its
// parameters refer to.
func manyTools(count int, url string) map[string]any {
	definitions := map[string]any{}
	for n := range 15 {
		properties := map[string]any{"id": map[string]any{"type": "string",
			"description": strings.Repeat("What it is. ", 4)}}
		for k := range 5 {
			properties[fmt.Sprintf("part%d", k)] = map[string]any{"$ref": fmt.Sprintf("#/$defs/thing%d", (n*7+k+1)%15)}
		}
		definitions[fmt.Sprintf("thing%d", n)] = map[string]any{"type": "object", "properties": properties}
	}
	tools := map[string]any{}
	for n := range count {
		properties := map[string]any{}
		for k := range 8 {
			properties[fmt.Sprintf("p%d", k)] = map[string]any{"$ref": fmt.Sprintf("#/$defs/thing%d", (n+k)%15)}
		}
		tools[fmt.Sprintf("operation%d", n)] = map[string]any{
			"type": "object", "description": fmt.Sprintf("Does what operation %d does.", n), "properties": properties,
			"$defs":     definitions,
			"_activity": map[string]any{"http": map[string]any{"url": url}},
		}
	}
	return jsonval.ToJSONValue(tools).(map[string]any)
}

func TestALargePaletteRunsToItsEnd(t *testing.T) {
	t.Parallel()
	atLength(t)
	count := longrun.RepeatCount(150, 1200)
	s := newScenario(t, `{"context": [
			{"type": "text", "text": "Go."}, {"type": "state", "_instance": "①", "n": 1}, {"type": "state", "_instance": "②", "n": 2}]}`,
		fmt.Sprintf(`{"solution": {"calls": [{"_tool": "operation7", "_instance": "*", "p0": {"id": "a"}, "_outputPath": "a"},
			{"_tool": "operation%d", "_instance": "①", "p0": {"part1": {"id": "b"}}, "_outputPath": "b"},
			{"_tool": "operation8", "_instance": "②", "p0": {"part1": {"id": 7}}, "_outputPath": "b"},
			{"_tool": "operation%d", "_instance": "②", "_outputPath": "c"}]}}`, count-1, count),
		`{"solution": {"calls": []}}`, `{"solution": {"calls": []}}`)
	s.idea["schema"] = map[string]any{
		"tools": manyTools(count,
			toolbox.handle("/"+s.id, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `"done"`) }))}
	r := s.finish()
	if got := asJSON([]any{r.Instances["①"].State,
		r.Instances["②"].State}); got != `[{"a":"done","b":"done","n":1},{"a":"done","n":2}]` {
		t.Error(got)
	}
	if p := s.prompt(2); !strings.Contains(p, "expected string, but got number") ||
		!strings.Contains(p, fmt.Sprintf("unknown tool \"operation%d\"", count)) {
		t.Error(p[max(0, len(p)-3000):])
	}
	s.replays("①", "②")
}
