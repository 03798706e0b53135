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

func (h *hardener) readRun(run past.RecordedProcess) error {
	ownChain, err := past.OpenChain(run)
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
		partChains, err := past.OpenInstanceChains(run)
		if err != nil {
			return err
		}
		process.chains = append(process.chains, partChains...)
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
	if !haveAllInstancesEnded(process.chains[0]) {
		return errors.New("it has not finished")
	}
	var skipReasons []Difference // instances from which nothing can be learned, with the reason
	foundTokens := map[string]bool{}
	chains := process.chains
	if len(chains) > 1 {
		chains = chains[1:]
	}
	for _, c := range chains {
		if callsEndedBeforeFirstIdea(c) {
			return fmt.Errorf("its Plan ran directly, and Calls had ended before its first Idea was sealed: how " +
				"it began is unknown")
		}
		skipReasons = append(skipReasons, process.readChainInstances(c)...)
		for _, token := range c.Last().InstanceTokens() {
			foundTokens[token] = true
		}
	}
	for _, token := range process.lastIdea.InstanceTokens() {
		if !foundTokens[token] {
			skipReasons = append(skipReasons, Difference{Description: "of which no part tells what it did",
				Instances: []string{token}})
		}
	}
	for _, d := range mergeDifferences(skipReasons) {
		subject := process.ProcessID
		if d.Instances[0] != "" {
			subject = diag.SummarizeNames(d.Instances) + " of " + subject
		}
		h.addNote("left out: %s, %s", subject, d.Description)
	}
	return nil
}

// callsEndedBeforeFirstIdea reports whether Calls of a direct Plan had ended before the first Idea.
func callsEndedBeforeFirstIdea(c *past.Chain) bool {
	return slices.ContainsFunc(past.DirectPlanCallsAtStart(c.First()), func(p turn.RecordedCall) bool {
		hasEnded := false
		//workflowcheck:ignore -- the order does not matter
		for _, s := range p.StatusByInstance {
			hasEnded = hasEnded || s.IsFinal() && (s == ideafile.CallDone ||
				p.WrittenCall.RawObject()[ideafile.WhenKey] == nil)
		}
		return hasEnded
	})
}

// haveAllInstancesEnded reports whether every instance has ended.
func haveAllInstancesEnded(c *past.Chain) bool {
	return !slices.ContainsFunc(c.Last().InstanceTokens(), func(token string) bool {
		s := c.StatusByInstance[token]
		return !s.HasEnded()
	})
}

// readChainInstances reads the instances of one chain, and returns those that did not reach their goal.
func (p *processRun) readChainInstances(c *past.Chain) (skipReasons []Difference) {
	for _, token := range c.Last().InstanceTokens() {
		endView := c.EndView(token)
		r := &instanceRun{process: p, chain: c, instanceToken: token,
			finalState: endView.PayloadByKind[ideafile.TypeState]}
		r.startMessages = slices.Concat(c.StartMessages(token))
		r.startView = ideafile.InstanceViewOf(r.startMessages, token)
		missingPaths := statelog.MissingRequiredPaths(endView.SchemaByKind[ideafile.TypeState], r.finalState)
		switch {
		case c.StatusByInstance[token] != ideafile.InstanceSettled:
			skipReasons = append(skipReasons, Difference{Description: "which failed", Instances: []string{token}})
		case len(missingPaths) > 0:
			skipReasons = append(skipReasons, Difference{Description: "which failed: its State lacks " +
				strings.Join(missingPaths, ", "), Instances: []string{token}})
		default:
			p.instances = append(p.instances, r)
		}
	}
	return skipReasons
}

// readRecordedCalls reads the well-formed Calls of an instance, each with its latest status.
func (h *hardener) readRecordedCalls(r *instanceRun) {
	var wellFormedCalls []*recordedCall
	for _, c := range r.chain.Calls(r.instanceToken) {
		pastCall := &recordedCall{Call: c, rawCall: c.WrittenCall.RawObject()}
		if c.IsRecorded {
			planCondition := conditionOf(pastCall.rawCall)
			if c.Status == ideafile.CallSkipped && planCondition.When != nil {
				continue
			}
			pastCall.pathsReadByCondition = planCondition.PathsRead(ideafile.TypeState)
			pastCall.rawCall = withoutCondition(pastCall.rawCall)
		}
		var f *diag.Fault
		pastCall.parsedCall, f = h.readCall(r, pastCall.rawCall)
		pastCall.parsedCall.ID = c.Key.ID(r.instanceToken)
		if f == nil && !pastCall.couldNotRunAsWritten() {
			wellFormedCalls = append(wellFormedCalls, pastCall)
		}
	}
	r.readActualParams(wellFormedCalls)
	r.recordedCalls = withoutRedundantCalls(wellFormedCalls)
}

// readCall reads a Call as a Call of one instance.
func (h *hardener) readCall(r *instanceRun, rawCall jsonval.Object) (ideafile.Call, *diag.Fault) {
	palette := ideafile.Palette{Tools: r.process.lastIdea.Tools, BindingByTool: h.bindingByTool,
		InstanceTokens: []string{r.instanceToken}, UntargetedCallsGoToAll: true}
	call, _, f := palette.ReadCall(ideafile.ParseWrittenCall(rawCall).WithoutTarget())
	return call, f
}

// couldNotRunAsWritten reports whether a Call failed before it could run, because of how it was written. Such a failure
// says nothing of its Tool.
func (c *recordedCall) couldNotRunAsWritten() bool {
	return c.Fault != nil && c.Status == ideafile.CallFailed &&
		(c.Fault.Code == ideafile.CodeUndecided || past.IsMalformedCallFault(*c.Fault))
}

// withoutRedundantCalls leaves out the Calls that made no difference: repeats, and Calls for a path that another Call
// of the same tool wrote.
func withoutRedundantCalls(calls []*recordedCall) []*recordedCall {
	var remainingCalls []*recordedCall
	for n, pastCall := range calls {
		isRedundant := false
		for k, other := range calls {
			hasSameKey := k != n && other.alignmentKey() == pastCall.alignmentKey()
			hasSameParams := hasSameKey && jsonval.EqualNumerically(other.parsedCall.Params, pastCall.parsedCall.Params)
			switch {
			case hasSameKey && other.Status == ideafile.CallDone && pastCall.Status != ideafile.CallDone &&
				(pastCall.Status != ideafile.CallFailed || hasSameParams):
				isRedundant = true
			case hasSameParams && k < n && other.Status == pastCall.Status &&
				(pastCall.Status != ideafile.CallDone || pastCall.closesOutputPath()):
				isRedundant = true
			}
		}
		if !isRedundant {
			remainingCalls = append(remainingCalls, pastCall)
		}
	}
	return remainingCalls
}

// closesOutputPath reports whether the Call's write closes its path, so that repeating the Call changes nothing.
func (c *recordedCall) closesOutputPath() bool {
	return len(c.parsedCall.OutputPath) > 0 && !statelog.IsUpdateWrite(c.parsedCall.OutputMethod,
		c.parsedCall.OutputPath[0][0])
}
