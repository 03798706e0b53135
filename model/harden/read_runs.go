package harden

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
)

func (h *hardener) readRun(run FinishedRun) error {
	process := &processRun{FinishedRun: run}
	if len(process.Ideas) == 0 {
		return fmt.Errorf("it has no Ideas")
	}
	process.firstIdea, _ = ideafile.ReadIdea(process.Ideas[0])
	process.lastIdea, _ = ideafile.ReadIdea(process.Ideas[len(process.Ideas)-1])
	if process.firstIdea.Simulated != nil || process.lastIdea.Simulated != nil {
		return fmt.Errorf("it was simulated: its values are made up, and no Tool ran")
	}
	if len(h.processes) > 0 && !jsonval.Equal(h.processes[0].lastIdea.Source["schema"], process.lastIdea.Source["schema"]) {
		return fmt.Errorf("its Tools or its output form are others than those of %s", h.processes[0].Process)
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

// readInstances finds the instances that settled, and what they started with.
func (h *hardener) readInstances(process *processRun) error {
	starts := map[string]*ideafile.Idea{}
	for _, source := range process.Ideas {
		idea, _ := ideafile.ReadIdea(source)
		for _, token := range idea.InstanceTokens() {
			if starts[token] == nil {
				starts[token] = idea
			}
		}
		for _, m := range idea.Context {
			if m.RunsDirectly() {
				return fmt.Errorf("it ran by a Plan of its own, without the LLM")
			}
		}
	}
	statuses := endStatuses(process.lastIdea)
	for _, token := range process.lastIdea.InstanceTokens() {
		switch status := statuses[token]; status {
		case ideafile.InstanceSettled:
			r := &instanceRun{process: process, token: token}
			r.startView = ideafile.ViewOf(starts[token].Context, token)
			r.startMessages = dataMessages(starts[token].Context, token)
			r.finalState = ideafile.ViewOf(process.lastIdea.Context, token).Payload[ideafile.TypeState]
			if r.finalState == nil {
				r.finalState = map[string]any{}
			}
			process.instances = append(process.instances, r)
		case ideafile.InstanceFailed:
			h.addNote("left out: instance %q of %s, which failed", token, process.Process)
		default:
			return fmt.Errorf("it has not finished")
		}
	}
	return nil
}

// endStatuses returns how every instance ended: as its State message says, or as settled where the last Request planned
// no more Calls.
func endStatuses(last *ideafile.Idea) map[string]ideafile.InstanceStatus {
	out := map[string]ideafile.InstanceStatus{}
	calls, _ := jsonval.AsObject(last.Source["solution"])["calls"].([]any)
	for _, token := range last.InstanceTokens() {
		if len(calls) == 0 {
			out[token] = ideafile.InstanceSettled
		}
		for _, m := range last.Context {
			if m.Kind == ideafile.TypeState && m.Instance == token && m.Status != "" {
				out[token] = m.Status
			}
		}
	}
	return out
}

// dataMessages are the Messages with data that an instance sees.
func dataMessages(context []ideafile.Message, token string) []ideafile.Message {
	var out []ideafile.Message
	for _, m := range context {
		if m.Kind != "" && (m.Instance == "" || m.Instance == token) {
			out = append(out, m)
		}
	}
	return out
}

// readRecordedCalls lists the Calls of an instance that were well-formed, each with its latest status.
func (h *hardener) readRecordedCalls(r *instanceRun) {
	recordedCalls := map[ideafile.CallKey]*recordedCall{}
	for _, source := range r.process.Ideas {
		idea, _ := ideafile.ReadIdea(source)
		for _, m := range idea.Context {
			if m.IsPlanRecord() {
				r.readRecord(m, idea.InstanceTokens(), recordedCalls)
			}
		}
		r.readSolution(idea, recordedCalls)
	}
	var all []*recordedCall
	palette := ideafile.Palette{Tools: r.process.lastIdea.Tools, Bindings: h.bindings, InstanceTokens: []string{r.token}, UntargetedForAll: true}
	//workflowcheck:ignore -- sorted below
	for _, recorded := range recordedCalls {
		var f *diag.Fault
		recorded.call, _, f = palette.Read(ideafile.ParseWrittenCall(recorded.raw).WithoutTarget())
		if f == nil {
			recorded.call.ID = ideafile.FormatCallID(recorded.request, recorded.index, r.token)
			r.readResult(recorded)
			all = append(all, recorded)
		}
	}
	sortByPosition(all)
	r.recordedCalls = withoutRedundantCalls(all)
}

func (r *instanceRun) readRecord(m ideafile.Message, tokens []string, recordedCalls map[ideafile.CallKey]*recordedCall) {
	for _, p := range turn.PastCalls(m, tokens) {
		status, planned := p.Status[r.token]
		if !planned {
			continue
		}
		recorded := &recordedCall{request: p.Request, index: p.Index, raw: p.Call.Fields(), status: status, decisions: p.Decisions[r.token]}
		recorded.result, recorded.hasResult = p.Results[r.token]
		recordedCalls[ideafile.CallKey{Request: p.Request, Index: p.Index}] = recorded
	}
}

// readSolution adds the Calls of a solution that no record mentions: the log or the State shows what they returned.
func (r *instanceRun) readSolution(idea *ideafile.Idea, recordedCalls map[ideafile.CallKey]*recordedCall) {
	meta := jsonval.AsObject(idea.Source["meta"])
	request, err := jsonval.FloatOf(meta["request"])
	if err != nil {
		return
	}
	calls, _ := jsonval.AsObject(idea.Source["solution"])["calls"].([]any)
	for k, call := range ideafile.ParseWrittenCalls(calls) {
		key := ideafile.CallKey{Request: int(request), Index: k + 1}
		if recordedCalls[key] == nil && slices.Contains(call.TargetInstances(idea.InstanceTokens()), r.token) {
			recordedCalls[key] = &recordedCall{request: key.Request, index: key.Index, raw: call.Fields(), status: ideafile.Done}
		}
	}
}

// readResult finds the result of a Call: in the log, or in the final State at its path.
func (r *instanceRun) readResult(recorded *recordedCall) {
	if recorded.status != ideafile.Done || recorded.hasResult {
		return
	}
	for _, e := range r.process.Log {
		if e.By == recorded.call.ID && e.Instance == r.token {
			recorded.result, recorded.hasResult = wrapForBranch(recorded.call.OutputPath, e.Path, e.Value), true
			return
		}
	}
	if recorded.call.OutputMethod != "" || recorded.call.OutputPath.WritesWholeState() {
		return
	}
	for _, p := range recorded.call.OutputPath.Paths() {
		if v, ok := jsonval.Lookup(r.finalState, p); ok {
			recorded.result, recorded.hasResult = wrapForBranch(recorded.call.OutputPath, p, v), true
			return
		}
	}
	recorded.hasResult = len(recorded.call.OutputPath) == 0
}

// wrapForBranch wraps a value that was written to one of several branches as the result that chooses this branch.
func wrapForBranch(o refexpr.OutputPath, p jsonval.Path, value any) any {
	if !o.HasBranches() {
		return value
	}
	for _, branch := range o {
		for _, q := range branch {
			if q.String() == p.String() {
				return map[string]any{refexpr.BranchKey: refexpr.OutputPath{branch}.Reference(), refexpr.ResultKey: value}
			}
		}
	}
	return value
}

// withoutRedundantCalls leaves out the Calls that made no difference: repeats, and Calls for a path that another Call of the same
// tool wrote.
func withoutRedundantCalls(all []*recordedCall) []*recordedCall {
	var out []*recordedCall
	for n, recorded := range all {
		redundant := false
		for k, other := range all {
			same := k != n && other.alignmentKey() == recorded.alignmentKey()
			equal := same && jsonval.Equal(other.call.Params, recorded.call.Params)
			switch {
			case same && other.status == ideafile.Done && recorded.status != ideafile.Done && (recorded.status != ideafile.Failed || equal):
				redundant = true
			case equal && k < n && other.status == recorded.status && (recorded.status != ideafile.Done || recorded.writesOnce()):
				redundant = true
			}
		}
		if !redundant {
			out = append(out, recorded)
		}
	}
	return out
}

// writesOnce reports whether the Call's path is closed by its write: repeating the Call then changes nothing.
func (a *recordedCall) writesOnce() bool {
	return len(a.call.OutputPath) > 0 && !statelog.IsUpdate(a.call.OutputMethod, a.call.OutputPath[0][0])
}
