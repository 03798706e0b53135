package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/starter/internal/exit"
	"processidea/store/encryption"
)

// freshKey makes a key as an entry of PROCESSIDEA_KEYS.
func freshKey(t *testing.T, id string) string {
	t.Helper()
	entry, err := encryption.GenerateKey(id)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

// found says in which files below a folder each of the texts stands.
func found(t *testing.T, dir string, texts ...string) map[string][]string {
	t.Helper()
	in := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) || strings.Contains(path[len(dir):], text) {
				in[text] = append(in[text], path[len(dir):])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// holds checks that standard output holds the texts.
func (e ended) holds(texts ...string) {
	e.t.Helper()
	for _, text := range texts {
		if !strings.Contains(e.out, text) {
			e.t.Errorf("%s prints no %q, but:\n%.3000s", e.line, text, e.out)
		}
	}
}

// What the two processes below work on, one of each kind: what came in, what the LLM and the tools said, what was too
// large for history, errors, and what the Temporal UI shows of it.
var confidential = []string{
	"the kettle from order 20417", "Ines Moreau", "Answer the customer's letter", "Within 30 days we replace",
	"Reads what a customer's letter says", "The kettle leaks from its base", "Another one is on its way to you",
	"extractFacts", "the only instance", "ask for a Plan",
	"a large value of the start", "a large result", "what went wrong with Ada", "tellThePatient", "patientsName",
}

// open is what stands in the clear nonetheless, as docs/encryption.md says.
var open = []string{"the-letter", "the-patient", "bed-17", "latent", "Execute", "tool_failed", "process-idea"}

// patient are the files of a process with values that are too large for history, and with a tool that fails.
func patient(url string) map[string]string {
	return map[string]string{
		"idea.json": fmt.Sprintf(`{"meta": {"path": "ward"}, "schema": {"tools": {
			"tellThePatient": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"],
				"_activity": {"http": {"url": "%[1]s/tell"}}},
			"fail": {"type": "object", "_activity": {"http": {"url": "%[1]s/fail"}}}}},
			"context": [{"type": "state", "_instance": "bed-17", "patientsName": "Ada",
				"record": "a large value of the start%[2]s"}]}`, url, strings.Repeat(" and more", 10_000)),
		"replies.jsonl": `{"solution": {"calls": [{"_tool": "tellThePatient", "_instance": "*", "what": "†state.record", "_outputPath": "told"},` +
			`{"_tool": "fail", "_instance": "*", "_outputPath": "failed"}], "output": null}}` + "\n" + nothingMore,
	}
}

// ward serves its tools.
func ward(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/fail" {
			http.Error(w, "what went wrong with Ada", http.StatusUnprocessableEntity)
			return
		}
		fmt.Fprint(w, "a large result"+strings.Repeat(" and more", 10_000))
	}))
	t.Cleanup(s.Close)
	return s
}

// runConfidential runs both processes, one after the other, on servers of their own.
func runConfidential(t *testing.T, variables ...string) *desk {
	t.Helper()
	tools := ward(t)
	// The server's files are looked through.
	d := newDesk(t, patient(tools.URL)).ownServer().set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(tools.URL,
		"http://")).set(variables...)
	example, err := filepath.Abs("../examples/latent")
	if err != nil {
		t.Fatal(err)
	}
	if r := d.do("run", ".", "--id", "the-patient", "--json", noUI).is(exit.Done).result(); r.Calls.Done != 1 ||
		r.Calls.Failed != 1 {
		t.Errorf("%+v", r)
	}
	d.do("run", example, "--id", "the-letter", noUI).is(exit.Done)
	return d
}

func TestWithKeysNothingThatAProcessWorksOnStandsInTheClear(t *testing.T) {
	d := runConfidential(t, "PROCESSIDEA_KEYS="+freshKey(t, "k1"))
	data := filepath.Join(d.dir, ".processidea")
	for text, files := range found(t, data, confidential...) {
		t.Errorf("%q stands in %q", text, files)
	}
	in := found(t, data, open...)
	for _, text := range open {
		if in[text] == nil {
			t.Errorf("%q is said to stand in the clear, and does not", text)
		}
	}
	// Who has the keys sees all of it.
	d.do("show", "the-patient", "--json").is(exit.Done).holds("a large value of the start", "a large result",
		"what went wrong with Ada")
	_, server := d.dev()
	server.says("everything is encrypted with key k1: other programs need PROCESSIDEA_KEYS")
	d.do("result", "the-letter").is(exit.Done).holds("Ines Moreau", "Another one is on its way to you")
	d.do("list").is(exit.Done).holds("the-letter", "latent", "ward")
	d.do("verify", "the-patient").is(exit.Done)
	d.do("gc", "--older-than", "720h").is(exit.Done).holds("would remove 0 chains")
	d.do("run", ".", "--id", "the-patient", "--json").is(exit.Done).holds("bed-17")
	// The database at work has files of its own.
	for text, files := range found(t, data, confidential...) {
		t.Errorf("%q stands in %q", text, files)
	}
	// Who has none is told so, and writes nothing in the clear.
	for _, line := range []string{"list", "result the-letter", "show the-letter", "verify the-letter",
		"run . --id another"} {
		d.at(d.dir).set("PROCESSIDEA_KEYS=").do(strings.Fields(line)...).is(exit.Usage).quiet().
			complains("encrypted with key k1, and PROCESSIDEA_KEYS is not set")
		d.at(d.dir).set("PROCESSIDEA_KEYS="+freshKey(t, "k1")).do(strings.Fields(line)...).is(exit.Usage).quiet().
			complains("key k1", "another one")
	}
}

func TestWithoutKeysAllOfItDoes(t *testing.T) {
	d := runConfidential(t)
	in := found(t, filepath.Join(d.dir, ".processidea"), confidential...)
	for _, text := range confidential {
		if in[text] == nil {
			t.Errorf("%q is nowhere, and so would not be missed", text)
		}
	}
	// With keys from now on, what there is can still be read.
	d.set("PROCESSIDEA_KEYS="+freshKey(t, "k1")).do("show", "the-patient").is(exit.Done).holds("a large result")
	d.do("run", ".", "--id", "the-patient", "--json", noUI).is(exit.Done).holds("bed-17")
}

// What the missing key keeps from being done is done once it is there, and nothing else happens instead.
func TestAProcessWaitsForAWorkerThatHasItsKey(t *testing.T) {
	d, g := gated(t)
	// The server is started again with other keys.
	d.ownServer()
	k1, k2 := freshKey(t, "k1"), freshKey(t, "k2")
	with := func(keys string) *desk { return d.at(d.dir).set("PROCESSIDEA_KEYS=" + keys) }
	first := with(k1)
	_, p := first.dev()
	first.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	key := g.key(d)
	p.signal(syscall.SIGINT)
	p.end().is(exit.Done)

	lacking := with(k2)
	_, p = lacking.dev()
	log := filepath.Join(d.dir, ".processidea", "worker.log")
	d.eventually("the log names the missing key", func() bool {
		data, _ := os.ReadFile(log)
		return bytes.Contains(data,
			[]byte(`msg="a key is missing: processes that need it wait for a worker that has it" key=k1`))
	})
	lacking.do("list", "--json").is(exit.Done).holds(`"status":"running"`)
	p.signal(syscall.SIGINT)
	p.end().is(exit.Done)
	if data, _ := os.ReadFile(log); bytes.Count(data, []byte("a key is missing")) != 1 {
		t.Errorf("the log names it not once:\n%s", data)
	}

	both := with(k2 + "," + k1)
	both.dev()
	if again := g.key(d); again != key {
		t.Errorf("the Call came as %s, and as %s", key, again)
	}
	g.release()
	r := both.do("watch", "p", "--json").is(exit.Done).result()
	if r.Status != loop.StatusCompleted || r.Calls != (turn.CallCounts{Done: 1}) {
		t.Errorf("%+v", r)
	}
	select {
	case key := <-g.arrived:
		t.Errorf("the Call came once more, as %s", key)
	default:
	}
}
