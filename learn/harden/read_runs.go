package harden

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"processidea/learn/past"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

func (h *hardener) readRun(run past.Run) error {
	ownChain, err := past.Open(run)
	if err != nil {
		return err
	}
	process := &processRun{ProcessID: run.ProcessID, firstIdea: ownChain.First(), lastIdea: ownChain.Last(),
		chains: []*past.Chain{ownChain}}
	if len(h.processes) > 0 && !jsonval.EqualNumerically(h.processes[0].lastIdea.Source["schema"],
		process.lastIdea.Source["schema"]) {
		return fmt.Errorf("its Tools or its output form differ from those of %s: harden each by itself",
			h.processes[0].ProcessID)
	}
	if len(run.Parts) > 0 {
		parts, err := past.OpenParts(run)
		if err != nil {
			return err
		}
		process.chains = append(process.chains, parts...)
	}
	h.processes = append(h.processes, process)
	if err := h.readInstances(process); err != nil {
		return err
	}
	for _, r := range process.instances {
		h.readRecordedCalls(r)
	}
	h.instances = append(h.instances, process.instances...)
	return nil
}

// readInstances finds the instances that settled, and what they started with. The instances of a split process are in
// its parts.
func (h *hardener) readInstances(process *processRun) error {
	if !isFinished(process.chains[0]) {
		return errors.New("it has not finished")
	}
	var skipped []Difference // instances from which nothing can be learned, with the reason
	foundTokens := map[string]bool{}
	chains := process.chains
	if len(chains) > 1 {
		chains = chains[1:]
	}
	for _, c := range chains {
		if beganBeforeFirstIdea(c) {
			return fmt.Errorf("its Plan ran directly, and Calls had ended before its first Idea was sealed: how " +
				"it began is unknown")
		}
		skipped = append(skipped, process.readChainInstances(c)...)
		for _, token := range c.Last().InstanceTokens() {
			foundTokens[token] = true
		}
	}
	for _, token := range process.lastIdea.InstanceTokens() {
		if !foundTokens[token] {
			skipped = append(skipped, Difference{Description: "of which no part tells what it did",
				Instances: []string{token}})
		}
	}
	for _, d := range mergeDifferences(skipped) {
		subject := process.ProcessID
		if d.Instances[0] != "" {
			subject = diag.SummarizeNames(d.Instances) + " of " + subject
		}
		h.addNote("left out: %s, %s", subject, d.Description)
	}
	return nil
}

// beganBeforeFirstIdea reports whether Calls of a direct Plan had ended before the first Idea.
func beganBeforeFirstIdea(c *past.Chain) bool {
	return slices.ContainsFunc(past.DirectCallsAtStart(c.First()), func(p turn.RecordedCall) bool {
		ended := false
		//workflowcheck:ignore -- the order does not matter
		for _, s := range p.StatusByInstance {
			ended = ended || s.IsFinal() && (s == ideafile.Done || p.WrittenCall.RawObject()[ideafile.WhenKey] == nil)
		}
		return ended
	})
}

// isFinished reports whether every instance has ended.
func isFinished(c *past.Chain) bool {
	return !slices.ContainsFunc(c.Last().InstanceTokens(), func(token string) bool {
		s := c.StatusByInstance[token]
		return !s.HasEnded()
	})
}

// readChainInstances reads the instances of one chain, and returns those that did not reach their goal.
func (p *processRun) readChainInstances(c *past.Chain) (skipped []Difference) {
	for _, token := range c.Last().InstanceTokens() {
		end := c.EndView(token)
		r := &instanceRun{process: p, chain: c, instanceToken: token,
			finalState: end.PayloadByKind[ideafile.TypeState]}
		r.startMessages = slices.Concat(c.StartMessages(token))
		r.startView = ideafile.InstanceViewOf(r.startMessages, token)
		missing := statelog.MissingRequiredPaths(end.SchemaByKind[ideafile.TypeState], r.finalState)
		switch {
		case c.StatusByInstance[token] != ideafile.InstanceSettled:
			skipped = append(skipped, Difference{Description: "which failed", Instances: []string{token}})
		case len(missing) > 0:
			skipped = append(skipped, Difference{Description: "which failed: its State lacks " +
				strings.Join(missing, ", "), Instances: []string{token}})
		default:
			p.instances = append(p.instances, r)
		}
	}
	return skipped
}

// readRecordedCalls reads the well-formed Calls of an instance, each with its latest status.
func (h *hardener) readRecordedCalls(r *instanceRun) {
	var all []*recordedCall
	for _, c := range r.chain.Calls(r.instanceToken) {
		recorded := &recordedCall{Call: c, rawCall: c.Written.RawObject()}
		if c.IsRecorded {
			rule := conditionOf(recorded.rawCall)
			if c.Status == ideafile.Skipped && rule.When != nil {
				continue
			}
			recorded.conditionReads = rule.PathsRead(ideafile.TypeState)
			recorded.rawCall = withoutCondition(recorded.rawCall)
		}
		var f *diag.Fault
		recorded.call, f = h.readCall(r, recorded.rawCall)
		recorded.call.ID = c.Key.ID(r.instanceToken)
		if f == nil && !recorded.wasRefusedBeforeRun() {
			all = append(all, recorded)
		}
	}
	r.readActualParams(all)
	r.recordedCalls = withoutRedundantCalls(all)
}

// readCall reads a Call as a Call of one instance.
func (h *hardener) readCall(r *instanceRun, raw jsonval.Object) (ideafile.Call, *diag.Fault) {
	palette := ideafile.Palette{Tools: r.process.lastIdea.Tools, BindingByTool: h.bindings,
		InstanceTokens: []string{r.instanceToken}, UntargetedCallsGoToAll: true}
	call, _, f := palette.ReadCall(ideafile.ParseWrittenCall(raw).WithoutTarget())
	return call, f
}

// wasRefusedBeforeRun reports whether a Call failed before it could run, because of how it was written. Such a failure
// says nothing of its Tool.
func (c *recordedCall) wasRefusedBeforeRun() bool {
	return c.Fault != nil && c.Status == ideafile.Failed &&
		(c.Fault.Code == ideafile.CodeUndecided || past.IsBadlyWritten(*c.Fault))
}

// withoutRedundantCalls leaves out the Calls that made no difference: repeats, and Calls for a path that another Call
// of the same tool wrote.
func withoutRedundantCalls(all []*recordedCall) []*recordedCall {
	var out []*recordedCall
	for n, recorded := range all {
		isRedundant := false
		for k, other := range all {
			sameKey := k != n && other.alignmentKey() == recorded.alignmentKey()
			sameParams := sameKey && jsonval.EqualNumerically(other.call.Params, recorded.call.Params)
			switch {
			case sameKey && other.Status == ideafile.Done && recorded.Status != ideafile.Done &&
				(recorded.Status != ideafile.Failed || sameParams):
				isRedundant = true
			case sameParams && k < n && other.Status == recorded.Status &&
				(recorded.Status != ideafile.Done || recorded.isWriteOnce()):
				isRedundant = true
			}
		}
		if !isRedundant {
			out = append(out, recorded)
		}
	}
	return out
}

// isWriteOnce reports whether the Call's write closes its path, so that repeating the Call changes nothing.
func (c *recordedCall) isWriteOnce() bool {
	return len(c.call.OutputPath) > 0 && !statelog.IsUpdateWrite(c.call.OutputMethod, c.call.OutputPath[0][0])
}
