package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// allOf is all that a Loop knows, to see that nothing has changed.
func allOf(m *loop.Loop) string {
	return fmt.Sprintf("%s %v %d %s %s", jsonval.Encode(m.Idea.Source), m.AllCorrectionsAcked(),
		len(m.Idea.Context), jsonval.Encode(jsonval.ToJSONValue(m.CarryIntoNextRun())),
		jsonval.Encode(jsonval.ToJSONValue(m.AllInstancesInput())))
}

const typed = `"context": [{"type": "input", "lang": "en"}, {"type": "state", "schema": {"properties": {"n": {"type": "integer"}, "deep": {"type": "object",
	"additionalProperties": false}}}, "state": {}}, {"type": "state", "_instance": "①", "state": {"text": "plain"}}, {"type": "state", "_instance": "②", "state": {}},
	{"type": "state", "_instance": "③", "state": {}}]`

func TestARefusedCorrectionChangesNothingAtAll(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", typed)
	s.ReplyWith(
		`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	const good = `{"type":"input","lang":"de"},{"type":"state","_instance":"①","n":5},`
	for message, why := range map[string]string{
		`{"type":"state","_instance":"④","n":1}`:              `$.context[2]: there is no instance ④; add makes new ones`,
		`{"type":"state","_instance":"③","n":1}`:              `$.context[2]: instance ③ has settled; with "reopen": true in the message it is worked on again`,
		`{"type":"state","n":"many"}`:                         `$.context[2]: †state.n does not fit the State schema: expected integer, but got string`,
		`{"type":"state","_instance":"②","n":"many"}`:         `$.context[2]: †state.n does not fit the State schema: expected integer, but got string`,
		`{"type":"state","_instance":"①","text":{"below":1}}`: `$.context[2]: †state.text.below: something other than an object stands above it`,
		`{"type":"state","state":5}`:                          `$.context[2].state: State is an object, not number`,
		`{"type":"memo"}`:                                     `$.context[2].type: unknown type "memo"; there are text, input, state, data, plan, instruction and error`,
		`"text"`:                                              `$.context[2]: a message is an object, not string`,
		`{"type":"state","schema":{"type":"no"}}`:             ``,
	} {
		before := allOf(s.Loop)
		r := approval.SteeringPayload{Limits: ideafile.Limits{Requests: 7},
			Context: modeltest.DecodeJSON(t, "["+good+message+"]").([]any)}
		_, err := s.Loop.ApplyRevision(r)
		if got := modeltest.ErrorText(err); err == nil || why != "" && got != why {
			t.Errorf("%s: got %q, want %q", message, got, why)
		}
		s.WantEqual("after "+message, allOf(s.Loop), before)
	}
}

func TestACorrectionMayBringTheSchemaThatItFits(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", typed)
	s.Revise(`{"context":[{"type":"state","n":"many","schema":{"properties":{"n":{"type":"string"}}}}]}`)
}

func TestACorrectionIsForTheInstancesThatItNamesAndThatAreStillAtWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ context, touched string }{
		{`{"type":"state","n":5}`, "① ②"},
		{`{"type":"input","lang":"de"}`, "① ②"},
		{`{"type":"data","kind":"rates","eur":1}`, "① ②"},
		{`{"type":"state","_instance":"②","n":5}`, "②"},
		{`{"type":"state","_instance":"②","n":5},{"type":"state","_instance":"①","n":5}`, "① ②"},
		{`{"type":"text","text":"be kind"}`, ""},
		{`{"type":"instruction","instruction":"be kind"}`, ""},
	} {
		s := newScenarioWithPeople(t, "", typed)
		s.ReplyWith(
			`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
		touched := ""
		for _, mem := range s.Revise(`{"context":[` + c.context + `]}`) {
			touched += " " + mem.Token
		}
		if touched != "" {
			touched = touched[1:]
		}
		s.WantEqual(c.context, touched, c.touched)
		if s.Loop.AllCorrectionsAcked() != (c.touched == "") {
			t.Errorf("%s: corrected is %v", c.context, s.Loop.AllCorrectionsAcked())
		}
	}
}

func TestACorrectionIsInTheIdeaAndInTheNextRequest(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"context": [{"type": "state", "state": {"a": 1}}]`)
	s.Revise(`{"context":[{"type":"text","text":"be kind"},{"type":"state","a":2}],"limits":{"requests":9}}`)
	s.WantEqual("the Idea", string(jsonval.Encode(s.Loop.Idea.Source["context"])),
		`[{"state":{"a":1},"type":"state"},{"text":"be kind","type":"text"},{"a":2,"type":"state"}]`)
	s.WantEqual("as it began", string(jsonval.Encode(s.Idea.Source["context"])), `[{"state":{"a":1},"type":"state"}]`)
	s.ApplyCorrections("", "ann")
	s.WantEqual("the State", string(jsonval.Encode(s.ExpectRequest().Instances[0].State)), `{"a":2}`)
}

func TestNobodyIsAskedAboutBeforeItHasTakenInWhatWasCorrected(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.Revise(`{"context":[{"type":"state","_instance":"①","a":5}]}`)
	s.Revise(`{"context":[{"type":"state","_instance":"①","a":6}]}`)
	expectWait(s, ideafile.DefaultGatherDelay) // ② waits as for a running Call
	s.ApplyCorrections("①", "ann")
	s.WantEqual("the State", string(jsonval.Encode(s.ExpectRequestFor("① ②").Instances[0].State)),
		`{"a":6,"b":"work done"}`)
	if !s.Loop.AllCorrectionsAcked() {
		t.Error("everybody has taken it in")
	}
}

func TestAnInstanceThatWasCorrectedDuringARequestDoesNotSettleByIt(t *testing.T) {
	t.Parallel()
	for _, message := range []string{`{"type":"state","_instance":"①","a":5}`,
		`{"type":"text","_instance":"①","text":"look again"}`} {
		s := newScenarioWithPeople(t, modeltest.SummarySchema, modeltest.TwoInstancesContext)
		s.ExpectRequest()
		s.Revise(`{"context":[` + message + `]}`)
		if !s.Loop.AllCorrectionsAcked() {
			s.ApplyCorrections("①", "ann")
		}
		s.ReplyWith(`{"calls":[],"output":{"summary":"too early"}}`)
		s.WantEqual(message, s.DescribeInstances(), "① working, ② settled")
		s.ExpectRequestFor("①")
		s.ReplyWith(`{"calls":[],"output":{"summary":"of one"}}`)
		s.WantEqual("asked again", s.DescribeInstances(), "① settled, ② settled")
		s.WantEqual("the output", outputJSON(s), "null")
		s.ReplyWith(`{"calls":[],"output":{"summary":"of both"}}`)
		s.WantEqual("the output", outputJSON(s), `{"summary":"of both"}`)
	}
}

func TestACorrectionThatArrivesAfterASettlingSolutionIsRefused(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	_, err := s.Loop.ApplyRevision(
		approval.SteeringPayload{Context: modeltest.DecodeJSON(t, `[{"type":"state","_instance":"②","a":5}]`).([]any)})
	s.WantEqual("it", modeltest.ErrorText(err),
		`$.context[0]: instance ② has settled; with "reopen": true in the message it is worked on again`)
}

func TestLimitsAloneAreACorrectionOfNobody(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"config": {"limits": {"requests": 1}}`)
	s.ReplyWith(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.ExpectStep(loop.StepPaused)
	if touched := s.Revise(`{"limits":{"requests":2}}`); len(touched) > 0 || !s.Loop.AllCorrectionsAcked() {
		t.Errorf("it touches %v", touched)
	}
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectRequest()
}

func TestAddRefusesWhatIsNoNewInstance(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	for message, why := range map[string]string{
		`{"type":"input","lang":"de"}`:            `$.context[1]: it names no new instance`,
		`{"type":"state","_instance":"②","a":1}`:  `$.context[1]: there is an instance ② already`,
		`{"type":"state","_instance":"2","a":1}`:  `$.context[1]: "2" and "②" are both typed 2, in ids and at the keyboard: one of them needs another name`,
		`{"type":"state","_instance":"3","a":1}`:  `$.context[1]: "3" and "③" are both typed 3, in ids and at the keyboard: one of them needs another name`,
		`{"type":"state","_instance":"*","a":1}`:  `$.context[1]._instance: "*" means every instance and cannot name one`,
		`{"type":"state","_instance":"~x","a":1}`: `$.context[1]._instance: an instance's token may not begin with ~`,
		`{"type":"state","_instance":5,"a":1}`:    `$.context[1]._instance: want a string, not number`,
	} {
		before := allOf(s.Loop)
		_, err := s.Loop.AddInstances(
			approval.SteeringPayload{Context: modeltest.DecodeJSON(t, `[{"type":"state","_instance":"③","a":3},`+
				message+`]`).([]any)})
		s.WantEqual(message, modeltest.ErrorText(err), why)
		s.WantEqual("after "+message, allOf(s.Loop), before)
	}
	one := newScenarioWithPeople(t, "")
	_, err := one.Loop.AddInstances(
		approval.SteeringPayload{Context: modeltest.DecodeJSON(t, `[{"type":"state","_instance":"③","a":3}]`).([]any)})
	s.WantEqual("an anonymous process", modeltest.ErrorText(err),
		"the process has one instance without a name, and takes no others")
}

func TestAddedInstancesSeeWhatAllSeeAndWantAnOutputAnew(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, modeltest.SummarySchema, typed)
	s.ExpectRequest()
	s.Revise(`{"context":[{"type":"state","n":7}]}`)
	s.AddInstances(
		`[{"type":"state","_instance":"⑤","state":{"a":5}},{"type":"input","_instance":"④","x":1},{"type":"text","_instance":"⑤","text":"t"}]`)
	s.WantEqual("they are", fmt.Sprint(s.Loop.InstanceTokens()), "[① ② ③ ⑤ ④]")
	s.WantEqual("the State", modeltest.StateJSON(s.Loop, "⑤"), `{"a":5,"n":7}`)
}

func TestAPausedProcessStartsNothingAndGoesOnWhenResumed(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances)
	s.ReplyWith(every("pay", "work", "slow"))
	s.Loop.Pause("", "lunch")
	s.WantEqual("why", s.Loop.PauseReason.Error(), "paused: paused by a person: lunch")
	s.AdvanceClock(time.Hour)
	s.ExpectStep(loop.StepPaused)
	s.Decide(policy.Approve, "1.1@①")
	completeSlow(s, "1.3@③")
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectRequestFor("① ② ③")
}

func TestThePersonWhoPausesIsNamed(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	s.Loop.Pause("ann", "")
	s.WantEqual("why", s.Loop.PauseReason.Error(), "paused: paused by ann")
}

func TestARequestThatIsUnderWayWhenItIsPausedStillCounts(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ExpectRequest()
	s.Loop.Pause("ann", "")
	s.ReplyWith(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	s.WantEqual("they are", s.DescribeInstances(), "① working, ② settled")
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectRequestFor("①")
}

func TestAProcessThatIsPausedAtItsEndIsOverOnlyWhenResumed(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	s.ExpectRequest()
	s.Loop.Pause("ann", "")
	s.ReplyWith(modeltest.EmptyReply)
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectStep(loop.StepFinished)
}

func TestALimitOfRequestsPausesBeforeTheRequestThatWouldBreakIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limits, why string
		more        ideafile.Limits
	}{
		{`{"requests": 1}`, "limit_reached: 1 Requests were made, the limit", ideafile.Limits{Requests: 2}},
		{`{"tokens": 110}`, "limit_reached: 110 tokens were used; the limit is 110", ideafile.Limits{Tokens: 111}},
		{`{"calls": 3}`, "limit_reached: 3 Calls were made; the limit is 3", ideafile.Limits{Calls: 4}},
	} {
		s := newScenarioWithPeople(t, "", threeInstances, `"config": {"limits": `+c.limits+`}`)
		s.ReplyWith(every("work", "fail", "work"))
		s.ExpectStep(loop.StepPaused)
		s.WantEqual(c.limits, s.Loop.PauseReason.Error(), c.why)
		s.Loop.Resume(ideafile.Limits{})
		s.ExpectStep(loop.StepPaused)
		s.Loop.Resume(c.more)
		s.ExpectRequestFor("① ② ③")
	}
}

func TestALimitDoesNotPauseWhileThereIsNothingToAsk(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"config": {"limits": {"requests": 1}}`)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_outputPath":"b"}],"output":null}`)
	expectWait(s, 0)
	s.Decide(policy.Approve, "1.1")
	s.ExpectStep(loop.StepPaused)
}

func TestAProcessThatHasRunForTooLongIsPausedOnTime(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances, `"config": {"limits": {"duration": "1m"}}`)
	s.ReplyWith(every("pay", "pay", "pay"))
	expectWait(s, time.Minute)
	s.AdvanceClock(55 * time.Second)
	s.Decide(policy.Approve, "1.1@①")
	expectWait(s, 5*time.Second) // sooner than the gathering time
	s.AdvanceClock(5*time.Second - 1)
	expectWait(s, 1)
	s.AdvanceClock(1)
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("why", s.Loop.PauseReason.Error(), "limit_reached: the process has run for 1m0s, the limit")
	s.Loop.Resume(ideafile.Limits{})
	s.ExpectStep(loop.StepPaused)
	s.Loop.Resume(ideafile.Limits{Duration: time.Hour})
	expectWait(s, 5*time.Second)
	s.AdvanceClock(5 * time.Second)
	s.ExpectRequestFor("①")
}

func TestTheGatheringTimeIsWokenForWhereItEndsBeforeTheLimit(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", threeInstances, `"config": {"limits": {"duration": "1m"}}`)
	s.ReplyWith(every("work", "slow", "work"))
	expectWait(s, ideafile.DefaultGatherDelay)
	s.AdvanceClock(ideafile.DefaultGatherDelay)
	s.ExpectRequestFor("① ③")
}

func TestNobodyDecidedInTimeAndTheProcessIsPaused(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"due","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.AdvanceClock(time.Hour)
	for _, token := range []string{"①", "②"} {
		s.InstanceByToken[token].SetTime(s.Now)
		s.InstanceByToken[token].ApplyDeadlines()
		s.AdvanceInstance(token)
	}
	s.ExpectStep(loop.StepPaused)
	s.WantEqual("the first is told", s.Loop.PauseReason.Error(),
		"approval_overdue: nobody decided on 1.1@① within 1h0m0s")
	s.Loop.Resume(ideafile.Limits{})
	expectWait(s, 0)
	s.WantEqual("they wait on", s.DescribeInstances(), "① waiting, ② waiting")
	s.Decide(policy.Approve, "1.1@①")
	s.Decide(policy.Approve, "1.1@②")
	s.ExpectRequestFor("① ②")
}

func TestACorrectionMayNameAnInstanceAsItIsTyped(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", typed)
	touched, err := s.Loop.ApplyRevision(
		approval.SteeringPayload{Context: modeltest.DecodeJSON(t, `[{"type":"state","_instance":"2","n":5}]`).([]any)})
	if err != nil || len(touched) != 1 || touched[0].Token != "②" {
		t.Fatalf("%v, %v", touched, err)
	}
	context := s.Loop.Idea.Source["context"].([]any)
	s.WantEqual("in the Idea", string(jsonval.Encode(context[len(context)-1])),
		`{"_instance":"②","n":5,"type":"state"}`)
}

func TestWhoDecidesOnACallOfTheProcessHearsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", modeltest.TwoInstancesContext)
	s.ReplyWith(`{"calls":[{"_tool":"pay","_instance":"*","n":1,"_outputPath":"z"}],"output":null}`)
	s.Decide(policy.Approve, "1.1@①")
	for call, want := range map[string]string{
		"1.1@1": "1.1@① was decided on already (approved by ann) and waits for nobody: it is done",
		"1.1@2": "1.1@② waits for nobody: its instance has ended",
		"1.9@2": `there is no Call "1.9@2"; did you mean 1.1@②? What waits for a person here: 1.1@② pay`,
		"1.1@3": `there is no Call "1.1@3"; did you mean 1.1@②? What waits for a person here: 1.1@② pay`,
	} {
		s.WantEqual(call, s.Loop.ExplainCallNotWaiting(call, nil).Error(), want)
	}
}

func TestRequestsThatBringNothingNewPauseTheProcess(t *testing.T) {
	t.Parallel()
	const failing, blocked, skipped = `{"_tool":"fail","_instance":"*"}`,
		`{"_tool":"work","_instance":"*","x":"†state.never"}`, `{"_tool":"work","_instance":"*","_outputPath":"a"}`
	follows := `{"_tool":"fail","_instance":"*","_outputPath":"f"},{"_tool":"work","_instance":"*","x":"†state.f"}`
	done := func(path string) string {
		return fmt.Sprintf(`{"_tool":"work","_instance":"*","_outputPath":%q}`, path)
	}
	for name, c := range map[string]struct {
		replies []string // the process pauses after the last, and not before
		why     string
	}{
		"the same failure": {[]string{failing, failing, failing},
			"fail: tool_failed: no luck (2 Calls: 3.1@①, 3.1@②)"},
		"with other thoughts": {
			[]string{failing, `{"_tool":"fail","_instance":"*","_reasoningForCall":"once more"}`, failing}, "no luck"},
		"for one instance after the other": {
			[]string{failing, `{"_tool":"fail","_instance":"①"},{"_tool":"fail","_instance":"②"}`, failing}, "no luck"},
		"the same blocked Call": {[]string{blocked, blocked, blocked},
			"work: blocked: †state.never is not there and no Call writes it (2 Calls"},
		"a Call that one that fails blocks again": {[]string{follows, follows, follows},
			"work: blocked: †state.f would come from 3.1@① (failed)"},
		"a Call that is skipped": {[]string{skipped, skipped, skipped},
			"They are skipped, since their output paths hold values already"},
		"two in turn": {[]string{failing, blocked, failing, blocked}, "†state.never"},
		"after another failure": {[]string{failing, failing, failing + "," + blocked, failing, failing},
			"no luck"},
		"after one that brought something": {[]string{failing, failing, failing + "," + done("c"), failing, failing,
			failing}, "no luck"},
	} {
		s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
		for _, calls := range c.replies {
			s.ReplyWith(`{"calls":[` + calls + `],"output":null}`)
		}
		s.ExpectStep(loop.StepPaused)
		f := s.Loop.PauseReason
		if f.Code != turn.CodeNoProgress || !strings.Contains(f.Message, c.why) ||
			!strings.Contains(f.Message, "revise the process") {
			t.Errorf("%s: %v", name, f)
		}
		s.Loop.Resume(ideafile.Limits{})
		for range 3 {
			s.ReplyWith(`{"calls":[` + c.replies[len(c.replies)-1] + `],"output":null}`)
		}
		s.ExpectStep(loop.StepPaused)
	}
}

func TestWhatPeopleDoIsSomethingNew(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "")
	for n := range 5 {
		s.ReplyWith(`{"calls":[{"_tool":"pay"}],"output":null}`)
		s.Decide(policy.Reject, fmt.Sprintf("%d.1", n+1), `{"reason":"no"}`)
	}
	s.ExpectRequest()
}

func TestABadReplyIsNeitherNewNorInVain(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "")
	for range 2 {
		s.ReplyWith(`{"calls":[{"_tool":"fail"}],"output":null}`)
	}
	s.InterruptRequest(turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "short")})
	s.ReplyWith(`{"calls":[{"_tool":"fail"}],"output":null}`)
	s.ExpectStep(loop.StepPaused)
}

// What a Plan that runs directly has done stays done when people put another in its place.
func TestAPlanThatIsAtWorkGivesWayToAnotherThatPeopleBring(t *testing.T) {
	t.Parallel()
	s := newScenarioWithPeople(t, "", `"context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "plan", "stage": "complete", "plan": [{"_tool": "work"}, {"_tool": "work", "x": "†state.a", "_outputPath": "b"}, {"_tool": "pay", "n": 1, "_outputPath": "c"}, {"_tool": "work", "x": "†state.c", "_outputPath": "d"}], "output": {"old": "†state.d"}}]`)
	ran := map[string]int{}
	s.RunTool = func(tool string, params map[string]any) (any, *diag.Fault) {
		ran[tool]++
		return params["x"], nil
	}
	s.RunDirectPlans()
	s.Revise(
		`{"by": "ann", "context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "work"}, {"_tool": "work", "x": "†state.b", "_outputPath": "e"}, {"_tool": "work", "x": "†state.a", "_outputPath": "b"}], "output": {"new": "†state.e"}}]}`)
	s.ApplyCorrections("①", "ann")
	s.ApplyCorrections("②", "ann")
	s.ExpectStep(loop.StepFinished)
	r := s.Loop.Result(s.Loop.FinalStatus(), true)
	s.WantEqual("its output", string(jsonval.Encode(r.Output)), `{"new":{"①":1,"②":2}}`)
	s.WantEqual("① has", string(jsonval.Encode(r.Instances["①"].State)), `{"a":1,"b":1,"e":1}`)
	if ran["work"] != 6 || ran["pay"] != 0 || r.Status != loop.StatusCompleted {
		t.Errorf("%s after %v", r.Status, ran)
	}
	s.WantEqual("the Calls", fmt.Sprintf("%+v", r.Calls), "{Done:6 Failed:0 Rejected:0 Skipped:6 Blocked:0 Undone:0}")
	idea := modeltest.SnapshotAndReparse(t, s.Loop.Idea, s.Loop.AllInstancesInput(), nil, nil)
	var record []string
	for _, m := range idea.Context {
		for _, c := range turn.ReadDirectPlanRecord(m, idea.InstanceTokens()) {
			record = append(record, c.CallKey().ID("")+" "+string(c.StatusByInstance["②"]))
		}
	}
	s.WantEqual("the record", strings.Join(record, ", "),
		"0.1 done, 0.2 done, 0.3 skipped, 0.4 skipped, 0.5 done, 0.6 done, 0.7 skipped")
}

// What an instance lacked when it said so may be mended by the time that it is heard.
func TestAPauseThatWasAskedForBeforeTheLatestOneEndedIsOvertaken(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenario(t, "", modeltest.TwoInstancesContext)
	s.ExpectRequest()
	lacks := func(code string, heard int) turn.InstanceReport {
		r := s.TakeReport("①", 1)
		r.PauseFault, r.AckedResumeCount = diag.Faultf(code, "a secret is missing"), heard
		return r
	}
	s.Loop.Instances[0].ResumeCount = 1
	s.DeliverReport(lacks(ideafile.CodeToolAccessDenied, 0))
	if f := s.Loop.PauseReason; f != nil {
		t.Errorf("it is paused: %v", f)
	}
	s.DeliverReport(lacks(ideafile.CodeToolAccessDenied, 1))
	if s.Loop.PauseReason == nil {
		t.Error("it lacks that still, and is not paused")
	}
	s.Loop.Resume(ideafile.Limits{})
	s.DeliverReport(lacks("approval_overdue", 0)) // no Call is tried again for that
	if s.Loop.PauseReason == nil {
		t.Error("nobody decided in time, and it is not paused")
	}
}
