package backtest

import (
	"slices"

	"processidea/learn/past"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/undo"
)

// ExecutedInstance is an instance of a process, whether it has ended or not, with its Calls as they ran.
type ExecutedInstance struct {
	// ProcessID is the process, or its part, that has the instance. Idea is its latest Idea.
	ProcessID, Token string
	Idea             *ideafile.Idea
	HasEnded         bool
	State            any
	Calls            []undo.Call
}

// ReadExecuted reads from its chain what the Calls of a process did: what each ran with, read, wrote and returned. If
// an instance cannot be replayed, it returns only what the chain records directly of its Calls.
func ReadExecuted(run past.Run) (all []ExecutedInstance, err error) {
	chains, err := openChains(run)
	for _, c := range chains {
		for _, token := range c.Last().InstanceTokens() {
			all = append(all, c.readExecuted(token))
		}
	}
	return all, err
}

func (of *chain) readExecuted(token string) ExecutedInstance {
	i := of.readInstance(token)
	if !i.status.HasEnded() {
		of.addUnrecorded(i)
	}
	player, memory := of.replayByRequest(i)
	why := i.whyNotRepeated()
	out := ExecutedInstance{of.ProcessID, token, of.Last(), i.status.HasEnded(), i.finalState, nil}
	traced := map[ideafile.CallKey]*tracedCall{}
	for n, rec := range player.flow.CallRecords() {
		traced[rec.Key()] = i.trace.calls[n]
	}
	for _, c := range undo.CallsOf(player.flow, of.Last().Tools) {
		past, output := memory.byKey[c.Key], player.flow.FindCall(c.ID).OutputPath
		c.Began, c.Ended = player.callOf(c.ID).began, player.callOf(c.ID).ended
		c.Process, c.ID = of.ProcessID, past.Key.ID(token)
		c.Status, c.Fault, c.Result = past.Status, past.Fault, past.Result
		of.readWrites(&c, i, past, output)
		describeRun(&c, traced[c.Key], past, why)
		readBranch(&c, output)
		c.Ran = c.Ran && !of.wasDoneByReplacedPlan(i, past)
		out.Calls = append(out.Calls, c)
	}
	return out
}

// addUnrecorded adds Calls without a record that may have run: Calls of a direct Plan in an instance that was stopped
// while working, and Calls of solutions.
func (of *chain) addUnrecorded(i *pastInstance) {
	known := map[ideafile.CallKey]bool{}
	for _, c := range i.calls {
		known[c.Key] = true
		if !c.IsRecorded && !of.hasWritten(i, c.Key) {
			c.Status = ideafile.Running
		}
	}
	last := of.Last()
	at, _ := ideafile.FindDirectPlans(last.Context).ChooseForInstance(i.token,
		ideafile.InstanceViewOf(last.Context, i.token))
	if at < 0 {
		return
	}
	for n, w := range last.Context[at].PlanCalls {
		key := ideafile.CallKey{Index: last.Context[at].CallIndexOffset + n + 1}
		if !known[key] && !w.TargetsOtherInstance(i.token) {
			i.calls = append(i.calls, &pastCall{Call: past.Call{Key: key, Written: w.WithoutTarget(),
				Status: ideafile.Running}})
		}
	}
}

func (of *chain) hasWritten(i *pastInstance, key ideafile.CallKey) bool {
	for _, e := range of.writes[i.token] {
		if e.Request == key.Request && e.Index == key.Index && e.CorrectionNumber == 0 {
			return true
		}
	}
	return false
}

// readWrites reads from the log what a Call wrote, since a replay may have written less.
func (of *chain) readWrites(c *undo.Call, i *pastInstance, past *pastCall, output refexpr.OutputPath) {
	c.Writes, c.IsUpdate = nil, false
	for _, e := range of.writes[i.token] {
		if e.Request != past.Key.Request || e.Index != past.Key.Index || e.CorrectionNumber != 0 {
			continue
		}
		c.Writes = append(c.Writes, undo.WrittenPaths(e.Path, e.Value)...)
		c.IsUpdate = c.IsUpdate || statelog.IsUpdateWrite(e.OutputMethod, e.Path)
		if past.RanCall != nil && past.RanCall.Tool != past.Written.Tool {
			c.Result = output.ResultForPath(e.Path, e.Value) // the result of the Call that replaced it
		}
	}
}

// readBranch reads the result of a Call from the branch that the result names. In the last branch it may be a fault
// instead.
func readBranch(c *undo.Call, output refexpr.OutputPath) {
	branch, result, named, err := output.SelectBranch(c.Result)
	if !named || err != nil {
		return
	}
	c.Result = result
	if f, is := diag.FaultFromJSON(result); is && branch == len(output)-1 {
		c.WroteFault(f)
	}
}

// wasDoneByReplacedPlan reports whether a direct Plan did not run a Call because the Plan that it replaced had done the
// same Call: see dataflow.Instance.
func (of *chain) wasDoneByReplacedPlan(i *pastInstance, c *pastCall) bool {
	before := 0
	for _, m := range of.Last().Context {
		if m.IsDirectPlan() && m.CallIndexOffset < c.Key.Index {
			before = max(before, m.CallIndexOffset)
		}
	}
	return c.Key.Request == 0 && of.Last().HasNoOutputPath(c.Written) &&
		slices.ContainsFunc(i.calls, func(o *pastCall) bool {
			return o.Key.Request == 0 && o.Key.Index <= before && o.Status == ideafile.Done &&
				o.Written.SameCallAs(c.Written)
		})
}

// describeRun states whether a Call ran, and with which Tool and parameters. why says why its instance cannot be
// replayed; it is empty if it can.
func describeRun(c *undo.Call, t *tracedCall, past *pastCall, why string) {
	last := ""
	if n := len(past.Decisions); n > 0 {
		last = past.Decisions[n-1].Kind
	}
	_, c.WrittenByLLM = past.Written.RawObject()["_output"]
	c.Ran = past.Status == ideafile.Done && last != policy.Answer
	switch {
	case past.RanCall != nil:
		c.Tool, c.Params = past.RanCall.Tool, past.RanCall.Params
	case t != nil && t.params != nil && why == "":
		c.Tool, c.Params = t.ranTool, t.ranParams
	case last == policy.Amend || last == policy.Replace:
		c.Tool, c.NotKnown = "", "what a person made of it is not on record"
	case holdsReference(past.Written):
		if c.NotKnown = why; why == "" {
			c.NotKnown = "what it read is not on record"
		}
	default:
		c.Tool, c.Params = past.Written.Tool, writtenParams(past.Written)
	}
}

func holdsReference(w ideafile.WrittenCall) bool {
	refs, err := refexpr.FindReferences(writtenParams(w))
	return err != nil || len(refs) > 0
}

func writtenParams(w ideafile.WrittenCall) jsonval.Object {
	return jsonval.AsObject(jsonschema.WithoutMetaKeys(w.RawObject()))
}
