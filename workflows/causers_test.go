package workflows_test

import (
	"slices"
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/chain"
)

// notTheirs is a policy under which three people decide, and none on what they caused.
const notTheirs = `{"by": {"people": ["sam", "ann", "bob"], "notStarter": true}}`

// decides has somebody approve a Call, and says what is wanted in the reason of the refusal; "": it is taken.
func (s *scenario) decides(process, under, call, by, refused string) {
	s.t.Helper()
	got := s.decideAs(process, process+under, policy.Approve, call, by)
	if !strings.Contains(got, refused) || (refused == "") != (got == "") {
		s.t.Fatalf("%s on %s: %q, want %q", by, call, got, refused)
	}
}

// Who adds or revises an instance has no more say there than who started the process, and as much elsewhere.
func TestWhoCausedACallDecidesOnItNowhere(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 3, map[string]struct {
		config string
		under  func(token string) string
		every  int
	}{
		"in one piece":         {"", func(token string) string { return "/" + token }, 0},
		"in parts":             {`"batch": 1`, func(token string) string { return "/~part/" + token + "/" + token }, 0},
		"continued as new":     {"", func(token string) string { return "/" + token }, 1},
		"parts, continued too": {`"batch": 1`, func(token string) string { return "/~part/" + token + "/" + token }, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, c.config, notTheirs, rows(1, 2)+`,`+payOnce)
			s.every = c.every
			run := s.start()
			s.waitsFor(2)
			for verb, context := range map[string]string{
				approval.SteerAddInstances: `{"type": "state", "_instance": "3", "text": "t3"}`,
				approval.SteerRevise:       `{"type": "state", "_instance": "1", "note": "mind"}`,
			} {
				if why := s.steer(verb, map[string]any{"id": verb, "by": "ann",
					"context": s.calls("[" + context + "]")}); why != "" {
					t.Fatal(why)
				}
			}
			s.waitsFor(3)
			order := map[string]any{"id": "anns", "tool": "pay", "count": 9, "by": "ann", "reason": "routine"}
			if why := s.steer(approval.SteerGiveStandingOrder, order); why != "" {
				t.Fatal(why)
			}
			eventually(t, "ann's order covers what she has not caused",
				func() bool { return len(till.seen()) == 1 && s.processStatus().PendingDecisionCount == 2 })
			for _, token := range []string{"1", "3"} {
				s.decides(s.id, c.under(token), "0.1@"+token, "Ann", "had a hand in it")
				s.decides(s.id, c.under(token), "0.1@"+token, "sam", "sam started the process")
				s.decides(s.id, c.under(token), "0.1@"+token, "bob", "")
			}
			s.end(run)
			s.forksAreTold(map[string][]string{"1": {"ann"}, "2": nil, "3": {"ann"}})
		})
	}
}

// A person who has another name at the next login has caused what they caused; one of that name at another issuer has
// not.
func TestWhoCausedACallIsKnownByTheirAccount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		under  func(token string) string
		every  int
	}{
		"in one piece": {"", func(token string) string { return "/" + token }, 0},
		"parts, continued as new": {`"batch": 1`, func(token string) string { return "/~part/" + token + "/" + token },
			1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := paying(t, till, c.config, notTheirs, rows(1, 2)+`,`+payOnce)
			s.every = c.every
			run := s.start()
			s.waitsFor(2)
			revision := map[string]any{"by": "eve", "iss": "https://id.example.com", "sub": "1",
				"context": s.calls(`[{"type": "state", "_instance": "1", "note": "mind"}]`)}
			if why := s.steer(approval.SteerRevise, revision); why != "" {
				t.Fatal(why)
			}
			eventually(t, "the revision has come to the instance", func() bool {
				q, err := s.client.QueryWorkflow(t.Context(), s.id+c.under("1"), "", protocol.QueryStatus)
				var v protocol.InstanceView
				return err == nil && q.Get(&v) == nil && jsonval.AsObject(v.State)["note"] == "mind"
			})
			approve := func(issuer string) string {
				return s.outcome(s.id, s.id+c.under("1"), policy.Approve,
					map[string]any{"call": "0.1@1", "by": "ann", "iss": issuer, "sub": "1", "id": issuer})
			}
			if got := approve("https://id.example.com"); !strings.Contains(got, "had a hand in it") {
				t.Errorf("eve, who is called ann now: %q", got)
			}
			if got := approve("https://other.example.com"); got != "" {
				t.Errorf("ann of another issuer: %q", got)
			}
			s.decides(s.id, c.under("2"), "0.1@2", "ann", "")
			s.end(run)
		})
	}
}

// What a person writes for the LLM alone changes what it plans next.
func TestWhoTellsTheLLMSomethingCausedWhatItPlansThen(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	pay := `{"solution": {"calls": [{"_tool": "pay", "n": 1, "_outputPath": "paid"}]}}`
	s := newScenario(t, `{"schema": {"tools": {"pay": `+till.pay(notTheirs)+
		`}}, "context": [{"type": "text", "text": "t"}]}`, pay,
		strings.Replace(pay, "paid", "again", 1), nothingMore)
	s.startedBy = []string{"sam"}
	run := s.start()
	s.waitsFor(1)
	if why := s.steer(approval.SteerRevise,
		map[string]any{"id": "v", "by": "ann",
			"context": s.calls(`[{"type": "text", "text": "Pay twice."}]`)}); why != "" {
		t.Fatal(why)
	}
	s.decides(s.id, "/main", "1.1", "bob", "")
	eventually(t, "the next Call waits", func() bool { return s.waitsFor(1)[0].CallID == "2.1" })
	s.decides(s.id, "/main", "2.1", "ann", "had a hand in it")
	s.decides(s.id, "/main", "2.1", "bob", "")
	s.end(run)
}

// Who amends a Plan decides on none of its Calls, and nobody decides on what somebody did who did not say who they are.
func TestWhoAmendedThePlanDecidesOnNoneOfItsCalls(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, `"approval": {"plan": true}`, notTheirs, `{"type": "text", "text": "t"},`+payOnce)
	run := s.start()
	plan := s.planWaits(1)[0]
	s.decidePlan("amend-plan", plan,
		map[string]any{"calls": s.calls(`[{"_tool": "pay", "n": 2, "_outputPath": "paid"}]`)})
	s.waitsFor(1)
	s.decides(s.id, "/main", "0.1", "ann", "had a hand in it")
	s.decides(s.id, "/main", "0.1", "bob", "")
	s.end(run)
}

func TestWhatSomebodyUnnamedCausedNobodyDecidesOn(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := paying(t, till, "", notTheirs, rows(1, 1)+`,`+payOnce)
	s.start()
	s.waitsFor(1)
	if why := s.steer(approval.SteerAddInstances,
		map[string]any{"id": "a",
			"context": s.calls(`[{"type": "state", "_instance": "2", "text": "t2"}]`)}); why != "" {
		t.Fatal(why)
	}
	s.waitsFor(2)
	s.decides(s.id, "/2", "0.1@2", "bob", "nobody knows who that was")
	s.decides(s.id, "/1", "0.1@1", "bob", "")
	s.cancel()
}

// A delegate is told who caused the Call that it works for.
func TestWhoCausedTheCallOfADelegateDecidesOnNothingInIt(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"settle": {"type": "object", "properties": {}, "_delegate": "settle.json"}}},
		"context": [`+rows(1, 1)+`, {"type": "plan", "stage": "complete", "plan": [{"_tool": "settle"}]}]}`)
	s.startedBy = []string{"sam"}
	s.file("settle.json", `{"schema": {"tools": {"pay": `+till.pay(notTheirs)+`}}, "context": [`+payOnce+`]}`)
	run := s.start()
	if why := s.steer(approval.SteerAddInstances,
		map[string]any{"id": "a", "by": "ann",
			"context": s.calls(`[{"type": "state", "_instance": "2", "text": "t2"}]`)}); why != "" {
		t.Fatal(why)
	}
	for token, refused := range map[string]string{"1": "", "2": "ann started the process"} {
		delegate := protocol.DelegateID(s.id, "0.1@"+token)
		eventually(t, "the delegate waits", func() bool {
			var v protocol.ProcessApprovals
			q, err := s.client.QueryWorkflow(t.Context(), delegate, "", protocol.QueryApprovals)
			return err == nil && q.Get(&v) == nil && len(v.Approvals) == 1
		})
		s.decides(delegate, "/main", "0.1", "ann", refused)
		if refused != "" {
			s.decides(delegate, "/main", "0.1", "bob", "")
		}
	}
	s.end(run)
}

// What a delegate came to is what they made of it.
func TestWhoRevisedADelegateDoesNotDecideOnWhatItsResultCauses(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, `{"schema": {"tools": {"settle": {"type": "object", "properties": {}, "_delegate": "settle.json"},
		"pay": `+till.pay(notTheirs)+`}}, "context": [`+rows(1, 2)+`, {"type": "plan", "stage": "complete", "plan": [
		{"_tool": "settle"}, {"_tool": "pay", "n": 1, "_after": "†call.0.1", "_outputPath": "paid"}]}]}`)
	s.startedBy = []string{"sam"}
	s.file("settle.json", `{"schema": {"tools": {"pay": `+till.pay(notTheirs)+`}}, "context": [`+payOnce+`]}`)
	run := s.start()
	for token, by := range map[string]string{"1": "", "2": "ann"} {
		delegate := protocol.DelegateID(s.id, "0.1@"+token)
		eventually(t, "the delegate waits", func() bool {
			var v protocol.ProcessApprovals
			q, err := s.client.QueryWorkflow(t.Context(), delegate, "", protocol.QueryApprovals)
			return err == nil && q.Get(&v) == nil && len(v.Approvals) == 1
		})
		if by != "" {
			revision := map[string]any{"id": "r", "by": by, "context": s.calls(`[{"type": "state", "note": "mind"}]`)}
			s.signal(delegate, approval.SteerRevise, revision)
			if became := s.became(delegate, "r")[0]; became != approval.ActAccepted {
				t.Fatal(became)
			}
		}
		s.decides(delegate, "/main", "0.1", "bob", "")
	}
	s.waitsFor(2)
	s.decides(s.id, "/2", "0.2@2", "ann", "had a hand in it")
	s.decides(s.id, "/2", "0.2@2", "bob", "")
	s.decides(s.id, "/1", "0.2@1", "ann", "")
	s.end(run)
	s.forksAreTold(map[string][]string{"1": nil, "2": {"ann"}})
}

// forksAreTold compares who caused what instances do with what a fork at the end is told.
func (s *scenario) forksAreTold(causers map[string][]string) {
	s.t.Helper()
	idea := chain.ForkedIdea(s.sealedLast())
	for token, want := range causers {
		var got []string
		for _, who := range policy.ReadCausers(idea, token) {
			got = append(got, who.Name)
		}
		if !slices.Equal(got, want) {
			s.t.Errorf("a fork is told that %s was caused by %q, want %q", token, got, want)
		}
	}
}

// Whoever has a paused process take something back has no say on the Calls that do it.
func TestWhoHasACallTakenBackDoesNotApproveThat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		under  string
	}{"in one piece": {"", "/1"}, "in parts": {`, "batch": 1`, "/~part/1/1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &agency{}
			idea := a.journey(strings.ReplaceAll(t.Name(), " ", "-"), c.config, rows(1, 2)+
				`,{"type": "plan", "stage": "complete", "plan": [
				{"_tool": "book", "what": "flight", "_outputPath": "flight"}, {"_tool": "sign", "text": "†state.flight.id"}]}`)
			s := newScenario(t, strings.NewReplacer(`"onFailure": "undo", `, "", `"onFailure": "undo"`, "",
				`"_outputPath": "†state.cancelled",`, `"_outputPath": "†state.cancelled", "_approval": `+notTheirs+`,`,
				`"whisper": {`, `"sign": {"type": "object", "properties": {"text": {"type": "string"}}, "_activity": "whisper",
				"_approval": true}, "whisper": {`).Replace(idea))
			s.startedBy = []string{"sam"}
			s.start()
			s.waitsFor(2)
			if why := s.acts(approval.SteerPause, map[string]any{"by": "ann"}); why != "" {
				t.Fatal(why)
			}
			s.signal(s.id, approval.SteerUndo,
				map[string]any{"id": "u", "by": "bob", "iss": "https://id.example.com", "sub": "7"})
			s.waitsFor(4)
			approve := func(by, subject string) string {
				return s.outcome(s.id, s.id+c.under, policy.Approve, map[string]any{"call": "0.1~undo@1", "by": by,
					"iss": "https://id.example.com", "sub": subject, "id": by + subject})
			}
			if why := approve("bob", "7"); !strings.Contains(why, "had a hand in it") {
				t.Errorf("bob approves what he wants taken back: %q", why)
			}
			if why := approve("ann", "8"); why != "" {
				t.Errorf("ann: %s", why)
			}
			eventually(t, "a fork is told who wants it taken back", func() bool {
				return slices.ContainsFunc(policy.ReadCausers(chain.ForkedIdea(s.sealedLast()), "1"),
					func(who policy.Identity) bool { return who.Name == "bob" && who.Subject == "7" })
			})
			s.cancel()
		})
	}
}
