package dataflow_test

import (
	"encoding/json"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

const settleTool = `{"settle": {"_activity": "do", "type": "object", "properties": {
	"template": {"const": "†input.letter"},
	"values": {"type": "object", "properties": {"order": {"type": "string"}, "cents": {"type": "integer"}, "note": {"type": "string"}},
		"required": ["order", "cents"], "additionalProperties": false},
	"copy": {"type": ["string", "null"]}, "tone": {"type": "string"}, "big": {}},
	"required": ["values"], "additionalProperties": false, "_approval": true}}`

// waitingSettlement is an instance ⑬ in which one Call of settle waits for a person.
func waitingSettlement(t *testing.T) *dataflow.Instance {
	t.Helper()
	context := modeltest.MessagesFrom(t,
		`[{"type": "input", "letter": "Dear …", "big": {"†blob": {"digest": "00", "size": 70000, "type": "object"}}}, {"type": "state", "_instance": "⑬", "order": "R-1", "cents": 60000}]`)
	i := dataflow.New(*modeltest.PaletteFrom(t, settleTool), context, "⑬")
	i.SetTime(modeltest.StartTime)
	i.AcceptCall(1, 1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(
		`{"_tool": "settle", "_instance": "⑬", "values": {"order": "†state.order", "cents": "†state.cents", "note": "n"}, "copy": "c", "tone": "kind",
			"big": "†input.big"}`)))
	i.CloseRequest(1)
	i.Advance()
	if len(i.PendingApprovals()) != 1 {
		t.Fatalf("%+v", i.CallRecords()[0])
	}
	return i
}

func decide(i *dataflow.Instance, kind, payload string) error {
	d, err := approval.ReadDecision(kind, modeltest.MustDecodeJSON(payload).(map[string]any))
	if err == nil {
		err = i.ApplyDecision(d)
	}
	return err
}

func TestAnAmendmentGivesOnlyWhatChanges(t *testing.T) {
	t.Parallel()
	for changes, want := range map[string]string{
		`{"values": {"cents": 25000}}`:                   `{"copy":"c","template":"Dear …","tone":"kind","values":{"cents":25000,"note":"n","order":"R-1"}}`,
		`{"values": {"order": "R-2", "note": null}}`:     `{"copy":"c","template":"Dear …","tone":"kind","values":{"cents":60000,"order":"R-2"}}`,
		`{"copy": null, "tone": null}`:                   `{"copy":null,"template":"Dear …","values":{"cents":60000,"note":"n","order":"R-1"}}`,
		`{"template": "Dear …", "tone": "†state.order"}`: `{"copy":"c","template":"Dear …","tone":"†state.order","values":{"cents":60000,"note":"n","order":"R-1"}}`,
		`{}`: `{"copy":"c","template":"Dear …","tone":"kind","values":{"cents":60000,"note":"n","order":"R-1"}}`,
	} {
		i := waitingSettlement(t)
		if err := decide(i, policy.Amend, `{"call": "1.1@⑬", "params": `+changes+`}`); err != nil {
			t.Fatalf("%s: %v", changes, err)
		}
		shown := jsonval.WithoutKey(i.PendingApprovals()[0].Params, "big")
		decided := jsonval.WithoutKey(i.CallRecords()[0].Decisions[0].AmendedParams, "big")
		if string(jsonval.Encode(shown)) != want || !jsonval.Equal(shown, decided) {
			t.Errorf("%s makes it %s, and says %s", changes, jsonval.Encode(shown), jsonval.Encode(decided))
		}
	}
}

func TestAnAmendmentLeavesAloneWhatIsWiredUnknownOrElsewhere(t *testing.T) {
	t.Parallel()
	for changes, why := range map[string]string{
		`{"template": "You there"}`:   `params: parameter "template" is wired by the tool's designer and cannot be changed`,
		`{"template": null}`:          `params: parameter "template" is wired by the tool's designer and cannot be changed`,
		`{"vlaues": {"cents": 1}}`:    `params: tool "settle" has no parameter "vlaues"; did you mean values?`,
		`{"_outputPath": "†state.x"}`: `params: "_outputPath" is a meta property; amend changes only parameters`,
		`{"big": {"x": 1}}`:           `params: "big" is larger than 64 KB: it cannot be changed in parts`,
	} {
		i := waitingSettlement(t)
		if got := modeltest.ErrorText(decide(i, policy.Amend, `{"call": "1.1@⑬", "params": `+changes+`}`)); got != why {
			t.Errorf("%s: %q, want %q", changes, got, why)
		}
	}
	i := waitingSettlement(t)
	if decide(i, policy.Amend, `{"call": "1.1@⑬", "params": {"values": {"cents": null}}}`) == nil ||
		len(i.CallRecords()[0].Decisions) != 0 {
		t.Error("a required part was taken away")
	}
}

func TestEveryDecisionHasABranchAndNothingElseIsTaken(t *testing.T) {
	t.Parallel()
	for _, kind := range policy.DecisionKinds() {
		i := waitingSettlement(t)
		d := approval.Decision{Kind: kind, CallID: "1.1@⑬", Reason: "r", AnswerResult: "o",
			Replacement: map[string]any{"_tool": "settle",
				"values": map[string]any{"order": "R", "cents": json.Number("1")}}}
		if err := i.ApplyDecision(d); err != nil || len(i.CallRecords()[0].Decisions) != 1 ||
			i.CallRecords()[0].Decisions[0].Describe() == " by a person: r" {
			t.Errorf("%s: %v, %+v", kind, err, i.CallRecords()[0].Decisions)
		}
	}
	i := waitingSettlement(t)
	// as if a Tool allowed what has no branch
	i.CallRecords()[0].PendingApproval.AllowedDecisions = []string{"escalate"}
	if err := i.ApplyDecision(approval.Decision{Kind: "escalate", CallID: "1.1@⑬"}); err == nil ||
		len(i.CallRecords()[0].Decisions) != 0 {
		t.Errorf("%v, %+v", err, i.CallRecords()[0].Decisions)
	}
}

func TestACallIsNamedAsItIsTypedToo(t *testing.T) {
	t.Parallel()
	i := waitingSettlement(t)
	if err := decide(i, policy.Replace,
		`{"call": "1.1@13", "with": {"_tool": "settle", "_instance": "13", "values": {"order": "R-3", "cents": 1}}}`); err != nil {
		t.Fatal(err)
	}
	i.Advance()
	if err := decide(i, policy.Approve, `{"call": "1.1@13", "by": "eve"}`); err != nil {
		t.Fatal(err)
	}
	if d := i.CallRecords()[0].Decisions; len(d) != 2 || d[1].CallID != "1.1@⑬" {
		t.Errorf("%+v", d)
	}
	for payload, why := range map[string]string{
		`{"call": "1.1@13"}`: "1.1@⑬ was decided on already (approved by eve) and waits for nobody: it is ",
		`{"call": "1.1@12"}`: `there is no Call "1.1@12"; did you mean 1.1@⑬? Nothing waits for a person here`,
		`{"call": "1.1"}`:    `there is no Call "1.1". Nothing waits for a person here`,
	} {
		if got := modeltest.ErrorText(decide(i, policy.Approve, payload)); len(got) < len(why) ||
			got[:len(why)] != why {
			t.Errorf("%s: %q, want %q", payload, got, why)
		}
	}
}
