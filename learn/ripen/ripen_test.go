package ripen_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"processidea/learn/ripen"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// history is one process in which people decided on n Calls of pay: decide says of the nth what its parameters were and
// what was done.
func history(t *testing.T, n int, asks string, decide func(n int) (params string, kind string)) ripen.ProcessRun {
	t.Helper()
	source, err := jsonval.DecodeObject(
		[]byte(
			`{"schema": {"tools": {"pay": {"type": "object", "properties": {"amount": {}, "to": {}, "note": {}}, "_activity": "pay", "_approval": ` + asks + `}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	idea, problems := ideafile.ReadIdea(source)
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	run := ripen.ProcessRun{ProcessID: "p", Tools: idea.Tools}
	for k := range n {
		text, kind := decide(k)
		params, err := jsonval.DecodeObject([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		d := &approval.Decision{Kind: kind, CallID: fmt.Sprintf("1.1@i%d", k), DecidedBy: "ann", Tool: "pay",
			ShownParams: params}
		if by, nobody := strings.CutPrefix(kind, "nobody:"); nobody {
			d.Kind, d.DecidedBy = by, approval.DecidedByTimeout
		}
		run.Log = append(run.Log, turn.LogEntry{Decision: d})
	}
	return run
}

func judged(t *testing.T, run ripen.ProcessRun) ripen.Finding {
	t.Helper()
	findings := ripen.AnalyzeRuns([]ripen.ProcessRun{run})
	if len(findings) != 1 {
		t.Fatalf("%+v", findings)
	}
	return findings[0]
}

// asks reports whether the proposed policy has a person asked, as the engine judges it.
func asks(t *testing.T, f ripen.Finding, params string) bool {
	t.Helper()
	v, err := jsonval.DecodeObject([]byte(params))
	if err != nil {
		t.Fatal(err)
	}
	policy := policy.Approval{ParamsCondition: jsonschema.NewLazySchema(f.ProposedCondition, "")}
	return policy.RequiresReviewOf(v)
}

func TestTheRuleByWhichPeopleAmendedIsFoundInFiveHundredDecisions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	f := judged(t, history(t, 500, "true", func(n int) (string, string) {
		amount := 10 + random.Intn(780)
		kind := policy.Approve
		if n%25 == 3 {
			amount, kind = 810+random.Intn(1000), policy.Amend
		}
		return fmt.Sprintf(`{"amount": %d, "to": "shop %d", "note": "n%d"}`, amount, random.Intn(9), n), kind
	}))
	if f.Counts != (ripen.DecisionCounts{Approved: 480, Amended: 20}) ||
		!slices.Equal(f.Facts, []string{"all 20 that were amended had amount > 800, and no other"}) {
		t.Errorf("%+v %q", f.Counts, f.Facts)
	}
	if f.WouldAskCount != 20 || f.WouldNotAskCount != 480 || len(f.NeedlesslyAskedCalls) > 0 {
		t.Errorf("it would have asked for %d and not for %d, in vain for %v", f.WouldAskCount, f.WouldNotAskCount,
			f.NeedlesslyAskedCalls)
	}
	for params, want := range map[string]bool{`{"amount": 100}`: false, `{"amount": 801}`: true, `{}`: true,
		`{"amount": "100"}`: true} {
		if asks(t, f, params) != want {
			t.Errorf("for %s it asks: %v\n%s", params, !want, jsonval.Encode(f.ProposedCondition))
		}
	}
}

func TestCallsApprovedAmongThoseThatWereChangedAreNamed(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(2))
	f := judged(t, history(t, 240, "true", func(n int) (string, string) {
		amount, kind := random.Intn(800), policy.Approve
		if n%20 == 1 {
			amount, kind = 900+random.Intn(100), policy.Reject
		} else if n == 50 || n == 100 {
			amount = 950
		}
		return fmt.Sprintf(`{"amount": %d, "to": "shop %d"}`, amount, random.Intn(9)), kind
	}))
	if !slices.Equal(f.Facts, []string{"all 12 that were rejected had amount > 900, and so had 2 others"}) ||
		!slices.Equal(f.NeedlesslyAskedCalls, []string{"p 1.1@i50", "p 1.1@i100"}) {
		t.Errorf("%q, in vain %v: %s", f.Facts, f.NeedlesslyAskedCalls, f.NoProposalReason)
	}
	if f.WouldAskCount != 14 || f.WouldNotAskCount != 226 {
		t.Errorf("it would have asked for %d and not for %d", f.WouldAskCount, f.WouldNotAskCount)
	}
}

// Whatever the history, a proposed policy asks about each Call that people changed.
func TestNoPolicyIsProposedThatWouldHaveMissedAChange(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(3))
	proposed := 0
	for range 300 {
		rule, noise := random.Intn(4), random.Intn(12)
		changed := map[string]bool{}
		f := judged(t, history(t, 20+random.Intn(200), "true", func(n int) (string, string) {
			amount, to := random.Intn(1000), []string{"a", "b", "c"}[random.Intn(3)]
			params := fmt.Sprintf(`{"amount": %d, "to": %q, "note": "n%d"}`, amount, to, n)
			hit := []bool{amount > 800, to == "b", amount > 500 && to == "a", false}[rule] || random.Intn(40) < noise/9
			if !hit {
				return params, policy.Approve
			}
			changed[params] = true
			return params, []string{policy.Amend, policy.Reject, policy.Replace, policy.Answer}[random.Intn(4)]
		}))
		if f.ProposedCondition == nil {
			if f.NoProposalReason == "" {
				t.Fatal("it proposes nothing, and does not say why")
			}
			continue
		}
		proposed++
		for params := range changed {
			if !asks(t, f, params) {
				t.Fatalf("%s was changed, and %s does not ask", params, jsonval.Encode(f.ProposedCondition))
			}
		}
	}
	if proposed < 50 {
		t.Errorf("%d policies are proposed: the rule is tried too seldom", proposed)
	}
}

func TestNothingIsProposedWhereTooLittleIsKnown(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		kind func(n int) string
		why  string
	}{
		"nobody changed anything": {func(int) string { return policy.Approve }, "people approved all unchanged"},
		"two were changed": {func(n int) string {
			if n > 97 {
				return policy.Amend
			}
			return policy.Approve
		}, "2 changed: too few"},
		"nobody looked": {func(n int) string { return "nobody:" + policy.Reject }, "people approved all unchanged"},
		"changed at random": {func(n int) string {
			if n*7%13 < 3 {
				return policy.Amend
			}
			return policy.Approve
		}, "nothing tells which Calls people change"},
	} {
		t.Run(name, func(t *testing.T) {
			f := judged(t, history(t, 100, "true",
				func(n int) (string, string) { return fmt.Sprintf(`{"amount": %d}`, n*37%100), row.kind(n) }))
			if f.ProposedCondition != nil || !strings.HasPrefix(f.NoProposalReason, row.why) {
				t.Errorf("it proposes %s; %s", jsonval.Encode(f.ProposedCondition), f.NoProposalReason)
			}
		})
	}
}

func TestAPolicyNeverAsksWhereThePresentOneDoesNot(t *testing.T) {
	t.Parallel()
	f := judged(t, history(t, 100, `{"when": {"properties": {"amount": {"minimum": 100}}, "required": ["amount"]}}`,
		func(n int) (string, string) {
			kind := policy.Approve
			if n >= 80 {
				kind = policy.Reject
			}
			return fmt.Sprintf(`{"amount": %d}`, 100+n*10), kind
		}))
	for params, want := range map[string]bool{`{"amount": 50}`: false, `{"amount": 300}`: false,
		`{"amount": 1000}`: true} {
		if asks(t, f, params) != want {
			t.Errorf("for %s it asks: %v: %s", params, !want,
				diag.SummarizeNames([]string{f.NoProposalReason, string(jsonval.Encode(f.ProposedCondition))}))
		}
	}
}
