package dataflow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// vault is an instance that was started by sam, with Calls of pay (1.1, under the policy) and prepare (1.2, which
// anybody may approve).
func vault(t *testing.T, by, override string) *dataflow.Instance {
	t.Helper()
	palette := modeltest.PaletteFrom(t, `{
		"pay": {"_activity": "do", "type": "object", "properties": {"cents": {"type": "integer"}}, "_approval": {"when": {"properties": {"cents": {"minimum": 500}}}, "by": `+by+`}},
		"prepare": {"_activity": "do", "type": "object", "properties": {}, "_approval": true},
		"apologise": {"_activity": "do", "type": "object", "properties": {}}}`)
	if override != "" {
		idea, ps := ideafile.ParseIdea(
			[]byte(
				`{"schema": {"tools": {"pay": {}, "prepare": {}}}, "context": [{"type": "text", "text": "t"}], "config": {"approval": ` + override + `}}`))
		if len(ps.Errors()) > 0 {
			t.Fatal(ps)
		}
		palette.ApprovalOversight = idea.Config.ApprovalOversight
	}
	i := dataflow.New(*palette, nil, "")
	i.SetStartersAndPriorDecisions(policy.IdentitiesNamed("sam"), nil)
	i.SetTime(modeltest.StartTime)
	for n, call := range []string{`{"_tool": "pay", "cents": 600}`, `{"_tool": "prepare"}`} {
		i.AcceptCall(1, n+1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(call)))
	}
	i.CloseRequest(1)
	i.Advance()
	return i
}

func TestWhoIsAskedIsToldThePolicysNoteWhichIsNoPartOfWhatRuns(t *testing.T) {
	t.Parallel()
	plain := vault(t, `{"people": ["ann"]}`, "").PendingApprovals()[0]
	noted := carried(t, vault(t, `{"people": ["ann"]}, "note": "look at the receipt"`,
		`{"all": true}`)).PendingApprovals()[0]
	if told := noted.Explanation(); !slices.Equal(told, []string{"look at the receipt"}) || plain.Explanation() != nil ||
		noted.Digest != plain.Digest {
		t.Errorf("told %q, of %s and %s", told, noted.Digest, plain.Digest)
	}
}

// carried is the instance after it has continued as new.
func carried(t *testing.T, i *dataflow.Instance) *dataflow.Instance {
	t.Helper()
	data, err := json.Marshal(i.CarryIntoNextRun())
	if err != nil {
		t.Fatal(err)
	}
	var c dataflow.CarriedInstance
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	palette, context, token := i.StartParameters()
	next := dataflow.Restore(palette, context, token, c)
	next.SetStartersAndPriorDecisions(policy.IdentitiesNamed("sam"), nil)
	return next
}

// approve has somebody approve a Call. Where rules exclude them, people were told so before, in the same words.
func approve(i *dataflow.Instance, call, by string, groups ...string) error {
	payload, told := map[string]any{"call": call, "by": by}, ""
	if groups != nil {
		payload["groups"] = jsonval.ToJSONValue(groups)
	}
	for _, p := range i.StatusDetails().PendingApprovals {
		if p.CallID == call {
			told = p.Exclusions.DenialReason(policy.Person{Name: by, Groups: groups}, call, p.Deciders)
		}
	}
	err := decide(i, policy.Approve, string(jsonval.Encode(payload)))
	got := modeltest.ErrorText(err)
	for _, why := range []string{"started the process", "had a hand in it", "not known who", "may not decide on"} {
		if err != nil && strings.Contains(got, why) && got != told ||
			err == nil && strings.Contains(told, "and may not") {
			return fmt.Errorf("%s was told %q and then %q", by, told, got)
		}
	}
	return err
}

const twoOfFinance = `{"groups": ["finance"], "people": ["eve"], "count": 2, "notStarter": true}`

func TestWhoDoesNotFitIsRefusedAndTheCallWaitsOn(t *testing.T) {
	t.Parallel()
	for payload, why := range map[string]string{
		`{"call": "1.1"}`:                                            `"by" is missing: only some people may decide`,
		`{"call": "1.1", "by": "bob"}`:                               "bob may not decide on it, only eve and people of finance may; the decision names no group",
		`{"call": "1.1", "by": "bob", "groups": ["sales"]}`:          "bob may not decide on it, only eve and people of finance may",
		`{"call": "1.1", "by": " SAM ", "groups": ["finance"]}`:      "started the process, and may not decide on it",
		`{"call": "1.1", "by": "timeout", "groups": ["finance"]}`:    `"timeout" is a reserved name`,
		`{"call": "1.1", "by": "Process", "groups": ["finance"]}`:    `"Process" is a reserved name`,
		`{"call": "1.1", "by": "bob", "groups": "finance"}`:          `"groups" is a list of at most 100 names`,
		`{"call": "1.1", "by": "bob", "groups": ["your group"]}`:     `"groups" is still the placeholder "your group"`,
		`{"call": "1.1", "by": "bob", "groups": ["finance", "\t"]}`:  "",
		`{"call": "1.1", "by": "EVE"}`:                               "",
		`{"call": "1.1", "by": "bob", "groups": ["x", " Finance "]}`: "",
	} {
		i := vault(t, twoOfFinance, "")
		err := decide(i, policy.Approve, payload)
		if got := modeltest.ErrorText(err); !strings.Contains(got, why) || (why == "") != (err == nil) {
			t.Errorf("%s: %q, want %q", payload, got, why)
		}
		if waits := len(i.PendingApprovals()) == 2; !waits || len(i.Advance()) != 0 {
			t.Errorf("%s: it runs", payload)
		}
	}
	i := vault(t, twoOfFinance, "")
	i.SetStartersAndPriorDecisions(nil, nil)
	if err := approve(i, "1.1", "eve"); err == nil ||
		!strings.Contains(err.Error(), "nobody knows who that was") {
		t.Errorf("who started it is unknown: %v", err)
	}
}

func TestAsManyPeopleAsThePolicyWantsApproveEachOnce(t *testing.T) {
	t.Parallel()
	i := vault(t, twoOfFinance, "")
	digest := i.PendingApprovals()[0].Digest
	if err := approve(i, "1.1", "ann", "finance"); err != nil {
		t.Fatal(err)
	}
	i = carried(t, i)
	p := i.PendingApprovals()[0]
	if len(i.Advance()) != 0 || p.Digest != digest ||
		p.DecidersInWords() != "2 of: eve and people of finance; not who started the process (so far ann of finance)" {
		t.Errorf("after the first: %+v, %q", p, p.DecidersInWords())
	}
	if err := approve(i, "1.1", "Ann", "finance"); err == nil ||
		err.Error() != "ann has decided on it already (approve); it takes 2 people" {
		t.Errorf("a second time: %v", err)
	}
	if err := approve(i, "1.1", "eve"); err != nil {
		t.Fatal(err)
	}
	if started := i.Advance(); len(started) != 1 {
		t.Errorf("after the second %+v", started)
	}
	made := i.CallRecords()[0].Decisions
	if len(made) != 2 || made[0].DecidedBy != "ann" || made[1].DecidedBy != "eve" || made[0].ApprovalDigest != digest ||
		made[1].ApprovalDigest != digest ||
		len(made[0].Deciders) != 1 || !slices.Equal(made[0].Groups, []string{"finance"}) {
		t.Errorf("on record: %+v", made)
	}
}

func TestOneRejectionRejectsEvenByWhoHasApproved(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"ann", "eve"} {
		i := vault(t, twoOfFinance, "")
		_ = approve(i, "1.1", "ann", "finance")
		if err := decide(i, policy.Reject,
			fmt.Sprintf(`{"call": "1.1", "by": %q, "groups": ["finance"], "reason": "no"}`, who)); err != nil {
			t.Fatal(err)
		}
		if rec := i.CallRecords()[0]; rec.Status != ideafile.CallRejected || len(rec.Decisions) != 2 {
			t.Errorf("%s: %+v", who, rec)
		}
	}
	i := vault(t, twoOfFinance, "")
	if decide(i, policy.Reject, `{"call": "1.1", "by": "sam", "groups": ["finance"], "reason": "no"}`) == nil {
		t.Error("who may not decide rejects")
	}
}

func TestAnAmendedOrReplacedCallStartsItsCountAnew(t *testing.T) {
	t.Parallel()
	for kind, change := range map[string]string{
		policy.Amend:   `"params": {"cents": 700}`,
		policy.Replace: `"with": {"_tool": "pay", "cents": 700}`,
	} {
		i := vault(t, twoOfFinance, "")
		_ = approve(i, "1.1", "ann", "finance")
		before := i.PendingApprovals()[0].Digest
		if err := decide(i, kind, `{"call": "1.1", "by": "bob", "groups": ["finance"], `+change+`}`); err != nil {
			t.Fatal(err)
		}
		i.Advance()
		p := i.PendingApprovals()[0]
		if p.Digest == before || len(p.VotesSoFar) != 0 || jsonval.Encode(p.Params["cents"]) == nil {
			t.Errorf("%s: %+v", kind, p)
		}
		if approve(i, "1.1", "bob", "finance") == nil {
			t.Errorf("%s: who made the new content approves it", kind)
		}
		_ = approve(i, "1.1", "cid", "finance")
		if len(i.Advance()) != 0 {
			t.Errorf("%s: one approval of the new content is enough", kind)
		}
		_ = approve(i, "1.1", "ann", "finance")
		if started := i.Advance(); len(started) != 1 || string(jsonval.Encode(started[0].Params)) != `{"cents":700}` {
			t.Errorf("%s: %+v", kind, started)
		}
	}
}

func TestAsManyPeopleGiveTheSameResultOrNoneCounts(t *testing.T) {
	t.Parallel()
	i := vault(t, twoOfFinance, "")
	answer := func(by, output string) error {
		return decide(i, policy.Answer,
			fmt.Sprintf(`{"call": "1.1", "by": %q, "groups": ["finance"], "output": %s}`, by, output))
	}
	for _, step := range []func() error{
		func() error { return answer("ann", `{"paid": 1}`) },
		func() error { return answer("bob", `{"paid": 2}`) },
		func() error { return approve(i, "1.1", "eve") },
	} {
		if err := step(); err != nil || i.CallRecords()[0].Status != ideafile.CallAwaitingApproval {
			t.Fatalf("%v, %s", err, i.CallRecords()[0].Status)
		}
	}
	if answer("ann", `{"paid": 2}`) == nil {
		t.Error("one person gives two answers")
	}
	if err := answer("cid", `{"paid": 2}`); err != nil || i.CallRecords()[0].Status != ideafile.CallDone {
		t.Errorf("%v, %s", err, i.CallRecords()[0].Status)
	}
}

func TestWhoDecidedOnOneCallMayNotDecideOnTheOtherWhicheverComesFirst(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"1.2", "prepare"} {
		by := `{"notSameAs": ["` + name + `"]}`
		i := vault(t, by, "")
		if err := approve(i, "1.2", "ann"); err != nil {
			t.Fatal(err)
		}
		i.Advance()
		i = carried(t, i)
		if err := approve(i, "1.1", "ann"); err == nil ||
			err.Error() != "ann decided on 1.2, and may not decide on 1.1 too" {
			t.Errorf("%s: %v", name, err)
		}
		if err := approve(i, "1.1", "bob"); err != nil {
			t.Error(err)
		}
		i = vault(t, by, "")
		_ = approve(i, "1.1", "ann")
		i.Advance()
		if err := approve(carried(t, i), "1.2", "ANN"); err == nil ||
			err.Error() != "ANN decided on 1.1, and may not decide on 1.2 too" {
			t.Errorf("%s: %v", name, err)
		}
		i = vault(t, by, "")
		i.SetStartersAndPriorDecisions(nil, []policy.PriorDecision{{CallID: "1.2", Tool: "prepare", DecidedBy: "ann"}})
		if approve(i, "1.1", "ann") == nil {
			t.Errorf("%s: who decided in the process before decides", name)
		}
		i = vault(t, by, "")
		i.SetStartersAndPriorDecisions(nil, []policy.PriorDecision{{CallID: "1.2@②", Tool: "prepare", DecidedBy: "ann"},
			{CallID: "1.2", Tool: "prepare", DecidedBy: "bob"}})
		if err := approve(i, "1.1", "ann"); err != nil {
			t.Errorf("%s: a decision in another instance counts: %v", name, err)
		}
	}
	if err := approve(vault(t, `{"notSameAs": ["1.7"]}`, ""), "1.1", "ann"); err == nil ||
		!strings.Contains(err.Error(), "there is no such Call") {
		t.Errorf("an unknown Call: %v", err)
	}
}

func TestWhoRevisedTheInstanceOrChangedTheCallDoesNotDecideOnIt(t *testing.T) {
	t.Parallel()
	const who = `{"people": ["ann", "bob"], "notStarter": true}`
	i := vault(t, who, "")
	i.SetCausers(policy.IdentitiesNamed("ann"))
	if err := approve(i, "1.1", "Ann"); err == nil || !strings.Contains(err.Error(), "had a hand in it") {
		t.Errorf("who revised the instance: %v", err)
	}
	if err := approve(i, "1.1", "bob"); err != nil {
		t.Error(err)
	}
	for kind, payload := range map[string]string{
		policy.Replace: `{"call": "1.1", "by": "ann", "with": {"_tool": "pay", "cents": 9000}}`,
		policy.Amend:   `{"call": "1.1", "by": "ann", "params": {"cents": 9000}}`,
	} {
		i := vault(t, who, "")
		if err := decide(i, kind, payload); err != nil {
			t.Fatal(err)
		}
		i.Advance()
		i = carried(t, i)
		if err := approve(i, "1.1", "ann"); err == nil || !strings.Contains(err.Error(), "had a hand in it") {
			t.Errorf("%s: they approve what they made: %v", kind, err)
		}
		if got := i.CausersOf(i.FindCall("1.1")); !slices.Equal(got, policy.IdentitiesNamed("ann")) {
			t.Errorf("%s: a delegate would be told of %v", kind, got)
		}
		if err := approve(i, "1.1", "bob"); err != nil || len(i.Advance()) != 1 {
			t.Errorf("%s: %v", kind, err)
		}
		if err := approve(i, "1.2", "ann"); err != nil {
			t.Errorf("%s: another Call: %v", kind, err)
		}
	}
}

func TestAProcessLimitsWhoMayDecideAndLoosensNothing(t *testing.T) {
	t.Parallel()
	for override, refused := range map[string][]string{
		`{"by": {"people": ["ann", "bob", "sam"]}}`:                     {"eve", "sam"},
		`{"tools": ["pay"], "by": {"people": ["ann"]}}`:                 {"eve", "bob"},
		`{"tools": ["prepare"], "by": {"people": ["eve"]}}`:             {"sam"},
		`{"all": true, "by": {"count": 1, "groups": ["heads"]}}`:        {"ann", "eve"},
		`{"by": {"people": ["ann"], "count": 1, "notStarter": false}}`:  {"sam", "bob"},
		`{"by": {"groups": ["finance"], "notSameAs": ["prepare"]}}`:     {"sam"},
		`{"tools": ["pay", "prepare"], "by": {"groups": ["finances"]}}`: {"ann", "eve"},
	} {
		i := vault(t, twoOfFinance, override)
		for _, who := range refused {
			if approve(i, "1.1", who, "finance") == nil {
				t.Errorf("%s: %s decides", override, who)
			}
		}
		if n := i.PendingApprovals()[0].Deciders.RequiredApprovals(); n != 2 {
			t.Errorf("%s: %d people are enough", override, n)
		}
	}
	i := vault(t, twoOfFinance, `{"by": {"people": ["ann", "bob"]}}`)
	if approve(i, "1.2", "cid") == nil || approve(i, "1.2", "ann") != nil {
		t.Error("a limit without Tools is not for all of them")
	}
}

func TestWhoDecidesHoldsForWhateverReasonAPersonIsAsked(t *testing.T) {
	t.Parallel()
	i := vault(t, `{"people": ["ann"]}`, "")
	_ = approve(i, "1.1", "ann")
	i.Advance()
	i.RequireUnknownOutcomeReview("1.1", "nobody knows whether it was paid")
	if approve(i, "1.1", "bob") == nil || len(i.PendingApprovals()) != 2 {
		t.Error("anybody has it run again")
	}
	if err := approve(i, "1.1", "ann"); err != nil {
		t.Error(err)
	}
}

func TestNothingThatCertainPeopleMustApproveIsApprovedByItself(t *testing.T) {
	t.Parallel()
	palette := modeltest.PaletteFrom(t,
		`{"pay": {"_activity": "do", "type": "object", "properties": {}, "_approval": {"timeout": "1h", "onTimeout": "approve"}}}`)
	palette.ApprovalOversight.Deciders = &policy.DeciderRule{RequiredApprovalCount: 2}
	i := dataflow.New(*palette, nil, "")
	i.SetTime(modeltest.StartTime)
	i.AcceptCall(1, 1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(`{"_tool": "pay"}`)))
	i.CloseRequest(1)
	i.Advance()
	deadline, _ := i.NextReviewDueTime()
	i.SetTime(deadline)
	i.ApplyDeadlines()
	if rec := i.CallRecords()[0]; rec.Status != ideafile.CallRejected ||
		rec.Decisions[0].DecidedBy != approval.DecidedByTimeout {
		t.Errorf("%+v", rec)
	}
}

func TestAPlanInThePlaceOfAnotherIsDecidedOnByTheSameRules(t *testing.T) {
	t.Parallel()
	const plan = `"plan": [{"_tool": "prepare", "n": %d}, {"_tool": "pay", "n": %d}], "stage": "complete"`
	tools := `{"prepare": {"_activity": "do", "type": "object", "properties": {"n": {}}, "_approval": true},
		"pay": {"_activity": "do", "type": "object", "properties": {"n": {}}, "_approval": {"by": {"notSameAs": ["0.1"]}}}}`
	i := dataflow.New(*modeltest.PaletteFrom(t, tools),
		modeltest.MessagesFrom(t, fmt.Sprintf(`[{"type": "plan", `+plan+`}]`, 1, 1)), "")
	i.SetTime(modeltest.StartTime)
	i.StartDirectPlan()
	i.Advance()
	i.ApplyRevision(modeltest.MessagesFrom(t, fmt.Sprintf(`[{"type": "plan", "after": 2, `+plan+`}]`, 2, 2)), "sam", "")
	i.Advance()
	if err := approve(i, "0.3", "ann"); err != nil {
		t.Fatal(err)
	}
	if err := approve(i, "0.4", "ann"); err == nil ||
		err.Error() != "ann decided on 0.3, and may not decide on 0.4 too" {
		t.Errorf("%v", err)
	}
}

func TestMistakesInWhoMayDecideAreNamed(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]string{
		`{"count": 0}`:                           `.count: how many people must approve: want a whole number from 1 to 100`,
		`{"count": "2"}`:                         `.count: how many people must approve: want a whole number from 1 to 100`,
		`{"count": 1.5}`:                         `.count: how many people must approve: want a whole number from 1 to 100`,
		`{"counts": 2}`:                          `unknown key "counts"; by has count, groups, notSameAs, notStarter and people; did you mean count?`,
		`{}`:                                     `it is empty`,
		`"ann"`:                                  `want an object, not string`,
		`{"people": []}`:                         `want a list of 1 to 1000 names`,
		`{"people": ["ann", "bob"], "count": 3}`: `3 people must approve, but only 2 may`,
		`{"people": ["ann", "Ann "], "count": 2}`: `"Ann " is listed twice`,
		`{"groups": "finance"}`:                   `want a list of 1 to 1000 names`,
		`{"notStarter": "yes"}`:                   `want true or false, not string`,
		`{"notSameAs": ["payy"]}`:                 `the palette has no "payy"; did you mean pay?`,
		`{"notSameAs": ["0.3"]}`:                  `no Plan that runs without a Request has a Call 0.3`,
		`{"notSameAs": ["0.1@①"]}`:                `write 0.1 without an instance`,
		`{"notSameAs": ["1.1"]}`:                  `the LLM decides which Call becomes 1.1`,
		`{"notSameAs": ["0.2", "pay"]}`:           ``,
	} {
		for _, place := range []string{`"config": {"approval": {"by": %s}}, "schema": {"tools": {"pay": {}}}`,
			`"schema": {"tools": {"pay": {"_approval": {"by": %s}}}}`} {
			_, ps := ideafile.ParseIdea(
				[]byte(
					fmt.Sprintf(
						`{`+place+
							`, "context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "pay"}, {"_tool": "pay"}]}]}`, by)))
			if got := ps.Error(); !strings.Contains(got, want) || (want == "") != (len(ps) == 0) {
				t.Errorf("%s: %q, want %q", by, got, want)
			}
		}
	}
	var ps diag.Problems
	if ideafile.ReadTool("pay",
		modeltest.MustDecodeJSON(`{"_approval": {"by": {"count": 2}, "timeout": "1h", "onTimeout": "approve"}}`), "$",
		&ps); len(ps.Errors()) != 1 {
		t.Error("a deadline approves what people must", ps)
	}
	broken := ideafile.ReadTool("pay", modeltest.MustDecodeJSON(`{"_approval": {"by": {"counts": 2}}}`), "$", nil)
	if (policy.Oversight{}).DecidersFor(broken.Name, broken.Approval).RequiredApprovals() < 1000 {
		t.Error("a policy that cannot be read lets somebody through")
	}
}
