package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"processidea/client"
	"processidea/connect"
	"processidea/internal/devserver/devtest"
	"processidea/model/turn"
	"processidea/starter/internal/exit"
	"processidea/store/encryption"
)

func TestAFreshKeyIsOneLineThatTheProgramReads(t *testing.T) {
	d := newDesk(t, nil)
	for args, id := range map[string]string{"keys new k2": "k2", "keys new": time.Now().UTC().Format("2006")} {
		out := d.do(strings.Fields(args)...).is(exit.Done).out
		k, err := encryption.Parse(out)
		if err != nil || !strings.HasPrefix(k.PrimaryID(), id) || strings.Count(out, "\n") != 1 {
			t.Errorf("%q: %v", out, err)
		}
	}
	var made struct{ ID, Key string }
	d.do("keys", "new", "k3", "--json").is(exit.Done).json(&made)
	if k, err := encryption.Parse(made.Key); err != nil || k.PrimaryID() != "k3" || made.ID != "k3" {
		t.Errorf("%+v, %v", made, err)
	}
	d.do("keys", "new", "a:b").is(exit.Usage).quiet().complains(`make key "a:b"`)
	d.do("keys", "new", "a", "b").is(exit.Usage).quiet()
}

func TestBrokenKeysAreRefusedAndNotShown(t *testing.T) {
	d := newDesk(t, judge()).set("PROCESSIDEA_KEYS=k1:c2hvcnQgYnV0IHNlY3JldA==")
	for _, line := range []string{"run .", "dev", "codec"} {
		e := d.do(append(strings.Fields(line), "--data="+d.dir)...).is(exit.Usage).quiet()
		e.complains("parse PROCESSIDEA_KEYS: entry 1: its key has 16 bytes; it must have 32")
		if strings.Contains(e.err, "c2hvcnQ") || strings.Contains(e.err, "secret") {
			t.Error(e.err)
		}
	}
}

func TestAllThatIsWrongWithTheSettingsIsSaidBeforeAServerStarts(t *testing.T) {
	d := newDesk(t, judge()).ownServer().set("PROCESSIDEA_KEYS=k1:c2hvcnQ=", "PROCESSIDEA_HOOKS=/no/hooks",
		"PROCESSIDEA_DECIDERS=/no/deciders", "PROCESSIDEA_LLM_PAUSE=soon", "PROCESSIDEA_MEMORY_LIMIT_BYTES=x",
		"PROCESSIDEA_MCP_COMMANDS=npx x; *", "OPENAI_RPM=x", "PROCESSIDEA_MCP_APPROVALS=yes",
		"PROCESSIDEA_MCP_IDEAS=/no/ideas")
	for _, verb := range []string{"dev", "run ."} {
		e := d.do(strings.Fields(verb)...).is(exit.Usage).quiet().complains("9 settings are wrong")
		for _, name := range []string{"PROCESSIDEA_KEYS", "PROCESSIDEA_HOOKS", "PROCESSIDEA_DECIDERS",
			"PROCESSIDEA_LLM_PAUSE", "PROCESSIDEA_MEMORY_LIMIT_BYTES", "PROCESSIDEA_MCP_COMMANDS", "OPENAI_RPM",
			"PROCESSIDEA_MCP_APPROVALS", "PROCESSIDEA_MCP_IDEAS"} {
			if !strings.Contains(e.err, name) {
				t.Errorf("%s: %s is not said: %s", verb, name, e.err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(d.dir, ".processidea", "temporal.db")); err == nil {
		t.Error("a server was started")
	}
}

// The worker that has the key is gone, and the one that comes has another: everything that looks says which is missing,
// before and after somebody decides, until a worker has it.
func TestAMissingKeyIsSaidWhereverPeopleLook(t *testing.T) {
	k1, k2 := freshKey(t, "k1"), freshKey(t, "k2")
	d := newDesk(t, signed("true")).set("PROCESSIDEA_KEYS=" + k1 + "," + k2).ownServer()
	n, _ := d.dev("--worker=false")
	program := devtest.BuildProgram(t, ".", "processidea/worker")
	work := func(keys string) (log *lines, stop func()) {
		t.Helper()
		w := exec.Command(program)
		log = newLines()
		w.Env, w.Dir, w.Stderr = append(d.env, "TEMPORAL_ADDRESS="+n.Address, "PROCESSIDEA_STORE="+n.StorePlace,
			"PROCESSIDEA_LISTEN=", "PROCESSIDEA_KEYS="+keys), t.TempDir(), log
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		return log, sync.OnceFunc(func() {
			_ = w.Process.Signal(syscall.SIGTERM)
			_ = w.Wait()
		})
	}
	_, stop := work(k1)
	t.Cleanup(stop)
	list := d.signable("p", 3)
	stop()
	log, stop := work(k2)
	t.Cleanup(stop)
	said := func(when string) {
		t.Helper()
		for what, look := range map[string]func() string{
			"list":   func() string { return d.do("list").out },
			"show":   func() string { e := d.do("show", "p"); return e.out + e.err },
			"result": func() string { e := d.do("result", "p"); return e.out + e.err },
			"desk":   func() string { return d.page(n.GatewayURL, "/desk/processes/p") },
			"API":    func() string { return d.page(n.GatewayURL, "/api/processes/p") },
		} {
			text := ""
			d.eventually(what+" says it "+when, func() bool {
				text = look()
				return strings.Contains(text, "cannot decrypt") && strings.Contains(text, "key k1")
			})
		}
	}
	said("while nothing happens")
	if _, ok := log.wait("a key is missing"); !ok {
		t.Errorf("the log does not say it: %s", log)
	}
	d.start("approve", "p", list[0].CallID)
	d.eventually("the decision waits", func() bool {
		var listed []client.ProcessSummary
		d.do("list", "--json").is(exit.Done).json(&listed)
		return len(listed) == 1 && len(listed[0].HoldUps) == 1 && listed[0].HoldUps[0].CauseCode == turn.CodeKeysMissing
	})
	said("while a decision waits")
	stop()
	_, stop = work(k2 + "," + k1)
	t.Cleanup(stop)
	d.eventually("it goes on", func() bool {
		var listed []client.ProcessSummary
		d.do("list", "--json").is(exit.Done).json(&listed)
		return len(listed) == 1 && len(listed[0].HoldUps) == 0 && listed[0].AwaitingCount == 2
	})
}

func TestTheCodecServerOfTheProgramShowsWhatIsEncrypted(t *testing.T) {
	entry := freshKey(t, "k1")
	d := newDesk(t, nil).set("PROCESSIDEA_KEYS=" + entry)
	p := d.start("codec", "--listen=127.0.0.1:0", "--origin=https://temporal.example.com")
	_, endpoint, _ := strings.Cut(p.says("the codec server is at "), "the codec server is at ")
	keys, err := encryption.Parse(entry)
	if err != nil {
		t.Fatal(err)
	}
	payloads, err := connect.DataConverter(keys).ToPayloads("what a process works on")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := json.Marshal(payloads)
	for origin, want := range map[string]int{"https://temporal.example.com": 200, "http://localhost:8233": 403} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint+"/decode", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		// "what a process works on" in base64, as JSON holds bytes, begins with its quotation mark.
		if shown := strings.Contains(string(answer), "IndoYXQgYSBwcm9jZXNzIHdvcmtzIG9uI"); resp.StatusCode != want ||
			shown != (want == 200) {
			t.Errorf("%s: %d %s", origin, resp.StatusCode, answer)
		}
	}
}

func TestTheCodecServerIsNotServedBeyondThisMachineToJustAnybody(t *testing.T) {
	d := newDesk(t, nil)
	for _, listen := range []string{":0", "0.0.0.0:0", "[::]:0", "example.org:0"} {
		d.do("codec", "--listen", listen).is(exit.Usage).quiet().complains("other machines can reach it",
			"PROCESSIDEA_CODEC_TOKEN is not set")
	}
	d.do("codec", "--without-token").is(exit.Usage).quiet().complains("name the allowed pages with --origin")
	d.do("codec", "--origin", "*").is(exit.Usage).quiet().complains(`allow origin "*"`)
	p := d.at(d.dir).set("PROCESSIDEA_CODEC_TOKEN=t").start("codec", "--listen=0.0.0.0:0")
	p.says("the codec server is at ")
}
