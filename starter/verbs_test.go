package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
	"processidea/store/chain"
)

func TestTheVerbsLookAtProcessesOnARunningServer(t *testing.T) {
	files := judge()
	d := newDesk(t, files)
	_, dev := d.dev()
	first := d.do("run", ".", "--id", "p", "--json").is(exit.Done)

	t.Log("list")
	var list []client.ProcessSummary
	d.eventually("the list says that the process is completed", func() bool {
		d.do("list", "--json").is(exit.Done).json(&list)
		return len(list) == 1 && list[0].Status == loop.StatusCompleted
	})
	if l := list[0]; l.ProcessID != "p" || l.ProcessPath != "moderation" || l.IdeaVersion != "7" || l.EndedAt == nil ||
		l.EndedAt.Before(l.StartedAt) {
		t.Errorf("%+v", l)
	}
	if e := d.do("list").is(exit.Done); !strings.Contains(e.out, "p        completed  ") {
		t.Error(e.out)
	}

	t.Log("result, watch")
	want(t, d.do("result", "p", "--json").is(exit.Done).out, first.out)
	want(t, d.do("watch", "p", "--json").is(exit.Done).out, first.out)

	t.Log("show")
	var idea map[string]any
	d.do("show", "p", "--json").is(exit.Done).json(&idea)
	if at := idea["meta"].(map[string]any)["at"]; string(jsonval.Encode(at)) != "2" {
		t.Errorf("the latest Idea is %s", jsonval.Encode(at))
	}
	for _, at := range []string{"1", "2"} {
		text := d.do("show", "p", "--at", at).is(exit.Done).out
		if _, problems := ideafile.ParseIdea([]byte(text)); len(problems.Errors()) > 0 {
			t.Errorf("Idea %s is no file that run accepts: %v", at, problems)
		}
		again := filepath.Join(d.dir, "again"+at+".json")
		if err := os.WriteFile(again, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d.do("check", again).is(exit.Done)
	}
	d.do("show", "p", "--at", "3").is(exit.Usage).quiet().complains("show Idea 3 of p: there are 2")

	t.Log("history, diff, blame, verify, gc")
	var links []chain.Link
	d.do("history", "p", "--json").is(exit.Done).json(&links)
	if len(links) != 2 || links[0].Request != 1 || links[1].ParentDigest != links[0].Digest {
		t.Errorf("%+v", links)
	}
	if e := d.do("diff", "p", "1", "2").is(exit.Done); !strings.Contains(e.out, "①\n  + †state.mood  \"strong\"\n") {
		t.Error(e.out)
	}
	d.do("blame", "p", "①:mood").is(exit.Done)
	d.do("verify", "p").is(exit.Done)
	if e := d.do("gc", "--older-than", "720h").is(exit.Done); !strings.HasPrefix(e.out, "would remove 0 chains ") {
		t.Error(e.out)
	}

	t.Log("graph")
	if e := d.do("graph", "p").is(exit.Done); !strings.Contains(e.out, "flowchart") ||
		!strings.Contains(e.out, "judge") {
		t.Error(e.out)
	}
	if e := d.do("graph", "p", "--format", "dot").is(exit.Done); !strings.Contains(e.out, "digraph") {
		t.Error(e.out)
	}

	t.Log("unknown ids")
	for _, verb := range []string{"result", "watch", "show", "graph"} {
		d.do(verb, "no-such-process").is(exit.Usage).quiet().complains("no-such-process")
	}
	d.do("result", "p/1").is(exit.Usage).quiet().complains("it is not a process, but an instance of p")

	dev.signal(syscall.SIGTERM)
	dev.end().is(exit.Done).quiet()
	d.do("list").is(exit.Unreachable).quiet().complains(filepath.Join(d.dir, ".processidea"), "starter dev",
		"TEMPORAL_ADDRESS")
	t.Log("the chain can be read without a server")
	d.do("show", "p").is(exit.Done)
}

func TestADetachedProcessIsFollowedLater(t *testing.T) {
	d, g := gated(t)
	d.do("run", ".", "--id", "p", "--detach").is(exit.Usage).quiet().complains("no server runs in", "starter dev")
	d.dev()
	e := d.do("run", ".", "--id", "p", "--detach", "--json").is(exit.Done)
	if r := e.result(); r.Status != loop.StatusRunning || r.Instances[""].Status != ideafile.InstanceWorking ||
		r.ProcessID != "p" {
		t.Errorf("%+v", r)
	}
	g.key(d)
	r := d.do("result", "p", "--json").is(exit.Done).result()
	if r.Status != loop.StatusRunning || string(jsonval.Encode(r.Instances[""].State)) != `{"n":1}` {
		t.Errorf("%+v", r)
	}
	watcher := d.start("watch", "p", "--json")
	watcher.says("p: running")
	g.release()
	if r := watcher.end().is(exit.Done).result(); r.Status != loop.StatusCompleted {
		t.Errorf("%+v", r)
	}
	if r := d.do("run", ".", "--id", "p", "--detach",
		"--json").is(exit.Done).result(); r.Status != loop.StatusCompleted {
		t.Errorf("attached to an ended process: %+v", r)
	}
}

func TestAPausedProcessIsSeenAsPaused(t *testing.T) {
	files := judge()
	files["replies.jsonl"] = strings.Repeat(`{"raw": "no"}`+"\n", 3)
	d := newDesk(t, files)
	d.dev()
	d.do("run", ".", "--id", "p").is(exit.Paused)
	d.do("run", ".", "--id", "p").is(exit.Paused).complains("attach to p")
	if e := d.do("result", "p").is(exit.Paused); !strings.Contains(e.out, "p: paused · ") ||
		!strings.Contains(e.out, "bad_replies: ") {
		t.Error(e.out)
	}
	if r := d.do("watch", "p", "--wait", "1s", "--json").is(exit.Paused).result(); r.Status != loop.StatusPaused {
		t.Errorf("%+v", r)
	}
	var list []client.ProcessSummary
	d.eventually("the list says that the process is paused", func() bool {
		d.do("list", "--json").is(exit.Done).json(&list)
		return len(list) == 1 && list[0].Status == loop.StatusPaused
	})
}

func TestAProcessThatSomebodyEndsIsCancelled(t *testing.T) {
	d, g := gated(t)
	n, _ := d.dev()
	c, err := sdk.Dial(sdk.Options{HostPort: n.Address, Namespace: n.Namespace,
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for id, end := range map[string]func() error{
		"cancelled":  func() error { return c.CancelWorkflow(t.Context(), "cancelled", "") },
		"terminated": func() error { return c.TerminateWorkflow(t.Context(), "terminated", "", "enough") },
	} {
		p := d.start("run", ".", "--id", id, "--json")
		g.key(d)
		if err := end(); err != nil {
			t.Fatal(err)
		}
		r := p.end().is(exit.Failed).result()
		if r.Status != loop.StatusCancelled || r.ProcessID != id {
			t.Errorf("%s: %+v", id, r)
		}
		if state := r.Instances[""].State; id == "cancelled" && string(jsonval.Encode(state)) != `{"n":1}` {
			t.Errorf("the State is %s", jsonval.Encode(state))
		}
		if e := d.do("result", id).is(exit.Failed); !strings.HasPrefix(e.out, id+": cancelled · ") {
			t.Error(e.out)
		}
	}
}

func TestAnIDMayHoldAnyASCIICharacterButASlash(t *testing.T) {
	d := newDesk(t, judge())
	d.dev()
	const id = "a b1%41?#e"
	first := d.do("run", ".", "--id", id, "--json").is(exit.Done)
	want(t, d.do("result", id, "--json").is(exit.Done).out, first.out)
	d.do("show", id).is(exit.Done)
}
