package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/starter/internal/exit"
)

// counter is a server of tools that counts the requests for each path.
type counter struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]int
}

func newCounter(t *testing.T) *counter {
	c := &counter{seen: map[string]int{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen[r.URL.Path]++
		fmt.Fprintf(w, "%q", strings.TrimPrefix(r.URL.Path, "/"))
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *counter) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(jsonval.Encode(jsonval.ToJSONValue(c.seen)))
}

func (c *counter) tool(path, more string) string {
	return fmt.Sprintf(`%q: {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": false,
		"_activity": {"http": {"url": "%s/%s"}}%s}`, path, c.URL, path, more)
}

// batch is a process of three instances: ③ settles by the first Request; in ① something is told, without an output
// path, and looked at twice; ② waits for a signature. Its State holds a large value.
func (c *counter) batch() map[string]string {
	return map[string]string{
		"idea.json": `{"meta": {"path": "batch"}, "config": {"gather": "200ms"}, "schema": {"tools": {` +
			c.tool("tell", "") + "," + c.tool("look", "") + "," + c.tool("sign", `, "_outputPath": "†state.signed", "_approval": true`) + `}},
			"context": [{"type": "text", "text": "Go on."}, {"type": "input", "rule": "old"}, {"type": "state", "_instance": "①", "text": "a"},
			{"type": "state", "_instance": "②", "text": "b", "large": "` + strings.Repeat("large ", jsonval.LargeValueBytes/5) + `"}, {"type": "state", "_instance": "③", "text": "c"}]}`,
		"replies.jsonl": `{"solution": {"calls": [{"_tool": "tell", "_instance": "①", "text": "†state.text"}, {"_tool": "look", "_instance": "①", "_outputPath": "first"}, ` +
			`{"_tool": "sign", "_instance": "②", "text": "†state.text"}], "output": null}}` + "\n" +
			`{"solution": {"calls": [{"_tool": "look", "_instance": "①", "_outputPath": "second"}], "output": null}}` +
			"\n" + nothingMore + "\n" + nothingMore,
		"more.jsonl": strings.Repeat(nothingMore+"\n", 4),
	}
}

// batched is a desk where such a process has come so far that it waits for the signature alone.
func batched(t *testing.T) (*desk, *counter) {
	c := newCounter(t)
	d := newDesk(t, c.batch()).set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(c.URL, "http://"))
	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.eventually("it waits for the signature alone", func() bool {
		i := d.do("result", "p", "--json").result().Instances
		return i["①"].Status == ideafile.InstanceSettled && i["②"].Status == ideafile.InstanceWaiting
	})
	return d, c
}

// asked waits until one Call of a process waits for a person.
func (d *desk) asked(id string) (a protocol.Approval) {
	d.Helper()
	d.eventually("somebody is asked", func() bool {
		var list []protocol.Approval
		d.do("approvals", id, "--json").is(exit.Done).json(&list)
		if len(list) == 1 {
			a = list[0]
		}
		return len(list) == 1
	})
	return a
}

func TestAForkGoesOnWhereItsIdeaStood(t *testing.T) {
	d, c := batched(t)
	chain := d.do("export", "p").is(exit.Done).out
	want(t, c.String(), `{"/look":2,"/tell":1}`)
	e := d.do("fork", "p", "--at", "2", "--replies", "more.jsonl", "--detach", "--json").is(exit.Done)
	e.complains("1 Call is asked about again").complains("1 instance is left settled").complains(
		"did in the outside world is done")
	if r := e.result(); r.ProcessID != "p-fork-1" || r.Status != loop.StatusRunning {
		t.Errorf("%+v", r)
	}
	// A signature that comes while the Request about ① is gathered is told by the same one.
	d.eventually("the LLM has been asked about ①", func() bool {
		return d.do("result", "p-fork-1", "--json").result().Instances["①"].Status == ideafile.InstanceSettled
	})
	before, after := d.asked("p"), d.asked("p-fork-1")
	if after.CallID != before.CallID || after.Digest != before.Digest || after.Instance != "②" ||
		!after.Since.After(before.Since) {
		t.Errorf("%+v is asked again as %+v", before, after)
	}
	d.do("approve", "p-fork-1", after.CallID).is(exit.Done)
	r := d.do("watch", "p-fork-1", "--json").is(exit.Done).result()
	state, _ := r.Instances["②"].State.(map[string]any)
	if r.Calls != (turn.CallCounts{Done: 1}) || state["signed"] != "sign" ||
		len(state["large"].(string)) < jsonval.LargeValueBytes || r.RequestCount != 2 {
		t.Errorf("%+v", r)
	}
	want(t, string(jsonval.Encode(r.Instances["①"].State)), `{"first":"look","text":"a"}`)
	want(t, c.String(), `{"/look":2,"/sign":1,"/tell":1}`)
	want(t, d.do("export", "p").is(exit.Done).out, chain)
	d.asked("p") // and it still waits
	says(t, "verify|p-fork-1|--data|"+filepath.Join(d.dir, ".processidea"), exit.Done, "whole",
		"forked from Idea 2 of p, ")
	says(t, "history|p-fork-1|--data|"+filepath.Join(d.dir, ".processidea"), exit.Done, "forked from Idea 2 of p, ")
	says(t, "blame|p-fork-1|①:first|--data|"+filepath.Join(d.dir, ".processidea"), exit.Done,
		"starter blame p '①:first' --at 2")
	says(t, "blame|p-fork-1|②:signed|--data|"+filepath.Join(d.dir, ".processidea"), exit.Done,
		"call 1.3@② of Request 1: sign")
	var first struct {
		Meta struct {
			Origin struct {
				Process, Digest string
				At              int
			}
			Parent string
		}
	}
	d.do("show", "p-fork-1", "--at", "1", "--json").is(exit.Done).json(&first)
	if o := first.Meta.Origin; o.Process != "p" || o.At != 2 || !strings.Contains(chain, o.Digest) ||
		first.Meta.Parent != "" {
		t.Errorf("%+v", first)
	}
}

func TestAForkTakesTheSolutionUpOnDemandAndChanges(t *testing.T) {
	d, c := batched(t)
	defer func() { want(t, c.String(), `{"/look":4,"/tell":1}`) }()
	files := map[string]string{
		"stricter.yaml": "config: {limits: {requests: 9}}\ncontext:\n- {type: instruction, instruction: Be " +
			"strict.}\n- {type: state, _instance: ④, text: d}\n",
		"state.json":    `{"①": {"more": {"deep": 1}}}`,
		"plan.json":     `[{"_tool": "look", "_instance": "*", "_outputPath": "planned"}]`,
		"solution.json": `{"solution": {"calls": [{"_tool": "look", "_instance": "①", "_outputPath": "second"}, {"_tool": "tell", "_instance": "①", "text": "†state.text"}]}}`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := d.do("fork", "p", "--at", "2", "--id", "q", "--replies", "more.jsonl", "--with-solution", "--detach", "--set",
		`②:text="changed"`, "--set", "③:deep.er=[1]",
		"--unset", "①:text", "--state", "state.json", "--input", `{"rule": "new"}`, "--plan", "plan.json", "--file",
		"stricter.yaml", "--llm", "another").is(exit.Done)
	if strings.Contains(e.err, "left as settled") {
		t.Errorf("③ was changed and stays settled: %s", e.err)
	}
	a := d.asked("q")
	if a.CallID != "1.3@②" || a.Params["text"] != "changed" {
		t.Errorf("%+v", a)
	}
	var waiting struct{ Meta struct{ At int } }
	d.eventually("an Idea is sealed at rest", func() bool {
		e := d.do("show", "q", "--json") // asked before its first Idea is sealed, it has none
		if e.code == exit.Done {
			e.json(&waiting)
		}
		return e.code == exit.Done && strings.Contains(e.out, `"second":"look"`)
	})
	d.do("reject", "q", a.CallID, "--reason", "no").is(exit.Done)
	r := d.do("watch", "q", "--json").is(exit.Done).result()
	if r.Calls != (turn.CallCounts{Done: 1, Rejected: 1}) || len(r.Instances) != 4 {
		t.Errorf("%+v", r)
	}
	want(t, string(jsonval.Encode(r.Instances["①"].State)), `{"first":"look","more":{"deep":1},"second":"look"}`)
	want(t, string(jsonval.Encode(r.Instances["③"].State)), `{"deep":{"er":[1]},"text":"c"}`)
	want(t, c.String(), `{"/look":3,"/tell":1}`)
	idea := d.do("show", "q", "--json").is(exit.Done).out
	for _, text := range []string{`"model":"another"`, `"requests":9`, `"instruction":"Be strict."`, `"rule":"new"`,
		`"_outputPath":"planned"`} {
		if !strings.Contains(idea, text) {
			t.Errorf("the Idea lacks %s", text)
		}
	}
	// The same again attaches; a fork of the fork goes on from there.
	d.do("fork", "p", "--at", "2", "--id", "q", "--replies", "more.jsonl",
		"--detach").is(exit.Usage).complains("another file")
	// What is taken out of State is not done any more: the same Call comes again.
	at := strconv.Itoa(waiting.Meta.At)
	d.do("fork", "q", "--at", at, "--file", "solution.json", "--with-solution", "--unset", "①:second", "--replies",
		"more.jsonl", "--detach").is(exit.Done)
	d.do("reject", "q-fork-1", d.asked("q-fork-1").CallID, "--reason", "no").is(exit.Done)
	d.do("watch", "q-fork-1").is(exit.Done)
	says(t, "verify|q-fork-1|--data|"+filepath.Join(d.dir, ".processidea"), exit.Done, "whole",
		"forked from Idea "+at+" of q, ")
}

func TestAForkSaysWhatIsWrongBeforeAnythingStarts(t *testing.T) {
	dir := audited(t)
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("TEMPORAL_ADDRESS", "")
	replies := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(replies, []byte(nothingMore), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"fork|p 1":                           "--at, the number of the Idea, is missing: see starter history 'p 1'",
		"fork|q|--at|1":                      "fork q: the store has no Idea of a process with this id",
		"fork|p 1|--at|9":                    "fork Idea 9 of p 1: there are 3",
		"fork|p 1|--at|0":                    "want a whole number from 1 to ",
		"fork|p 1|--at|1":                    "no LLM is configured",
		"fork|p 1|--at|1|--set|①:x":          "set ①:x: want TOKEN:path=JSON",
		"fork|p 1|--at|1|--set|①:x=text":     `a text needs quotes`,
		"fork|p 1|--at|1|--set|x=1":          "it names none of the 2 instances",
		"fork|p 1|--at|1|--set|①:text.x=1":   "State and each value above this path must be objects",
		"fork|p 1|--at|1|--set|①:†state=1":   "State and each value above this path must be objects",
		"fork|p 1|--at|1|--unset|①:x":        "there is no value at this path",
		"fork|p 1|--at|1|--state|" + replies: "there is no instance",
		"fork|p 1|--at|1|--input|[1]":        "read [1]: no such file",
		"fork|p 1|--at|1|--input|{":          "read --input: ",
		"fork|p 1|--at|1|--file|/nowhere":    "read /nowhere: no such file",
		"fork|p 1|--at|1|--reopen|⑨":         "reopen ⑨: there is no such instance; there are ①, ②",
		"fork|p 1|--at|1|--id|a/b":           "a process id must not contain /",
	} {
		says(t, line, exit.Usage, "!"+want)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "server.lock")); err == nil {
		t.Error("a server was started")
	}
}

func TestRunTakesTheSolutionOfAFileUpOnDemand(t *testing.T) {
	c := newCounter(t)
	plan := `[{"_tool": "tell", "text": "twice"}, {"_tool": "look", "_outputPath": "a"}]`
	idea := `{"schema": {"tools": {` + c.tool("tell", "") + "," + c.tool("look", "") + `}}, "context": [{"type": "plan", "plan": ` + plan + `,
		"record": {"1.1": {"done": 1, "results": {"": "told"}}, "1.2": {"failed": 1}}}], "solution": {"calls": ` + plan + `, "output": null}}`
	d := newDesk(t, map[string]string{"a.json": idea, "more.jsonl": nothingMore}).set("PROCESSIDEA_HTTP_ALLOW=" +
		strings.TrimPrefix(c.URL, "http://"))
	d.do("run", "a.json", "--id", "plain", "--replies", "more.jsonl", noUI).is(exit.Done)
	want(t, c.String(), `{}`)
	r := d.do("run", "a.json", "--id", "taken", "--replies", "more.jsonl", "--with-solution", noUI,
		"--json").is(exit.Done).result()
	want(t, c.String(), `{"/look":1}`)
	if r.Calls != (turn.CallCounts{Done: 1}) || string(jsonval.Encode(r.Instances[""].State)) != `{"a":"look"}` {
		t.Errorf("%+v", r)
	}
	d.do("run", "a.json", "--id", "taken", "--replies", "more.jsonl", noUI).is(exit.Usage).complains("another file")
}
