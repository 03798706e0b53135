package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/client/backtest"
	"processidea/internal/rehearsal"
	comparison "processidea/learn/backtest"
	"processidea/model/jsonval"
	"processidea/starter/internal/exit"
)

// claims is a server of two tools, which counts what it is asked: rate answers with the amount that a claim is worth,
// pay with a receipt.
func claims(t *testing.T) (address string, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path == "/rate" {
			fmt.Fprint(w, `{"fair": true}`)
			return
		}
		fmt.Fprint(w, `"paid"`)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// claimsIdea is a process that rates a claim and pays it. policy is that of pay, and amount the schema of what it pays;
// context comes behind the instructions.
func claimsIdea(address, policy, amount, context string) string {
	tool := `{"type": "object", "properties": {%s}, "additionalProperties": false, "_activity": {"http": {"url": "` +
		address + `/%s"}}%s}`
	return `{"meta": {"path": "claims"}, "config": {"batch": 40}, "schema": {"tools": {"rate": ` +
		fmt.Sprintf(tool, `"text": {"type": "string"}`, "rate", "") + `, "pay": ` +
		fmt.Sprintf(tool, `"amount": `+amount+`, "rating": {"type": "object"}`, "pay", policy) +
		`}}, "context": [{"type": "text", "text": "Rate every claim, and pay it."}` + context + `]}`
}

const (
	claimsReplies = `{"solution": {"calls": [{"_tool": "rate", "_instance": "*", "text": "†state.text", "_outputPath": "rating"},
{"_tool": "pay", "_instance": "*", "amount": "†state.amount", "rating": "†state.rating", "_outputPath": "receipt"}], "output": null}}`
	claimsPlan = `, {"type": "plan", "stage": "complete", "plan": [{"_tool": "pay", "amount": "†state.amount", "rating": "†state.rated", "_outputPath": "done"},
		{"_tool": "rate", "text": "†state.text", "_outputPath": "rated"}]}`
)

// hundredClaims are a hundred instances: the nth claims n, and the first one brings a text that is kept apart from
// State.
func hundredClaims() string {
	var rows strings.Builder
	for n := 1; n <= 100; n++ {
		text := fmt.Sprintf("claim %d", n)
		if n == 1 {
			text = strings.Repeat("long ", jsonval.LargeValueBytes/4)
		}
		fmt.Fprintf(&rows, `{"type": "state", "_instance": "c%d", "state": {"text": %q, "amount": %d}}`+"\n", n, text,
			n)
	}
	return rows.String()
}

func TestABacktestSaysWhatAChangeWouldDoInAHundredInstancesAndTouchesNoTool(t *testing.T) {
	address, asked := claims(t)
	files := map[string]string{
		"idea.json": claimsIdea(address, "", `{"type": "integer"}`, ""), "rows.jsonl": hundredClaims(),
		"replies.jsonl": strings.ReplaceAll(claimsReplies, "\n", "") + "\n" + nothingMore,
		"policy.json": claimsIdea(address, `, "_approval": {"when": {"properties": {"amount": {"minimum": 91}}}}`,
			`{"type": "integer"}`, ""),
		"schema.json": claimsIdea(address, "", `{"type": "integer", "maximum": 97}`, ""),
		"plan.json":   claimsIdea(address, "", `{"type": "integer"}`, claimsPlan),
		"other.json": claimsIdea(address, "", `{"type": "integer"}`,
			strings.Replace(claimsPlan, `"text": "†state.text"`, `"text": "all alike"`, 1)),
		"half.jsonl": strings.ReplaceAll(strings.Replace(claimsReplies, `"amount": "†state.amount"`, `"amount": 7`, 1),
			"\n", "") + "\n" +
			nothingMore,
	}
	d := newDesk(t, files).set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(address, "http://"))
	d.do("run", "idea.json", "--instances", "rows.jsonl", "--replies", "replies.jsonl", "--id", "p", noUI).is(exit.Done)
	before, kept := asked.Load(), listed(t, d.dir)
	if before != 200 {
		t.Fatalf("the tools were asked %d times", before)
	}
	backtested := func(code int, args ...string) (r backtest.Report) {
		t.Helper()
		d.do(append([]string{"backtest", "--json"}, args...)...).is(code).json(&r)
		if len(r.Instances) != 100 || len(r.SkippedInstances) > 0 {
			t.Errorf("%v: %d instances, left out: %v", args, len(r.Instances), r.SkippedInstances)
		}
		return r
	}
	for _, c := range []struct {
		args      []string
		code      int
		different int
		summary   string
	}{
		{[]string{"idea.json", "p", "--max-differences", "0"}, exit.Done, 0, "[]"},
		{[]string{"plan.json", "p", "--max-differences", "0"}, exit.Done, 0, "[]"},
		{[]string{"policy.json", "p", "--max-differences", "10"}, exit.Done, 10,
			"[newly-asked: pay would be asked about (in c91, c92, c93, c94, c95, c96, c97, c98 and 2 more)]"},
		{[]string{"policy.json", "p", "--max-differences", "9"}, exit.Failed, 10,
			"[newly-asked: pay would be asked about (in c91, c92, c93, c94, c95, c96, c97, c98 and 2 more)]"},
		{[]string{"schema.json", "p"}, exit.Done, 3, "[call-unfit: pay no longer fits (in c98, c99, c100)]"},
		{[]string{"other.json", "p"}, exit.Done, 100,
			"[call-changed: rate would have another text (in c1, c2, c3, c4, c5, c6, c7, c8 and 92 more)]"},
		{[]string{"idea.json", "p", "--replies", "half.jsonl"}, exit.Done, 99,
			"[call-changed: pay would have another amount (in c1, c2, c3, c4, c5, c6, c8, c9 and 91 more)]"},
	} {
		r := backtested(c.code, c.args...)
		if got := fmt.Sprint(r.DifferenceGroups); r.DifferentCount != c.different || r.SameCount != 100-c.different ||
			got != c.summary {
			t.Errorf("%v: %d the same, %d different, %d not known: %s", c.args, r.SameCount, r.DifferentCount,
				r.UnknownCount, got)
		}
	}
	counts := comparison.ApprovalCounts{Replayed: 10, Automatic: 10}
	if r := backtested(exit.Done, "policy.json", "p"); r.Approvals != counts {
		t.Errorf("asked: %+v", r.Approvals)
	}
	llm, err := rehearsal.Parse(
		[]byte(strings.Replace(files["half.jsonl"], `{"solution"`,
			`{"when": "Calls so far", "solution": {"calls": []}}`+"\n"+`{"when": "Rate every claim", "solution"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	server, err := rehearsal.Start(llm)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var r backtest.Report
	d.set("OPENAI_BASE_URL="+server.URL()).do("backtest", "idea.json", "p", "--llm", "--json").is(exit.Done).json(&r)
	// One Request for each part, and one more about the only claim whose result is known.
	if r.PlanSource != backtest.PlanSourceLLM || r.DifferentCount != 99 || r.RequestCount != 4 ||
		len(server.Requests()) != 4 {
		t.Errorf("by the LLM, which was asked %d times: %d different after %d Requests", len(server.Requests()),
			r.DifferentCount, r.RequestCount)
	}
	if asked.Load() != before {
		t.Errorf("the tools were asked %d times more", asked.Load()-before)
	}
	if after := listed(t, d.dir); after != kept {
		t.Errorf("something was written:\n%s\nbefore\n%s", after, kept)
	}
	e := d.do("backtest", "schema.json", "p", "--max-differences", "2").is(exit.Failed)
	e.complains("3 instances are not the same; at most 2 may differ")
	for _, want := range []string{"100 instances, run as the LLM planned then, with the results of 200 Calls",
		"97 the same, 3 different, 0 not known", `c98       different  1            pay with {"amount":98`} {
		if !strings.Contains(e.out, want) {
			t.Errorf("it does not say %q:\n%s", want, e.out)
		}
	}
}

// listed are the files of a folder with their sizes, but for what a log takes.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintf(&b, "%s %d\n", path, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestABacktestOfWhatCannotBeComparedIsRefused(t *testing.T) {
	file := filepath.Join(audited(t), "idea.json")
	if err := os.WriteFile(file, []byte(`{"schema": {"tools": {}}, "context": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	says(t, "backtest|"+file+"|q", exit.Usage, "!the store has no Idea of a process with this id")
	says(t, "backtest|"+file+"|p 1", exit.Usage, "!backtest p 1: it has not finished")
	says(t, "backtest|"+file+"|p 1|--llm", exit.Usage,
		"!backtest: no LLM is configured: set OPENAI_API_KEY or OPENAI_BASE_URL")
	says(t, "backtest|"+file+"|p 1|--llm|--replies|r.jsonl", exit.Usage,
		"!backtest: --llm and --replies exclude each other")
	says(t, "backtest|"+file, exit.Usage, "!backtest: ID is missing")
}
