package workflows_test

import (
	"strconv"
	"testing"

	sdk "go.temporal.io/sdk/client"

	"processidea/client"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// Who starts a workflow by Temporal's own API has nobody check the Idea before. Whatever is asked then, at whatever
// place the error was found, it has failed, and has no instances.
func TestAProcessWhoseIdeaIsRefusedSaysSoWhereverOneLooks(t *testing.T) {
	t.Parallel()
	const never = `{"type": "plan", "stage": "complete", "when": false, "plan": []}`
	const unseen = "started by a name that nobody sees"
	startedBy := map[string][]policy.Identity{unseen: policy.IdentitiesNamed("ann", "an\u200bn")}
	many := ""
	for n := range 101 {
		many += `, {"type": "state", "_instance": "` + strconv.Itoa(n) + `", "state": {}}`
	}
	for name, idea := range map[string]string{
		"read":              `{"contxt": []}`,
		"of 101, read":      `{"contxt": [], "context": [` + many[1:] + `]}`,
		"bound":             `{"schema": {"tools": {"f": {"_activity": "isNotThere"}}}, "context": [{"type": "text", "text": "Go."}]}`,
		"of 101, bound":     `{"schema": {"tools": {"f": {"_activity": "isNotThere"}}}, "context": [{"type": "text", "text": "Go."}` + many + `]}`,
		"no Plan runs":      `{"context": [{"type": "text", "text": "Go."}, ` + never + `]}`,
		"of 101, none runs": `{"context": [` + never + many + `]}`,
		unseen:              `{"context": [{"type": "text", "text": "Go."}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := jsonval.DecodeObject([]byte(idea))
			if err != nil {
				t.Fatal(err)
			}
			id := t.Name()
			run, err := temporalClient.ExecuteWorkflow(t.Context(),
				sdk.StartWorkflowOptions{ID: id, TaskQueue: protocol.TaskQueue},
				protocol.ProcessType, protocol.ProcessStart{Idea: read, StartedBy: startedBy[name]})
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Get(t.Context(), nil); err == nil {
				t.Fatal("it has not failed")
			}
			p := client.New(temporalClient, server.Namespace(), store).Process(id)
			var v client.Status
			eventually(t, "it answers", func() bool { v, err = p.Status(t.Context()); return err == nil })
			if v.Status != loop.StatusFailed || v.Error == nil || v.Error.Code != turn.CodeInvalidIdea ||
				v.Error.Message == "" || len(v.Instances) > 0 {
				t.Errorf("it says %+v (%v)", v, err)
			}
			if list, err := p.Instances(t.Context()); err != nil || len(list) > 0 {
				t.Errorf("its instances are %v (%v)", list, err)
			}
			if list, err := p.Approvals(t.Context()); err != nil || len(list) > 0 {
				t.Errorf("its approvals are %v (%v)", list, err)
			}
			if err := replay(t, store, history(t, id)); err != nil {
				t.Error(err)
			}
		})
	}
}
