package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"processidea/connect"
	"processidea/starter/internal/exit"
	"processidea/store/encryption"
)

func TestAFreshKeyIsOneLineThatTheProgramReads(t *testing.T) {
	d := newDesk(t, nil)
	for args, id := range map[string]string{"keys new k2": "k2", "keys new": time.Now().UTC().Format("2006")} {
		out := d.do(strings.Fields(args)...).is(exit.Done).out
		k, err := encryption.Parse(out)
		if err != nil || !strings.HasPrefix(k.Primary(), id) || strings.Count(out, "\n") != 1 {
			t.Errorf("%q: %v", out, err)
		}
	}
	var made struct{ ID, Key string }
	d.do("keys", "new", "k3", "--json").is(exit.Done).json(&made)
	if k, err := encryption.Parse(made.Key); err != nil || k.Primary() != "k3" || made.ID != "k3" {
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
		d.do("codec", "--listen", listen).is(exit.Usage).quiet().complains("reachable from other machines",
			"PROCESSIDEA_CODEC_TOKEN is not set")
	}
	d.do("codec", "--without-token").is(exit.Usage).quiet().complains("name the allowed pages with --origin")
	d.do("codec", "--origin", "*").is(exit.Usage).quiet().complains(`allow origin "*"`)
	p := d.at(d.dir).set("PROCESSIDEA_CODEC_TOKEN=t").start("codec", "--listen=0.0.0.0:0")
	p.says("the codec server is at ")
}
