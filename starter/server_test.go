package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"processidea/internal/devserver/devtest"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/server"
)

func TestOnlyOneServerRunsOnAFolder(t *testing.T) {
	// It is about the embedded server.
	d := newDesk(t, nil).ownServer()
	n, _ := d.dev()
	d.do("dev", noUI).is(exit.Usage).quiet().complains("start server in", n.Address)
}

func TestDevPrintsHowToReachItAsJSON(t *testing.T) {
	// It is about the embedded server.
	d := newDesk(t, nil).ownServer()
	p := d.start("dev", "--json", noUI, "--worker=false")
	d.eventually("the server is announced", func() bool {
		_, err := os.Stat(filepath.Join(d.dir, ".processidea", server.ServerFile))
		return err == nil
	})
	p.signal(syscall.SIGINT)
	var n server.ServerInfo
	p.end().is(exit.Done).json(&n)
	if n.Address == "" || n.Namespace != "default" || n.HasWorker || n.PID != p.cmd.Process.Pid {
		t.Errorf("%+v", n)
	}
}

func TestAServerElsewhereIsUsedByItsAddress(t *testing.T) {
	// Its address is used as a user would, with the namespace that is there.
	d := newDesk(t, nil).ownServer()
	n, _ := d.dev()
	remote := d.at(folder(t, judge())).set("TEMPORAL_ADDRESS="+n.Address, "PROCESSIDEA_STORE="+n.StorePlace)
	r := remote.do("run", ".", "--id", "p", "--json").is(exit.Done).result()
	if r.Status != loop.StatusCompleted {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(remote.dir, ".processidea")); err == nil {
		t.Error("a server of its own was started")
	}
	d.do("result", "p").is(exit.Done)
	remote.do("run", ".", "--record", "x", "--replies",
		"replies.jsonl").is(exit.Usage).quiet().complains("not in this program")
}

func TestAToolThatARemoteWorkerDoesNotKnowIsAnInvalidFile(t *testing.T) {
	// Its address is used as a user would, with the namespace that is there.
	d := newDesk(t, nil).ownServer()
	n, _ := d.dev()
	files := judge()
	files["idea.json"] = strings.Replace(judgeIdea, `"_output": {"type": "string"}`, `"_activity": "noSuchTool"`, 1)
	remote := d.at(folder(t, files)).set("TEMPORAL_ADDRESS="+n.Address, "PROCESSIDEA_STORE="+n.StorePlace)
	remote.do("run", ".", "--id", "p", "--json").is(exit.Usage).quiet().complains("$.schema.tools.judge._activity",
		"noSuchTool")
}

func TestAServerThatDoesNotAnswerIsExitCode4(t *testing.T) {
	d := newDesk(t, judge()).set("TEMPORAL_ADDRESS=127.0.0.1:1")
	for _, line := range []string{"run .", "run . --detach", "list", "result p", "watch p"} {
		d.do(strings.Fields(line)...).is(exit.Unreachable).quiet().complains("127.0.0.1:1")
	}
}

func TestTheDataFolderMayLieAnywhere(t *testing.T) {
	// Its database lies there too.
	d := newDesk(t, judge()).ownServer()
	data := filepath.Join(t.TempDir(), "a b%41?")
	d.do("run", ".", "--id", "p", noUI, "--data", data).is(exit.Done)
	d.do("show", "p", "--data", data).is(exit.Done)
	d.at(d.dir).set("PROCESSIDEA_DATA="+data).do("show", "p").is(exit.Done)
	if _, err := os.Stat(filepath.Join(d.dir, ".processidea")); err == nil {
		t.Error("the default folder was used")
	}
}

func TestAWorkerOfItsOwnRunsTheProcesses(t *testing.T) {
	// Its address is used as a user would, with the namespace that is there.
	d := newDesk(t, judge()).ownServer()
	worker := devtest.BuildProgram(t, ".", "processidea/worker")
	n, _ := d.dev("--worker=false")
	p := d.start("run", ".", "--id", "p", "--json")
	p.says("no worker serves the task queue process-idea; start a worker")

	w := exec.Command(worker)
	said := newLines()
	w.Env, w.Dir, w.Stderr = append(d.env, "TEMPORAL_ADDRESS="+n.Address, "PROCESSIDEA_STORE="+n.StorePlace,
		"PROCESSIDEA_LISTEN="), t.TempDir(), said
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	if r := p.end().is(exit.Done).result(); r.Status != loop.StatusCompleted {
		t.Errorf("%+v", r)
	}
	elsewhere := d.at(d.dir).set("TEMPORAL_ADDRESS="+n.Address, "PROCESSIDEA_STORE="+t.TempDir())
	elsewhere.do("run", ".", "--id", "q", "--detach").is(exit.Usage).complains("the worker uses another store")
	if err := w.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		t.Errorf("the worker ended with %v:\n%s", err, said)
	}

	lost := exec.Command(worker)
	lost.Env, lost.Dir = append(d.env, "TEMPORAL_ADDRESS=127.0.0.1:1", "PROCESSIDEA_LISTEN="), t.TempDir()
	out, err := lost.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "worker: reach Temporal at 127.0.0.1:1: ") {
		t.Errorf("a worker without a server ended with %v:\n%s", err, out)
	}
}

func TestAnLLMMustBeConfiguredWhereTheWorkerRuns(t *testing.T) {
	d := newDesk(t, judge())
	d.dev()
	with := d.at(d.dir).set("OPENAI_API_KEY=k")
	with.do("run", ".").is(exit.Usage).quiet().complains("the worker's program", "--replies")
	with.do("run", ".", "--replies", "replies.jsonl").is(exit.Done)
	d.do("run", ".").is(exit.Done)
}

func TestNothingIsBegunInTheEmptyFolderOfAStoreThatIsAway(t *testing.T) {
	d := newDesk(t, judge())
	store := filepath.Join(t.TempDir(), "store")
	d.set("PROCESSIDEA_STORE=" + store)
	run := []string{"run", "idea.json", "--replies", "replies.jsonl", "--id"}
	d.do(append(run, "first")...).is(0)
	if err := os.Rename(store, store+".away"); err != nil {
		t.Fatal(err)
	}
	d.do(append(run, "second")...).is(4).complains("the store is not there: "+store+" is empty",
		"is a disk not mounted?")
	if left, err := os.ReadDir(store); err != nil || len(left) > 0 {
		t.Errorf("it wrote %v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(store, "process-idea-store"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.do(append(run, "second")...).is(0) // as it was told to
}
