package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
)

// forget takes everything away that Temporal knew, and leaves the store.
func (d *desk) forget() {
	d.Helper()
	data := filepath.Join(d.dir, ".processidea")
	entries, err := os.ReadDir(data)
	if err != nil {
		d.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "store" {
			if err := os.RemoveAll(filepath.Join(data, e.Name())); err != nil {
				d.Fatal(err)
			}
		}
	}
}

func TestAProcessThatTemporalHasForgottenCanBeReadForkedAndRunAgain(t *testing.T) {
	c := newCounter(t)
	// The server's file is removed.
	d := newDesk(t, c.batch()).ownServer().set("PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(c.URL, "http://"))
	_, dev := d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	d.do("approve", "p", d.asked("p").CallID).is(exit.Done)
	whole := d.do("watch", "p", "--json").is(exit.Done).result()
	dev.signal(syscall.SIGTERM)
	dev.end()
	d.forget()

	var links []struct {
		At     int
		Digest string
	}
	d.do("history", "p", "--json").is(exit.Done).json(&links)
	if len(links) != whole.IdeaCount {
		t.Fatalf("%d Ideas are left of %d", len(links), whole.IdeaCount)
	}
	d.do("diff", "p", "1", "2").is(exit.Done)
	if e := d.do("blame", "p", "②:signed").is(exit.Done); !strings.Contains(e.out, "call 1.3@② of Request 1: sign") {
		t.Error(e.out)
	}
	d.do("verify", "p").is(exit.Done)
	d.do("export", "p", "-o", "p.jsonl").is(exit.Done)
	d.do("verify", "p.jsonl").is(exit.Done)
	d.do("gc", "--older-than", "720h", "--store-only").is(exit.Done)

	d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Usage).quiet().complains("that Temporal does not know",
		"another id", fmt.Sprintf("starter fork p --at %d", whole.IdeaCount), "starter gc")
	for _, l := range links {
		file, at := fmt.Sprintf("%d.json", l.At), fmt.Sprint(l.At)
		idea := d.do("show", "p", "--at", at).is(exit.Done).out
		if err := os.WriteFile(filepath.Join(d.dir, file), []byte(idea), 0o600); err != nil {
			t.Fatal(err)
		}
		d.end("run", file, "--id", "again-"+at)
		d.end("fork", "p", "--at", at, "--id", "fork-"+at)
	}
	d.do("fork", "p", "--at", "1", "--id", "p", "--replies",
		"more.jsonl").is(exit.Usage).complains("that Temporal does not know")
	d.do("verify", "p").is(exit.Done)
}

// end starts a process that settles by the next Requests, and sees it to its end: who is asked approves.
func (d *desk) end(args ...string) {
	d.Helper()
	id := args[len(args)-1]
	d.do(append(args, "--replies", "more.jsonl", "--detach")...).is(exit.Done)
	var r loop.ProcessResult
	d.eventually("it ends", func() bool {
		r = d.do("result", id, "--json").result()
		for token, i := range r.Instances {
			if i.Status == ideafile.InstanceWaiting {
				d.do("approve", id, "1.3@"+token)
			}
		}
		return r.Status != loop.StatusRunning
	})
	if large, _ := r.Instances["②"].State.(map[string]any)["large"].(string); r.Status != loop.StatusCompleted ||
		len(large) < jsonval.LargeValueBytes {
		d.Errorf("%s: %.300s", args, jsonval.Encode(jsonval.ToJSONValue(r)))
	}
	d.do("verify", id).is(exit.Done)
}
