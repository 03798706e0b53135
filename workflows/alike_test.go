package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"processidea/learn/harden"
	"processidea/learn/past"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/chain"
)

// played is what a process came to, as far as it must not depend on whether it was split.
type played struct {
	s *scenario
	r loop.ProcessResult
}

// asOneAndInParts has a test play its process as one and, as another process, in parts of three instances, and checks
// that both come to the same. The play puts config, a key and its value, into its Idea's config.
func asOneAndInParts(t *testing.T, play func(t *testing.T, config string) (*scenario, map[string]string)) {
	t.Helper()
	var both []map[string]string
	for _, c := range []struct{ name, config string }{{"as-one", `"batch": 100`}, {"in-parts", `"batch": 3`}} {
		t.Run(c.name, func(t *testing.T) {
			s, more := play(t, c.config)
			facts := played{s, s.came(t)}.facts(t)
			for name, fact := range more {
				facts[name] = fact
			}
			for name, fact := range facts {
				facts[name] = incidental.ReplaceAllString(fact, "…")
			}
			both = append(both, facts)
			if split := len(s.processStatus().Parts) > 0; split != (c.name == "in-parts") {
				t.Errorf("that it is split is %v", split)
			}
		})
	}
	if len(both) < 2 {
		return
	}
	for _, what := range jsonval.SortedKeys(both[0]) {
		if as, in := both[0][what], both[1][what]; as != in {
			t.Errorf("%s\nas one:   %s\nin parts: %s", what, as, in)
		}
	}
}

// incidental is what differs between two runs of the same process.
var incidental = regexp.MustCompile(
	`"(at|digest|since)":"[^"]*"| since [^ ]*Z|[^" /]*/(as-one|in-parts)|[^" ]*-(as-one|in-parts)`)

// came waits for the end of the process, whatever it is.
func (s *scenario) came(t *testing.T) (r loop.ProcessResult) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	err := s.client.GetWorkflow(ctx, s.id, "").Get(ctx, &r)
	var failed *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	switch {
	case errors.As(err, &failed):
		err = failed.Details(&r)
	case errors.As(err, &cancelled):
		err = cancelled.Details(&r)
	}
	if err != nil {
		t.Fatalf("%v; the process: %s\n%s", err, asJSON(s.processStatus()), s.story())
	}
	return r
}

// facts are what is compared, by name.
func (p played) facts(t *testing.T) map[string]string {
	t.Helper()
	code := ""
	if p.r.Error != nil {
		code = p.r.Error.Code
	}
	for n := range p.r.UnwrittenResults {
		slices.Sort(p.r.UnwrittenResults[n].Instances)
	}
	v := p.s.processStatus()
	facts := map[string]string{
		"status": string(p.r.Status), "error": code, "output": asJSON(p.r.Output), "instances": asJSON(p.r.Instances),
		"calls":    asJSON(p.r.Calls),
		"failures": asJSON(p.r.Failures), "not written": asJSON(p.r.UnwrittenResults),
		"Requests made": fmt.Sprint(p.r.RequestCount > 0),
		"refused":       fmt.Sprint(v.RefusalCount), "waiting": strings.Join(v.WaitingFor, "\n"),
	}
	if p.r.RequestCount == 0 { // an Idea of a Request is one of its part
		p.chainFacts(t, facts)
	}
	return facts
}

// chainFacts adds what the chain tells.
func (p played) chainFacts(t *testing.T, facts map[string]string) {
	t.Helper()
	chains := chain.New(store)
	report, err := chains.Verify(t.Context(), p.s.id)
	if err != nil || !report.IsIntact {
		t.Errorf("the chain of %s: %+v, %v", p.s.id, report, err)
		return
	}
	lines := p.s.decided(p.s.id, report.IdeaCount)
	slices.Sort(lines)
	facts["decided"] = strings.Join(lines, "\n")
	idea := p.s.sealed(report.IdeaCount)
	facts["the last Idea's context"] = asJSON(idea["context"])
	facts["the last Idea's output"] = asJSON(jsonval.AsObject(idea["solution"])["output"])
	for token, i := range p.r.Instances {
		state, _ := i.State.(map[string]any)
		for key := range state {
			b, err := chains.Blame(t.Context(), p.s.id, token+":"+key, 0)
			if err != nil {
				facts["blame "+token+" "+key] = err.Error()
				continue
			}
			var made []string
			for _, d := range b.Decisions {
				made = append(made, d.Kind+" by "+d.DecidedBy)
			}
			call := ""
			if b.Call != nil {
				// what it read is looked up in an Idea that is made less often of parts
				call = asJSON([]any{b.Call.ID, b.Call.Tool, b.Call.ProposedJSON, b.Call.ExecutedCall})
			}
			facts["blame "+token+" "+key] = b.Author + " " + call + " " + strings.Join(made, ", ")
		}
	}
	facts["hardened"] = p.hardened(t)
}

// hardened is the Plan that is made of the process.
func (p played) hardened(t *testing.T) string {
	t.Helper()
	run := p.story(t, p.s.id)
	for _, part := range p.s.processStatus().Parts {
		run.Parts = append(run.Parts, p.story(t, part.ProcessID))
	}
	made, err := harden.Harden([]past.RecordedProcess{run}, map[string]ideafile.ToolBinding{}, true)
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(asJSON([]any{jsonval.WithoutKey(jsonval.WithoutKey(made.Idea, "meta"), "config"),
		made.Differences}), p.s.id, "")
}

func (p played) story(t *testing.T, id string) past.RecordedProcess {
	t.Helper()
	chains := chain.New(store)
	run := past.RecordedProcess{ProcessID: id}
	links, err := chains.List(t.Context(), id)
	for at := 1; at <= len(links) && err == nil; at++ {
		var idea map[string]any
		idea, err = chains.Load(t.Context(), id, at)
		run.Ideas = append(run.Ideas, idea)
	}
	if err == nil {
		run.Log, err = chains.ListWrites(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// ends says how instances ended. A fork counts no Calls of the process before it.
func ends(instances map[string]loop.InstanceResult) string {
	list := maps.Clone(instances)
	for token, i := range list {
		i.FailedCallCount, i.RejectedCallCount = 0, 0
		list[token] = i
	}
	return asJSON(list)
}

// forkComesToTheSame starts anew from the last Idea.
func (p played) forkComesToTheSame(t *testing.T) {
	t.Helper()
	f := p.fork(t)
	for _, r := range []*loop.ProcessResult{&f.r, &p.r} {
		r.Output = p.restored(t, r.Output)
		for token, i := range r.Instances {
			i.State = p.restored(t, i.State)
			r.Instances[token] = i
		}
	}
	if f.r.Status != p.r.Status || ends(f.r.Instances) != ends(p.r.Instances) ||
		asJSON(f.r.Output) != asJSON(p.r.Output) {
		t.Errorf("%s comes to %s %s %s\nnot to %s %s %s", f.s.id, f.r.Status, asJSON(f.r.Instances), asJSON(f.r.Output),
			p.r.Status, asJSON(p.r.Instances), asJSON(p.r.Output))
	}
}

// restored is a value with what lies in the store.
func (p played) restored(t *testing.T, v any) any {
	t.Helper()
	whole, err := store.Restore(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// fork runs the process again from its last Idea.
func (p played) fork(t *testing.T) played {
	t.Helper()
	fork := newScenario(t, `{}`)
	fork.id, fork.idea, fork.llm = p.s.id+"-fork", chain.ForkedIdea(p.s.sealedLast()), p.s.llm
	llm.byName.Store(t.Name(), fork.llm)
	fork.start()
	return played{fork, fork.came(t)}
}

// midway waits until the process rests with so many Calls that wait for people, and what it says then.
func (s *scenario) midway(waiting int) map[string]string {
	s.t.Helper()
	var tokens []string
	for _, a := range s.waitsFor(waiting) {
		tokens = append(tokens, a.Instance)
	}
	eventually(s.t, "it is sealed as it waits", func() bool {
		v := s.processStatus()
		return strings.Contains(asJSON(s.sealedLast()), `"awaiting-approval":`+asJSON(tokens)) &&
			v.PendingDecisionCount == waiting && !strings.Contains(asJSON(v.Instances), "working")
	})
	v, list := s.processStatus(), s.pending()
	for n := range list {
		list[n].Process, list[n].Since, list[n].Digest, list[n].ApprovalContext = "", time.Time{}, "",
			protocol.ApprovalContext{}
	}
	for n, line := range v.WaitingFor {
		v.WaitingFor[n], _, _ = strings.Cut(line, " since ")
	}
	return map[string]string{"midway: status": string(v.Status), "midway: instances": asJSON(v.Instances),
		"midway: calls": asJSON(v.Calls), "midway: output": asJSON(v.Output),
		"midway: waiting": strings.Join(v.WaitingFor, "\n"), "midway: approvals": asJSON(list),
		"midway: context": asJSON(s.sealedLast()["context"])}
}

func (s *scenario) sealedLast() map[string]any {
	links, err := chain.New(store).List(s.t.Context(), s.id)
	if err != nil || len(links) == 0 {
		return nil
	}
	return s.sealed(len(links))
}

// pending lists what waits for people now.
func (s *scenario) pending() (list []protocol.Approval) {
	var v protocol.ProcessApprovals
	q, err := s.client.QueryWorkflow(s.t.Context(), s.id, "", protocol.QueryApprovals)
	if err == nil {
		_ = q.Get(&v)
	}
	return v.Approvals
}
