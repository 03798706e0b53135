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

// ReadExecutedInstances reads from its chain what the Calls of a process did: what each ran with, read, wrote and
// returned. If an instance cannot be replayed, it returns only what the chain records directly of its Calls.
func ReadExecutedInstances(run past.RecordedProcess) (all []ExecutedInstance, err error) {
	chains, err := openChains(run)
	for _, c := range chains {
		for _, token := range c.Last().InstanceTokens() {
			all = append(all, c.readExecutedInstance(token))
		}
	}
	return all, err
}

func (ch *chain) readExecutedInstance(token string) ExecutedInstance {
	i := ch.readInstance(token)
	if !i.status.HasEnded() {
		ch.addUnrecordedCalls(i)
	}
	player, outcomes := ch.replayByRequest(i)
	mismatchReason := i.replayMismatchReason()
	executedInstance := ExecutedInstance{ch.ProcessID, token, ch.Last(), i.status.HasEnded(), i.finalState, nil}
	callByKey := map[ideafile.CallKey]*tracedCall{}
	for n, rec := range player.flow.CallRecords() {
		callByKey[rec.Key()] = i.trace.calls[n]
	}
	for _, c := range undo.CallsOfInstance(player.flow, ch.Last().Tools) {
		recordedCall, outputPath := outcomes.callByKey[c.Key], player.flow.FindCall(c.ID).OutputPath
		c.StartLogicalTime, c.EndLogicalTime = player.ensureTracedCall(c.ID).startLogicalTime,
			player.ensureTracedCall(c.ID).endLogicalTime
		c.ProcessID, c.ID = ch.ProcessID, recordedCall.Key.ID(token)
		c.Status, c.Fault, c.Result = recordedCall.Status, recordedCall.Fault, recordedCall.Result
		ch.readWrites(&c, i, recordedCall, outputPath)
		describeRun(&c, callByKey[c.Key], recordedCall, mismatchReason)
		readResultBranch(&c, outputPath)
		c.RanSuccessfully = c.RanSuccessfully && !ch.wasDoneByReplacedPlan(i, recordedCall)
		executedInstance.Calls = append(executedInstance.Calls, c)
	}
	return executedInstance
}

// addUnrecordedCalls adds Calls without a record that may have run: Calls of a direct Plan in an instance that was
// stopped while working, and Calls of solutions.
func (ch *chain) addUnrecordedCalls(i *pastInstance) {
	knownKeys := map[ideafile.CallKey]bool{}
	for _, c := range i.calls {
		knownKeys[c.Key] = true
		if !c.IsRecorded && !ch.hasCallWritten(i, c.Key) {
			c.Status = ideafile.CallRunning
		}
	}
	lastIdea := ch.Last()
	planIndex, _ := ideafile.FindDirectPlans(lastIdea.Context).ChooseForInstance(i.token,
		ideafile.InstanceViewOf(lastIdea.Context, i.token))
	if planIndex < 0 {
		return
	}
	for n, w := range lastIdea.Context[planIndex].PlanCalls {
		key := ideafile.CallKey{Index: lastIdea.Context[planIndex].CallIndexOffset + n + 1}
		if !knownKeys[key] && !w.TargetsOtherInstance(i.token) {
			i.calls = append(i.calls, &past.Call{Key: key, WrittenCall: w.WithoutTarget(),
				Status: ideafile.CallRunning})
		}
	}
}

func (ch *chain) hasCallWritten(i *pastInstance, key ideafile.CallKey) bool {
	for _, e := range ch.WritesByInstance[i.token] {
		if e.Request == key.Request && e.Index == key.Index && e.CorrectionNumber == 0 {
			return true
		}
	}
	return false
}

// readWrites reads from the log what a Call wrote, since a replay may have written less.
func (ch *chain) readWrites(c *undo.Call, i *pastInstance, recordedCall *past.Call, outputPath refexpr.OutputPath) {
	c.WrittenPaths, c.WroteAsUpdate = nil, false
	for _, e := range ch.WritesByInstance[i.token] {
		if e.Request != recordedCall.Key.Request || e.Index != recordedCall.Key.Index || e.CorrectionNumber != 0 {
			continue
		}
		c.WrittenPaths = append(c.WrittenPaths, undo.WrittenPaths(e.Path, e.Value)...)
		c.WroteAsUpdate = c.WroteAsUpdate || statelog.IsUpdateWrite(e.OutputMethod, e.Path)
		if recordedCall.ExecutedCall != nil && recordedCall.ExecutedCall.Tool != recordedCall.WrittenCall.Tool {
			c.Result = outputPath.WrapResultForPath(e.Path, e.Value) // the result of the Call that replaced it
		}
	}
}

// readResultBranch reads the result of a Call from the branch that the result names. In the last branch it may be a
// fault instead.
func readResultBranch(c *undo.Call, outputPath refexpr.OutputPath) {
	branchIndex, result, isNamed, err := outputPath.SelectBranch(c.Result)
	if !isNamed || err != nil {
		return
	}
	c.Result = result
	if f, isFault := diag.FaultFromJSON(result); isFault && branchIndex == len(outputPath)-1 {
		c.SetFaultWrittenToBranch(f)
	}
}

// wasDoneByReplacedPlan reports whether a direct Plan did not run a Call because the Plan that it replaced had done the
// same Call: see dataflow.Instance.
func (ch *chain) wasDoneByReplacedPlan(i *pastInstance, c *past.Call) bool {
	replacedPlanOffset := 0
	for _, m := range ch.Last().Context {
		if m.IsDirectPlan() && m.CallIndexOffset < c.Key.Index {
			replacedPlanOffset = max(replacedPlanOffset, m.CallIndexOffset)
		}
	}
	return c.Key.Request == 0 && ch.Last().HasNoOutputPath(c.WrittenCall) &&
		slices.ContainsFunc(i.calls, func(o *past.Call) bool {
			return o.Key.Request == 0 && o.Key.Index <= replacedPlanOffset && o.Status == ideafile.CallDone &&
				o.WrittenCall.SameCallAs(c.WrittenCall)
		})
}

// describeRun states whether a Call ran, and with which Tool and parameters. replayMismatchReason says why its instance
// cannot be replayed; it is empty if it can.
func describeRun(c *undo.Call, t *tracedCall, recordedCall *past.Call, mismatchReason string) {
	lastDecisionKind := ""
	if n := len(recordedCall.Decisions); n > 0 {
		lastDecisionKind = recordedCall.Decisions[n-1].Kind
	}
	_, c.HasLLMWrittenResult = recordedCall.WrittenCall.RawObject()["_output"]
	c.RanSuccessfully = recordedCall.Status == ideafile.CallDone && lastDecisionKind != policy.Answer
	switch {
	case recordedCall.ExecutedCall != nil:
		c.Tool, c.Params = recordedCall.ExecutedCall.Tool, recordedCall.ExecutedCall.Params
	case t != nil && t.params != nil && mismatchReason == "":
		c.Tool, c.Params = t.executedTool, t.executedParams
	case lastDecisionKind == policy.Amend || lastDecisionKind == policy.Replace:
		c.Tool, c.ToolOrParamsUnknownReason = "", "what a person made of it is not on record"
	case paramsHoldReference(recordedCall.WrittenCall):
		if c.ToolOrParamsUnknownReason = mismatchReason; mismatchReason == "" {
			c.ToolOrParamsUnknownReason = "what it read is not on record"
		}
	default:
		c.Tool, c.Params = recordedCall.WrittenCall.Tool, writtenParams(recordedCall.WrittenCall)
	}
}

func paramsHoldReference(w ideafile.WrittenCall) bool {
	refs, err := refexpr.FindReferences(writtenParams(w))
	return err != nil || len(refs) > 0
}

func writtenParams(w ideafile.WrittenCall) jsonval.Object {
	return jsonval.AsObject(jsonschema.WithoutMetaKeys(w.RawObject()))
}
