package client

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// Ten thousand decisions in the chains of ten processes are counted to the last one, and again when more are sealed.
func TestInsightsCountEveryDecision(t *testing.T) {
	t.Parallel()
	store, err := blobs.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := New(nil, "", store)
	began := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewSource(7))
	seal := func(process string, at int, parent string, decisions int) (digest string) {
		var log []turn.LogEntry
		for n := range decisions {
			d := approval.Decision{Kind: []string{"approve", "reject"}[n%2],
				CallID: fmt.Sprintf("1.%d@1", n+1), Tool: "pay",
				DecidedBy: "ann", DecidedAt: began.Add(time.Hour),
				WaitingSince: began.Add(-time.Duration(random.Intn(10_000)) * time.Second)}
			switch n % 10 {
			case 8:
				d.StandingOrderID = "small"
			case 9:
				d.DecidedBy = approval.DecidedByTimeout
			}
			log = append(log, turn.LogEntry{Decision: &d}, turn.LogEntry{Decision: &approval.Decision{Kind: "comment",
				CallID: d.CallID, Tool: "pay", DecidedAt: began}})
		}
		sealed, err := chain.New(store).Seal(t.Context(),
			chain.IdeaToSeal{ProcessID: process, IdeaNumber: at, ParentDigest: parent, Log: log,
				Idea: map[string]any{"meta": map[string]any{"n": json.Number("1")}}})
		if err != nil {
			t.Fatal(err)
		}
		return sealed.Digest
	}
	tool := func() *ToolInsights {
		tools := map[string]*ToolInsights{}
		for n := range 10 {
			made, err := c.decisionsOf(t.Context(), fmt.Sprint("p-", n))
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range made {
				ensureToolInsights(tools, d.Tool).add(d.Decision)
			}
		}
		tools["pay"].computeStats()
		return tools["pay"]
	}
	digests := map[string]string{}
	for n := range 10 {
		id := fmt.Sprint("p-", n)
		digests[id] = seal(id, 1, "", 999)
	}
	before := tool()
	seal("p-3", 2, digests["p-3"], 10)
	now := tool()
	told := func(t *ToolInsights) string {
		return fmt.Sprint(t.CountByKind["approve"], t.CountByKind["reject"], t.ByStandingOrder, t.ByDeadline,
			len(t.waitDurations))
	}
	if told(before) != "5000 4990 1000 990 8000" || told(now) != "5005 4995 1001 991 8008" {
		t.Errorf("%+v\n%+v", before, now)
	}
}

// The nearest rank is a time that somebody took: the smallest of which so many are no longer.
func TestInsightsRankByTheNearest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seconds     []int
		median, p90 float64
	}{
		{nil, 0, 0},
		{[]int{5}, 5, 5},
		{[]int{9, 1}, 1, 9},
		{[]int{3, 1, 2}, 2, 3},
		{[]int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 9},
		{[]int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 6, 10},
	} {
		tool, waited := &ToolInsights{DecisionCounts: DecisionCounts{ByStandingOrder: 3}}, 0
		for _, s := range c.seconds {
			tool.waitDurations, waited = append(tool.waitDurations, time.Duration(s)*time.Second), waited+s
		}
		if tool.computeStats(); tool.MedianSeconds != c.median || tool.P90Seconds != c.p90 {
			t.Errorf("%v: %v and %v, want %v and %v", c.seconds, tool.MedianSeconds, tool.P90Seconds, c.median, c.p90)
		}
		if tool.WaitedSeconds != float64(waited) || tool.SparedSeconds != 3*c.median {
			t.Errorf("%v: %v waited, %v spared", c.seconds, tool.WaitedSeconds, tool.SparedSeconds)
		}
	}
}

// A Tool's decisions are told by the rule that asked for each, where processes have several.
func TestInsightsAreToldByTheRuleToo(t *testing.T) {
	t.Parallel()
	store, err := blobs.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := New(nil, "", store)
	asked := map[string]string{"low": `{"when": {"properties": {"n": {"minimum": 5}}}}`,
		"low-too": `{"when": {"properties": {"n": {"minimum": 5}}}, "timeout": "1h"}`, "each": `true`}
	for process, policy := range asked {
		idea, err := jsonval.DecodeObject([]byte(`{"meta": {}, "context": [], "schema": {"tools": {"pay": {
			"type": "object", "properties": {"n": {"type": "integer"}}, "_approval": ` + policy + `}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		log := []turn.LogEntry{{Decision: &approval.Decision{Kind: Reject, CallID: "1.1", Tool: "pay", DecidedBy: "ann",
			DecidedAt: time.Unix(60, 0), WaitingSince: time.Unix(0, 0)}}}
		entry := chain.IdeaToSeal{ProcessID: process, IdeaNumber: 1, Log: log, Idea: idea}
		if _, err := chain.New(store).Seal(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	tools := map[string]*ToolInsights{}
	if unread, err := c.eachDecision(t.Context(), func(process string, d RecordedDecision) {
		ensureToolInsights(tools, d.Tool).addToRule(process, d)
	}); err != nil || unread != 0 {
		t.Fatal(unread, err)
	}
	for key, want := range map[string]int{`{"properties":{"n":{"minimum":5}}}`: 2, `{}`: 1} {
		if r := tools["pay"].rulesByText[key]; r == nil || r.CountByKind[Reject] != want ||
			asked[r.ExampleProcessID] == "" {
			t.Errorf("%s: %+v", key, r)
		}
	}
}
