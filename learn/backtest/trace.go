package backtest

import (
	"slices"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// runTrace records how one run of an instance went.
type runTrace struct {
	calls []*tracedCall // in Plan order
	state any
	// status is how the instance ended. It is empty if the instance did not end, and unknown says why.
	status              ideafile.InstanceStatus
	fault               *diag.Fault
	otherUnknownReasons []string
	stepOutcomes        []ideafile.StepOutcome // of its instructions, if it has ended
	isDirectPlan        bool                   // in a new run: a Plan runs the instance, so no Calls come later
	branchDiffers       bool                   // in a replay: a Call was skipped then and not here, or the reverse
}

// tracedCall is a Call with its outcome.
type tracedCall struct {
	id   string
	tool string
	// params are the resolved parameters of the Call as a person was shown it, before decisions. They are nil if a
	// value that they read was missing.
	params jsonval.Object
	// executedTool and executedParams are the Tool and the parameters after people's decisions.
	executedTool      string
	executedParams    jsonval.Object
	wasExecuted       bool
	isPersonAsked     bool // a person was asked, or would be
	decisions         []approval.Decision
	status            ideafile.CallStatus
	fault             *diag.Fault
	notRunReason      string // why it did not run
	result            any
	hasResult         bool
	isResultUnknown   bool // it would run, with an unknown result
	isWrittenByLLM    bool // the LLM wrote its result
	autoApprovalCount int  // how often the backtest approved it, since nobody had decided on such a Call
	outputPath        refexpr.OutputPath
	graphDepth        int // the length of the longest chain of Calls before it

	paramsAdaptation *approval.ParamsAdaptation
	delegateWrites   jsonval.Object

	readyCall            dataflow.ReadyCall // the Call with its parameters, which an Instance forgets at the Call's end
	appliedDecisionCount int
	// startLogicalTime and endLogicalTime are moments: all Calls that are ready together begin at the same one.
	startLogicalTime, endLogicalTime int
}

// hasEffect reports whether a Call had an effect, or would have had one if no person had stopped it. Other Calls leave
// nothing behind.
func (c *tracedCall) hasEffect() bool {
	return c.wasExecuted || c.isResultUnknown || len(c.decisions) > 0
}

// readRecord reads what the instance recorded of the Call.
func (c *tracedCall) readRecord(flow *dataflow.Instance, rec *dataflow.CallRecord) {
	c.tool, c.status, c.fault, c.decisions = rec.Tool, rec.Status, rec.Fault, rec.Decisions
	c.isPersonAsked = len(rec.Decisions) > 0 || rec.PendingApproval != nil
	c.outputPath, c.paramsAdaptation = rec.OutputPath, rec.ParamsAdaptation
	if c.isWrittenByLLM = rec.HasLatentOutput; c.isWrittenByLLM {
		c.result, c.hasResult = rec.LatentOutput, true
	}
	switch {
	case c.readyCall.Record != nil:
		c.params, c.wasExecuted = c.readyCall.Params, rec.Status.IsFinal()
	case rec.PendingApproval != nil:
		c.params = rec.PendingApproval.Params
	case rec.Status == ideafile.CallDone || rec.Status == ideafile.CallFailed:
		c.params, _ = flow.ResolvedParams(rec)
		c.wasExecuted = rec.Status == ideafile.CallDone
	}
	c.executedTool, c.executedParams = rec.Tool, rec.ParamsAdaptation.ApplyTo(c.params)
	if n := len(rec.Decisions); n > 0 {
		c.tool, c.params = rec.Decisions[0].Tool, rec.Decisions[0].ShownParams
		c.wasExecuted = c.wasExecuted && rec.Decisions[n-1].Kind != policy.Answer
	}
	if !c.wasExecuted {
		c.notRunReason = notRunReason(rec)
	}
}

// notRunReason says why a Call did not run.
func notRunReason(rec *dataflow.CallRecord) string {
	switch {
	case rec.Fault != nil:
		return rec.Fault.Message
	case rec.UntakenBranchReference != "":
		return "it stands in a branch that is not taken"
	case rec.Status == ideafile.CallSkipped:
		return "its value is there already"
	}
	return ""
}

// setGraphDepths sets for every Call the length of the longest chain of Calls before it in the graph. A Call comes
// before another if it writes what the other reads.
func setGraphDepths(calls []*tracedCall, records []*dataflow.CallRecord) {
	readPathsByCall := make([][]jsonval.Path, len(calls))
	for n, rec := range records {
		refs, _ := refexpr.FindReferences(rec.Params)
		for _, ref := range refs {
			if ref.Kind == ideafile.TypeState {
				readPathsByCall[n] = append(readPathsByCall[n], ref.Path)
			}
		}
	}
	// A chain of n Calls has depth n at most. Calls that wait for each other are not raised beyond that.
	for round, hasChanged := 0, true; hasChanged && round < len(calls); round++ {
		hasChanged = false
		for n, c := range calls {
			for k, writer := range calls {
				isRead := k != n && slices.ContainsFunc(readPathsByCall[n], func(p jsonval.Path) bool {
					return slices.ContainsFunc(writer.outputPath.Paths(), p.Overlaps)
				})
				if isRead && c.graphDepth <= writer.graphDepth && writer.graphDepth+1 < len(calls) {
					c.graphDepth, hasChanged = writer.graphDepth+1, true
				}
			}
		}
	}
}
