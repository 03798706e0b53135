package workflows_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/chain"
)

// moods is the answer of an LLM that judges instances, from 1.
func moods(tool string, of ...string) string {
	var calls []string
	for n, mood := range of {
		calls = append(calls, fmt.Sprintf(`{"_tool": %q, "_instance": "%d", "text": "†state.text", "_output": %q, "_outputPath": "mood"}`,
			tool, n+1, mood))
	}
	return `{"solution": {"calls": [` + strings.Join(calls, ",") + `]}}`
}

const judge = `"judge": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
	"_output": {"type": "string", "enum": ["good", "bad"]}}`

const moodGoal = `{"type": "state", "schema": {"type": "object", "required": ["mood"]}, "state": {}}`

func judged(config string, more ...string) string {
	return `{"config": {` + config + `}, "schema": {"tools": {` + judge + strings.Join(more, "") + `}}, "context": [` + moodGoal + `, ` + rows(1, 4) + `]}`
}

// What was asked twice is compared, counted apart, and kept as evidence; no limit counts it.
func TestAnswersAreAskedForTwice(t *testing.T) {
	t.Parallel()
	s := newScenario(t, judged(`"quality": {"recheck": 1}, "limits": {"requests": 1}`),
		moods("judge", "good", "good", "bad", "bad"), moods("judge", "good", "bad", "bad", "bad"))
	r := s.finish()
	q := r.Quality
	if r.Status != loop.StatusCompleted || r.RequestCount != 1 || q == nil {
		t.Fatalf("%s, %d Requests, %s", r.Status, r.RequestCount, asJSON(q))
	}
	if q.RecheckedCount != 4 || q.DifferedCount != 1 || q.RequestSize.Initial != 25 || q.Usage.PromptTokens == 0 ||
		q.Usage.CompletionTokens > r.Usage.CompletionTokens ||
		asJSON(q.ByInstancePosition) != `[{"differed":1,"from":1,"rechecked":4,"to":25}]` {
		t.Errorf("%s beside %s", asJSON(q), asJSON(r.Usage))
	}
	if got := asJSON(r.Instances["2"].State); got != `{"mood":"good","text":"t2"}` {
		t.Errorf("the second answer has run: %s", got)
	}
	log := s.rechecked()
	if c := log["2"]; len(log) != 4 || !c.HasDiffered || log["1"].HasDiffered ||
		asJSON(c.FirstCalls) == asJSON(c.SecondCalls) || c.RequestNumber != 1 {
		t.Errorf("the chain keeps %s", asJSON(log))
	}
	first, second := s.prompt(1), s.prompt(2)
	if first == second || !strings.Contains(second, "t4") {
		t.Errorf("the second prompt is\n%s", second)
	}
	if err := replay(t, store, history(t, s.id)); err != nil {
		t.Error(err)
	}
}

// The seed is in the Idea: a fork makes the Request again with its instances in the same order.
func TestAForkAsksInTheOrderOfItsOrigin(t *testing.T) {
	t.Parallel()
	answer := moods("judge", "good", "good", "bad", "bad")
	s := newScenario(t, judged(``), answer)
	s.finish()
	fork := newScenario(t, judged(``), answer)
	fork.id, fork.idea = s.id+"-fork", chain.ForkedIdea(s.sealed(1))
	fork.finish()
	order := func(s *scenario) string { return strings.Join(shownState.FindAllString(s.prompt(1), -1), "") }
	if got, want := order(fork), order(s); got != want || strings.Count(got, "text") != 4 {
		t.Errorf("it asks in the order %s, not %s", got, want)
	}
}

// shownState is the beginning of an instance's State in a prompt.
var shownState = regexp.MustCompile(`(?m)^\d: \{"text"`)

// rechecked reads what the chain keeps of rechecks, by instance.
func (s *scenario) rechecked() map[string]turn.AnswerComparison {
	s.t.Helper()
	kept, c := map[string]turn.AnswerComparison{}, chain.New(store)
	for at := 1; ; at++ {
		log, err := c.LogWithHandlesAt(s.t.Context(), s.id, at)
		if err != nil {
			return kept
		}
		for _, e := range log {
			if e.Recheck != nil {
				kept[e.InstanceToken] = *e.Recheck
			}
		}
	}
}

// Whatever becomes of a recheck, the process goes on, and knows nothing more than before.
func TestARecheckThatComesToNothingStopsNothing(t *testing.T) {
	t.Parallel()
	answer := moods("judge", "good", "good", "bad", "bad")
	for name, second := range map[string]string{
		"refused": `{"raw": "", "status": 400}`, "cut off": `{"raw": "{\"calls\": [{\"_to", "cut": 12}`,
		"no JSON": `{"raw": "well"}`, "away": `{"raw": "", "status": 503}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, judged(`"quality": {"recheck": 1, "before": true}`), answer, second, second, second)
			r := s.finish()
			if r.Status != loop.StatusCompleted || r.RequestCount != 1 || r.Quality == nil ||
				r.Quality.RecheckedCount != 0 ||
				r.Quality.FailedCount != 4 || r.Quality.LatestReason == "" ||
				asJSON(r.Instances["3"].State) != `{"mood":"bad","text":"t3"}` {
				t.Errorf("%s with %s, %s", r.Status, asJSON(r.Quality), asJSON(r.Instances))
			}
		})
	}
}

// With before, no Call of those who are drawn has run when the two answers are compared: who was answered differently
// is put before a person, with both.
func TestACallThatWasAnsweredDifferentlyIsPutBeforeAPerson(t *testing.T) {
	t.Parallel()
	send := `, "send": {"type": "object", "properties": {"to": {"enum": ["a", "b"]}}}`
	sends := func(to string) string {
		return fmt.Sprintf(`{"solution": {"calls": [{"_tool": "judge", "_instance": "*", "text": "x", "_output": "good", "_outputPath": "mood"},
			{"_tool": "send", "_instance": "1", "to": "a", "_output": "sent"}, {"_tool": "send", "_instance": "2", "to": %q, "_output": "sent"}]}}`, to)
	}
	s := newScenario(t, judged(`"quality": {"recheck": 1, "before": true}`, send), sends("a"), sends("b"))
	run := s.start()
	var waiting []protocol.Approval
	eventually(t, "two Calls wait", func() bool {
		waiting = s.pending()
		return len(waiting) == 2 || s.processStatus().Status != loop.StatusRunning
	})
	if len(waiting) != 2 {
		t.Fatal(asJSON(s.processStatus()))
	}
	for _, p := range waiting {
		if !strings.HasSuffix(p.CallID, "@2") || !strings.Contains(p.ReviewReason, `"to":"a"`) ||
			!strings.Contains(p.ReviewReason, `"to":"b"`) {
			t.Errorf("%s waits, since %s", p.CallID, p.ReviewReason)
		}
		s.signal(protocol.InstanceID(s.id, "2"), "approve", map[string]any{"call": p.CallID, "digest": p.Digest, "by": "ann"})
	}
	var r loop.ProcessResult
	if err := run.Get(t.Context(), &r); err != nil || r.Calls.Done != 6 || r.Quality.DifferedCount != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	s.keep("asked-twice", "/2")
	if err := replay(t, store, history(t, s.id)); err != nil {
		t.Error(err)
	}
}

// contradicted is a process of n instances of whose answers another LLM, asked the second time, shares none.
func contradicted(t *testing.T, config string, n int) *scenario {
	other := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()) + "-other"
	answer := func(mood string) string {
		return `{"when": "mood", "solution": {"calls": [{"_tool": "judge", "_instance": "*", "text": "†state.text", "_output": "` +
			mood + `", "_outputPath": "mood"}]}}`
	}
	second := newScenario(t, judged(``), answer("bad"))
	s := newScenario(t, `{"config": {`+strings.Replace(config, `"recheck": 1`, `"recheck": 1, "llm": {"model": "`+other+`"}`, 1)+
		`}, "schema": {"tools": {`+judge+`}}, "context": [`+moodGoal+`, `+rows(1, n)+`]}`, answer("good"))
	llm.byName.Store(other, second.llm)
	return s
}

// A process in parts adds up what they measured; another LLM may answer the second time.
func TestPartsAddUpWhatWasAskedTwice(t *testing.T) {
	t.Parallel()
	r := contradicted(t, `"batch": 2, "quality": {"recheck": 1}`, 4).finish()
	if q := r.Quality; q == nil || q.RecheckedCount != 4 || q.DifferedCount != 4 || q.RequestSize.Initial != 2 ||
		r.RequestCount != 2 {
		t.Errorf("%s after %d Requests", asJSON(q), r.RequestCount)
	}
}

// Where the file says so, more disagreement than its limit pauses the process, once, in one piece and in parts.
func TestDisagreementAboveTheLimitPausesWhereTheFileSaysSo(t *testing.T) {
	t.Parallel()
	for name, batch := range map[string]string{"in one piece": "32", "in parts": "16"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := contradicted(t, `"batch": `+batch+`, "quality": {"recheck": 1, "limit": 0.02, "onLimit": "pause"}`, 32)
			run := s.start()
			eventually(t, "it is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
			if f := s.processStatus().Error; f == nil || f.Code != turn.CodeDisagreement ||
				!strings.Contains(f.Message, "of 32 asked twice 32 were decided otherwise") {
				t.Errorf("it is paused by %v", f)
			}
			s.signal(s.id, "resume", map[string]any{"by": "ann"})
			var r loop.ProcessResult
			if err := run.Get(t.Context(), &r); err != nil || r.Status != loop.StatusCompleted ||
				r.Quality.DifferedCount != 32 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// A delegate is asked twice as its own file says; its caller, whose file says nothing of it, is not.
func TestADelegateAsksTwiceAsItsOwnFileSays(t *testing.T) {
	t.Parallel()
	verdict := func(of string) string {
		return `{"when": "You are a reviewer.", "solution": {"calls": [{"_tool": "judge", "text": "†input.text", "_output": "` +
			of + `", "_outputPath": "mood"}], "output": "†state.mood"}}`
	}
	second := newScenario(t, `{}`, verdict("bad"))
	s := reviewing(t, reviewTool, reviewed, verdict("good"), callReview)
	llm.byName.Store(s.id+"-other", second.llm)
	s.file("review.json", `{"config": {"quality": {"recheck": 1, "llm": {"model": "`+s.id+`-other"}}}, "schema": {"output": {"type": "string"}, "tools": {`+
		judge+`}}, "context": [{"type": "text", "text": "You are a reviewer."}]}`)
	r := s.finish()
	if got := asJSON(r.Instances[""].State); !strings.Contains(got, `"verdict":"good"`) || r.Quality != nil {
		t.Fatalf("%s with %s\n%s", got, asJSON(r.Quality), s.story())
	}
	var delegate protocol.ProcessView
	answer, err := s.client.QueryWorkflow(t.Context(), protocol.DelegateID(s.id, "1.1"), "", protocol.QueryStatus)
	if err == nil {
		err = answer.Get(&delegate)
	}
	if q := delegate.Quality; err != nil || q == nil || q.RecheckedCount != 1 || q.DifferedCount != 1 {
		t.Errorf("the delegate's are %s, %v", asJSON(q), err)
	}
}

// heldRecheck is a process whose answers OTHER, another LLM, is asked for a second time; it answers once it is let go.
func heldRecheck(t *testing.T, idea string, second []string, first ...string) (s *scenario, asked func() bool, letGo func()) {
	t.Helper()
	other := newScenario(t, `{}`, second...).llm
	s = newScenario(t, strings.ReplaceAll(idea, "OTHER", strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())+"-other"), first...)
	asked, letGo = holdLLM(t, s.id+"-other", other)
	return s, asked, letGo
}

// holdLLM lets an LLM answer once it is let go.
func holdLLM(t *testing.T, name string, of http.Handler) (asked func() bool, letGo func()) {
	t.Helper()
	var isAsked atomic.Bool
	open := make(chan struct{})
	letGo = sync.OnceFunc(func() { close(open) })
	t.Cleanup(letGo)
	llm.byName.Store(name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isAsked.Store(true)
		select {
		case <-open:
			of.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	return isAsked.Load, letGo
}

// What a person corrects while the first answer is on its way is not in the question that is asked again: that the two
// differ would show the correction, and not how sure the LLM is.
func TestTheSecondAnswerIsToTheQuestionOfTheFirst(t *testing.T) {
	t.Parallel()
	answer := moods("judge", "good", "good", "bad", "bad")
	second := newScenario(t, `{}`, answer, nothingMore)
	s := newScenario(t, judged(`"quality": {"recheck": 1, "llm": {"model": "`+t.Name()+`-other"}}`), answer, nothingMore)
	llm.byName.Store(s.id+"-other", second.llm)
	asked, letGo := holdLLM(t, s.id, s.llm)
	run := s.start()
	eventually(t, "it is asked", asked)
	s.signal(s.id, approval.SteerRevise, map[string]any{"id": "r1", "by": "ann", "context": []any{
		map[string]any{"type": "text", "text": "Mind the weather."}, map[string]any{"type": "state", "_instance": "1", "text": "mended"}}})
	eventually(t, "the correction is sealed", func() bool { return s.processStatus().IdeaCount > 0 })
	letGo()
	r := s.end(run)
	if got := second.prompt(1); strings.Contains(got, "weather") || strings.Contains(got, "mended") ||
		r.Quality.RecheckedCount != 8 ||
		r.Quality.DifferedCount != 0 {
		t.Errorf("%s\n%s", asJSON(r.Quality), got)
	}
	if got := s.prompt(2); !strings.Contains(got, "weather") {
		t.Errorf("the correction is not in the next Request:\n%s", got)
	}
	if err := replay(t, store, history(t, s.id)); err != nil {
		t.Error(err)
	}
}

// A reply that is made up is not asked for twice, so that its Calls wait for no second answer; and what is made up in
// place of a second answer is none.
func TestAMadeUpReplyIsNotComparedAndHoldsNoCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plans, script, goal string
		failed              int
	}{
		"the first":  {ideafile.FakedBySchemas, "", "", 0},
		"the second": {ideafile.RecordedReplies, moods("judge", "good", "good", "bad", "bad"), `, "required": ["mood"]`, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			idea := strings.Replace(judged(`"quality": {"recheck": 1, "before": true}`), `, "required": ["mood"]`, c.goal, 1)
			s := newScenario(t, idea).simulate(ideafile.FakedBySchemas, c.plans)
			s.scripted = c.script
			r := s.finish()
			failed := 0
			if r.Quality != nil {
				failed = r.Quality.FailedCount
			}
			if r.Status != loop.StatusCompleted || r.Calls.Done != 4 || failed != c.failed ||
				r.Quality != nil && r.Quality.RecheckedCount != 0 {
				t.Errorf("%s after %d Calls, with %s", r.Status, r.Calls.Done, asJSON(r.Quality))
			}
		})
	}
}

// What a person corrects while an answer is asked for again counts, the Calls that waited for that run once, and the
// workflows continue as new before and after it.
func TestAProcessIsRevisedAndContinuesWhileItIsAskedAgain(t *testing.T) {
	t.Parallel()
	answer := func(mood string) string {
		return `{"solution": {"calls": [{"_tool": "judge", "_instance": "*", "text": "†state.text", "_output": "` + mood +
			`", "_outputPath": "mood"}, {"_tool": "shout", "_instance": "1", "text": "†state.text", "_outputPath": "loud"}]}}`
	}
	for name, before := range map[string]string{"Calls wait for it": "true", "Calls do not wait": "false"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, asked, letGo := heldRecheck(t, judged(`"quality": {"recheck": 1, "before": `+before+`, "llm": {"model": "OTHER"}}`,
				`, "shout": {"type": "object", "properties": {"text": {"type": "string"}}, "_approval": true}`),
				[]string{answer("bad"), nothingMore}, answer("good"), nothingMore, nothingMore)
			s.every = 1
			run := s.start()
			eventually(t, "it is asked again", asked)
			waiting, loud := 5, "MENDED"
			if before == "false" {
				waiting, loud = 1, "T1" // as it was shown
				s.waitsFor(1)
			}
			s.signal(s.id, approval.SteerRevise, map[string]any{"id": "r1", "by": "ann", "context": []any{
				map[string]any{"type": "state", "_instance": "1", "text": "mended"}}})
			eventually(t, "the correction is sealed", func() bool { return s.processStatus().IdeaCount > 1 })
			letGo()
			// The answers of the instance that was corrected are not compared: what waits of it waits for its Tool.
			eventually(t, "both answers are shown where Calls wait for them", func() bool {
				list := s.pending()
				return len(list) == waiting && (before == "false" || !slices.ContainsFunc(list,
					func(p protocol.Approval) bool { return p.ReviewReason == "" }))
			})
			for _, p := range s.pending() {
				s.decide("approve", p.CallID, `{"digest": "`+p.Digest+`"}`)
			}
			r := s.end(run)
			if got := asJSON(r.Instances["1"].State); r.Status != loop.StatusCompleted || r.Calls.Done != 5 ||
				r.RequestCount != 2 ||
				r.Quality.RecheckedCount != 5 || r.Quality.DifferedCount != 4 || r.Quality.FailedCount != 0 ||
				got != `{"loud":"`+loud+`","mood":"good","text":"mended"}` {
				t.Errorf("%s\n%s", asJSON(r), s.story())
			}
			d, err := s.client.DescribeWorkflowExecution(t.Context(), s.id, "")
			if info := d.GetWorkflowExecutionInfo(); err != nil || info.GetFirstRunId() == info.GetExecution().GetRunId() {
				t.Errorf("it has not continued: the test tests nothing; %v", err)
			}
			if err := replay(t, store, history(t, s.id)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A value that does not fit is fitted, and its Call runs, while the answer is asked for again.
func TestAValueIsFittedWhileItIsAskedAgain(t *testing.T) {
	t.Parallel()
	idea := strings.Replace(adaptedIdea, `{"schema"`, `{"config": {"quality": {"recheck": 1, "llm": {"model": "OTHER"}}}, "schema"`, 1)
	s, asked, letGo := heldRecheck(t, strings.Replace(idea, `, "_approval": true`, "", 1), []string{nothingMore, nothingMore},
		shoutUser, `{"solution": {"calls": [{"_call": "1.1", "_params": {"text": "Anna"}}]}}`, nothingMore)
	s.every = 1
	run := s.start()
	eventually(t, "it is asked again", asked)
	eventually(t, "the fitted Call has run", func() bool { return s.processStatus().Calls.Done == 1 })
	letGo()
	if r := s.end(run); r.Status != loop.StatusCompleted || r.RequestCount != 3 || r.Quality.RecheckedCount != 2 ||
		r.Quality.DifferedCount != 1 ||
		asJSON(r.Instances[""].State) != `{"loud":"ANNA","user":{"userName":"Anna"}}` {
		t.Errorf("%s\n%s", asJSON(r), s.story())
	}
	if err := replay(t, store, history(t, s.id)); err != nil {
		t.Error(err)
	}
}
