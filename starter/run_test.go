package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"processidea/client"
	"processidea/internal/rehearsal"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/starter/internal/exit"
)

const noUI = "--ui-port=-1"

func TestRunPrintsTheResultAloneOnStandardOutput(t *testing.T) {
	// Its server has a UI.
	d := newDesk(t, judge()).ownServer()
	e := d.do("run", ".", "--id", "p", "--json").is(exit.Done)
	want(t, e.out, `{"process":"p","status":"completed","output":{"summary":"two <b> & strong ones"},"instances":{`+
		`"①":{"status":"settled","state":{"mood":"strong","n":12345678901234567890,"text":"This is wonderful!"}},`+
		`"②":{"status":"settled","state":{"mood":"strong","text":"This is terrible."}}},`+
		`"ideas":2,"requests":2,"calls":{"done":2,"failed":0,"rejected":0,"skipped":0,"blocked":0},"failures":[],`+
		e.out[strings.Index(e.out, `"usage"`):])
	if r := e.result(); r.Usage.PromptTokens == 0 || r.Usage.CompletionTokens == 0 || r.Error != nil {
		t.Errorf("usage %+v, error %v", r.Usage, r.Error)
	}
	e.complains("a script answers", "replies.jsonl").complains("run p: see http://127.0.0.1:")
	if !strings.Contains(e.err, "p: running · ") {
		t.Errorf("no progress: %s", e.err)
	}
}

func TestRunPrintsATableForPeople(t *testing.T) {
	d := newDesk(t, judge())
	e := d.do("run", ".", "--id", "p", noUI).is(exit.Done)
	if !strings.HasPrefix(e.out, "p: completed · 2 Ideas · 2 Requests · calls: 2 done · tokens: ") {
		t.Error(e.out)
	}
	want(t, e.out[strings.Index(e.out, "\n"):], `

output
{
  "summary": "two <b> & strong ones"
}

instance  status   mood    n                     text
①         settled  strong  12345678901234567890  This is wonderful!
②         settled  strong                        This is terrible.
`)
}

func TestAnInvalidFileStartsNothing(t *testing.T) {
	d := newDesk(t, map[string]string{"a.json": `{"contxt": [], "schema": {"tools": {"t": {"type": "object", "properties": {}, "_activity": "none"}}},
		"context": [{"type": "note"}]}`, "replies.jsonl": "{}"})
	d.do("run", "a.json", "--replies", "replies.jsonl", "--json").is(exit.Usage).quiet().
		complains("check a.json: $.contxt: ").complains("check a.json: $.schema.tools.t._activity: ").
		complains("check a.json: $.context[0].type: ").complains("check a.json: replies.jsonl: line 1")
	if _, err := os.Stat(filepath.Join(d.dir, ".processidea")); err == nil {
		t.Error("something was started")
	}
}

func TestWithoutAnLLMAndWithoutRepliesNothingStarts(t *testing.T) {
	d := newDesk(t, map[string]string{"a.json": judgeIdea}).set("OPENAI_API_KEY=", "OPENAI_BASE_URL=")
	d.do("run", "a.json").is(exit.Usage).quiet().complains("OPENAI_API_KEY", "OPENAI_BASE_URL", "--replies")
}

func TestAProcessThatFailsIsExitCode1(t *testing.T) {
	d := newDesk(t, map[string]string{
		"idea.json":     `{"context": [{"type": "state", "state": {"a": 1}, "schema": {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}}]}`,
		"replies.jsonl": strings.Repeat(nothingMore+"\n", 4),
	})
	r := d.do("run", ".", noUI, "--json").is(exit.Failed).result()
	if r.Status != loop.StatusFailed || r.Error.Code != turn.CodeMissingRequired ||
		r.Instances[""].Status != ideafile.InstanceFailed || r.Instances[""].State == nil {
		t.Errorf("%+v", r)
	}
}

func TestAProcessThatPausesIsExitCode3WithItsStates(t *testing.T) {
	files := judge()
	files["replies.jsonl"] = strings.Repeat(`{"raw": "no"}`+"\n", 3)
	d := newDesk(t, files)
	r := d.do("run", ".", noUI, "--json").is(exit.Paused).result()
	state, _ := r.Instances["①"].State.(map[string]any)
	if r.Status != loop.StatusPaused || r.Error.Code != turn.CodeBadReplies || state["text"] != "This is wonderful!" {
		t.Errorf("%+v", r)
	}
}

func TestAnLLMThatCannotBeReachedIsExitCode4(t *testing.T) {
	d := newDesk(t, judge()).set("OPENAI_BASE_URL=http://127.0.0.1:1/v1")
	e := d.do("run", ".", noUI, "--json", "--llm-wait", "1s").is(exit.Unreachable)
	if r := e.result(); r.Status != loop.StatusRunning || len(r.HoldUps) != 1 ||
		r.HoldUps[0].CauseCode != turn.CodeLLMUnreachable || !r.HoldUps[0].HasNeverWorked {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(e.err, "held up since ") || !strings.Contains(e.err, "127.0.0.1:1 cannot be reached") {
		t.Errorf("it does not name the server: %s", e.err)
	}
	if strings.Contains(e.err, "script") {
		t.Errorf("an LLM is configured, and yet: %s", e.err)
	}
}

// What reads the store alone would say nothing of a process that stands still.
func TestWhatReadsTheStoreSaysWhatHoldsAProcessUpWhereAServerTells(t *testing.T) {
	d := newDesk(t, judge()).set("OPENAI_BASE_URL=http://127.0.0.1:1/v1")
	_, dev := d.dev()
	d.do("run", ".", "--id", "p", "--detach").is(exit.Done)
	const why = "p: held up since "
	d.eventually("show says so", func() bool { return strings.Contains(d.do("show", "p").err, why) })
	for _, verb := range []string{"history", "decisions"} {
		if e := d.do(verb, "p"); !strings.Contains(e.err, why) || !strings.Contains(e.err, "once the server answers") {
			t.Errorf("%s: %s", verb, e.err)
		}
	}
	d.do("history", "p").is(exit.Done).tells("no Idea yet")
	if e := d.do("history", "p", "--json").is(exit.Done); strings.TrimSpace(e.out) != "[]" {
		t.Errorf("its Ideas are %s", e.out)
	}
	if e := d.do("show", "p", "--json"); strings.Contains(e.err, why) {
		t.Errorf("a program is told: %s", e.err)
	}
	dev.signal(syscall.SIGTERM)
	dev.end()
	d.do("history", "p").is(exit.Usage)
	if e := d.do("show", "p"); strings.Contains(e.err, why) || strings.Contains(e.err, "none runs there") {
		t.Errorf("without a server: %s", e.err)
	}
}

func TestWithAnLLMTheFoldersRepliesAreNotUsedAndItsWordsCanBeRecorded(t *testing.T) {
	files := judge()
	replies, err := rehearsal.Parse([]byte(files["replies.jsonl"]))
	if err != nil {
		t.Fatal(err)
	}
	llm, err := rehearsal.Start(replies)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(llm.Close)
	files["replies.jsonl"] = `{"raw": "never said"}`
	d := newDesk(t, files)
	with := d.at(d.dir).set("OPENAI_BASE_URL=" + llm.URL())
	first := with.do("run", ".", "--id", "a", noUI, "--json", "--record", "said.jsonl").is(exit.Done).result()
	if n := len(llm.Requests()); n != 2 {
		t.Errorf("the LLM was asked %d times", n)
	}
	e := d.do("run", ".", "--id", "b", noUI, "--json", "--replies", "said.jsonl").is(exit.Done)
	second := e.result()
	if !jsonval.Equal(jsonval.ToJSONValue(first.Output), jsonval.ToJSONValue(second.Output)) ||
		!jsonval.Equal(jsonval.ToJSONValue(first.Instances), jsonval.ToJSONValue(second.Instances)) {
		t.Errorf("recorded:\n%+v\nplayed:\n%+v", first, second)
	}
	e.complains("a script answers", "said.jsonl")
	with.do("run", ".", "--replies", "said.jsonl", "--record", "x").is(exit.Usage).quiet()
}

func TestTheSameIDAndFileAttachAndAnotherFileIsRefused(t *testing.T) {
	d := newDesk(t, judge())
	first := d.do("run", ".", "--id", "p", noUI, "--json").is(exit.Done)
	second := d.do("run", ".", "--id", "p", noUI, "--json").is(exit.Done)
	second.complains("attach to p")
	want(t, second.out, first.out)
	other := strings.Replace(judgeIdea, "every comment", "each comment", 1)
	if err := os.WriteFile(filepath.Join(d.dir, "idea.json"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("run", ".", "--id", "p", noUI, "--json").is(exit.Usage).quiet().complains("run . as p", "another file", "another --id",
		"fork p --at K")
}

func TestAKilledRunGoesOnUnderItsID(t *testing.T) {
	d, g := gated(t)
	// The server is killed with the program, and its file is all that is left.
	d.ownServer()
	first := d.start("run", ".", "--id", "p", noUI, "--json")
	key := g.key(d)
	first.signal(syscall.SIGKILL)
	first.end().quiet()
	// What it left leads nobody astray.
	d.do("result", "p").is(exit.Unreachable).quiet().complains(filepath.Join(d.dir, ".processidea"))
	g.release()
	r := d.do("run", ".", "--id", "p", noUI, "--json").is(exit.Done)
	r.complains("attach to p")
	want(t, g.key(d), key)
	want(t, string(jsonval.Encode(r.result().Instances[""].State)), `{"n":1,"passed":{"through":true}}`)
}

func TestAnInterruptedRunIsLeftAsItIsAndSaysHowToGoOn(t *testing.T) {
	d, g := gated(t)
	// The server ends with the program, and goes on from its file.
	d.ownServer()
	first := d.start("run", ".", "--ui-port", "-1")
	g.key(d)
	first.signal(syscall.SIGINT)
	e := first.end().is(exit.Interrupted).quiet().complains("as it is; to continue: starter run . --ui-port -1 --id ")
	id := e.err[strings.LastIndex(e.err, "--id ")+len("--id "):]
	g.release()
	d.do("run", ".", noUI, "--id", strings.TrimSpace(id)).is(exit.Done).complains("attach to ")
}

func TestACallThatEndsWhileAnInterruptedRunDrainsIsNotRunAgain(t *testing.T) {
	d, g := gated(t)
	// The server must outlive the worker that drains.
	d.ownServer()
	first := d.start("run", ".", "--id", "p", noUI)
	g.key(d)
	first.signal(syscall.SIGINT)
	first.says("p stays as it is")
	g.release()
	first.end().is(exit.Interrupted)
	d.do("run", ".", "--id", "p", noUI).is(exit.Done)
	if n := len(g.arrived); n != 0 {
		t.Errorf("it was run again, %d times", n)
	}
}

func TestAtTheEndOfTheWaitTheProcessIsStillRunning(t *testing.T) {
	d, g := gated(t)
	r := d.do("run", ".", noUI, "--json", "--wait", "1s").is(exit.Done).result()
	if r.Status != loop.StatusRunning || r.Instances[""].Status != ideafile.InstanceWorking {
		t.Errorf("%+v", r)
	}
	g.key(d)
}

func TestTwoFoldersNeverMeet(t *testing.T) {
	d, g := gated(t)
	// Two servers run at once.
	d.ownServer()
	other := d.at(folder(t, g.files()))
	first, second := d.start("run", ".", "--id", "p", noUI, "--json"),
		other.start("run", ".", "--id", "p", noUI, "--json")
	g.key(d)
	g.key(d)
	g.release()
	for _, p := range []*program{first, second} {
		e := p.end().is(exit.Done)
		e.complains("run p")
		if strings.Contains(e.err, "attach") {
			t.Errorf("they met: %s", e.err)
		}
	}
}

func TestTwoRunsInOneFolderShareAServerAndTheSecondGoesOnWhenTheFirstEnds(t *testing.T) {
	d, g := gated(t)
	// The server ends with the first, and the second starts it again.
	d.ownServer()
	free := newGate(t)
	d.set("PROCESSIDEA_HTTP_ALLOW=" + g.host() + "," + free.host())
	files := free.files()
	if err := os.WriteFile(filepath.Join(d.dir, "free.json"), []byte(files["idea.json"]), 0o600); err != nil {
		t.Fatal(err)
	}
	first := d.start("run", "free.json", "--replies", "replies.jsonl", "--id", "first", noUI, "--json")
	free.key(d)
	second := d.start("run", ".", "--id", "second", noUI, "--json")
	g.key(d)
	free.release()
	first.end().is(exit.Done)
	second.says("the program that ran the server has ended; second goes on here")
	g.release()
	second.end().is(exit.Done)
}

func TestLargeValuesGoThroughWhole(t *testing.T) {
	large := strings.Repeat("①<&>\"", 40_000)
	files := map[string]string{
		"idea.json": `{"schema": {"tools": {"keep": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
			"additionalProperties": false, "_output": {"type": "string"}}}},
			"context": [{"type": "state", "text": ` + string(jsonval.Encode(large)) + `, "looks": {"†blob": {"digest": "none"}}}]}`,
		"replies.jsonl": `{"solution": {"calls": [{"_tool": "keep", "text": "†state.text", "_outputPath": "kept", "_output": "yes"}], "output": null}}` + "\n" + nothingMore,
	}
	d := newDesk(t, files)
	e := d.do("run", ".", "--id", "p", noUI, "--json").is(exit.Done)
	state, _ := e.result().Instances[""].State.(map[string]any)
	if state["text"] != large || string(jsonval.Encode(state["looks"])) != `{"†blob":{"digest":"none"}}` ||
		state["kept"] != "yes" {
		t.Errorf("the State is %.300s", jsonval.Encode(state))
	}
	var idea map[string]any
	d.do("show", "p", "--json").is(exit.Done).json(&idea)
	if text := string(jsonval.Encode(idea)); !strings.Contains(text, string(jsonval.Encode(large))) ||
		!strings.Contains(text, `{"†blob":{"digest":"none"}}`) {
		t.Errorf("the Idea lacks the value: %.300s", text)
	}
}

func TestRowsAreInstances(t *testing.T) {
	files := judge()
	files["idea.json"] = strings.Replace(strings.Replace(judgeIdea, `"type": "state", "_instance": "①", `,
		`"type": "state", "_instance": "②", `, 1),
		`{"type": "state", "_instance": "②", "text": "This is terrible."}`,
		`{"type": "input", "schema": {"properties": {"n": {"type": "integer"}}}}`, 1)
	files["instances.csv"] = "n,note\n1,one\n2,two\n"
	files["replies.jsonl"] =
		`{"solution": {"calls": [{"_tool": "judge", "_instance": "*", "text": "†input.note || †state.text", "_outputPath": "mood", "_output": "x"}], "output": null}}` + "\n" +
			`{"solution": {"calls": [], "output": {"summary": "s"}}}`
	files["replies.jsonl"] = strings.Replace(files["replies.jsonl"], "†input.note || †state.text", "fixed", 1)
	d := newDesk(t, files)
	r := d.do("run", ".", noUI, "--json").is(exit.Done).result()
	if len(r.Instances) != 3 || r.Instances["①"].State == nil || r.Instances["③"].State == nil {
		t.Errorf("the instances are %+v", r.Instances)
	}
}

func TestAPlanThatRunsWithoutARequestNeedsNoLLM(t *testing.T) {
	plan := `{"schema": {"tools": {"analyzeSentiment": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}},
		"context": [{"type": "state", "text": "This is wonderful!"}, {"type": "plan", "stage": "complete", "plan": [
			{"_tool": "analyzeSentiment", "text": "†state.text", "_outputPath": "mood"}], "output": {"mood": "†state.mood || †state.text"}}]}`
	d := newDesk(t, map[string]string{"good.json": plan,
		"latent.json": strings.ReplaceAll(plan, "analyzeSentiment", "muse"),
		"guide.json":  strings.ReplaceAll(plan, `"stage": "complete", `, "")})
	e := d.do("run", "good.json", "--id", "p", "--json",
		noUI).is(exit.Done).complains("no LLM is configured: the Plan runs without one")
	if r := e.result(); r.RequestCount != 0 || r.IdeaCount != 2 || r.Calls.Done != 1 ||
		string(jsonval.Encode(r.Output)) == "null" {
		t.Errorf("%+v", r)
	}
	d.do("run", "latent.json", "--json",
		noUI).is(exit.Usage).complains("$.context[1].plan[0]: the LLM would have to write the Call's result")
	d.do("run", "guide.json", "--json", noUI).is(exit.Usage).complains("no LLM is configured")
}

// Where a host is not allowed, no other Plan helps: it pauses at once, and says what to set.
func TestAnExampleWhoseToolsMayNotBeReachedPausesWithTheReasonAfterOneRequest(t *testing.T) {
	diamond, err := filepath.Abs("../examples/diamond")
	if err != nil {
		t.Fatal(err)
	}
	for name, tell := range map[string]func(*desk) ended{
		"as JSON":       func(d *desk) ended { return d.do("run", diamond, "--id", "d", "--json") },
		"piped":         func(d *desk) ended { return d.do("run", diamond, "--id", "d") },
		"at a terminal": func(d *desk) ended { return d.set("TERM=xterm").atTerminal("run", diamond, "--id", "d") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, nil)
			e := tell(d).is(exit.Paused)
			if said := e.out + e.err; !strings.Contains(said, "PROCESSIDEA_HTTP_ALLOW") ||
				!strings.Contains(said, "127.0.0.1:8765") {
				t.Errorf("it does not say why: %s", said)
			}
			d.dev()
			if r := d.do("result", "d", "--json").is(exit.Paused).result(); r.RequestCount > 1 || r.Error == nil ||
				r.Error.Code != ideafile.CodeToolAccessDenied {
				t.Errorf("after %d Requests: %+v", r.RequestCount, r.Error)
			}
		})
	}
}

// atTerminal calls the program at a terminal, where standard error is drawn on the same screen as standard output.
func (d *desk) atTerminal(args ...string) ended {
	d.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Dir, c.Env = d.dir, d.env
	tty, err := pty.Start(c)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	shown, _ := io.ReadAll(tty) // it ends with an error when the program has ended
	_ = c.Wait()
	return ended{d.T, strings.Join(args, " "), string(shown), "", c.ProcessState.ExitCode()}
}

func TestTheListSaysWhatAProcessIsAsking(t *testing.T) {
	d := newDesk(t, map[string]string{"idea.json": judgeIdea,
		"replies.jsonl": `{"ttft_ms": 600000, "solution": {"calls": []}}`})
	d.dev()
	d.do("run", "idea.json", "--id", "asks", "--replies", "replies.jsonl", "--detach").is(exit.Done)
	d.eventually("it asks the LLM", func() bool {
		var list []client.ProcessSummary
		d.do("list", "--json").is(exit.Done).json(&list)
		return len(list) == 1 && len(list[0].WaitingTexts) == 1 &&
			list[0].WaitingTexts[0] == "asking the LLM: Request 1: ask for a Plan for 2 instances"
	})
}
