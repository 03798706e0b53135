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

// trace is how one run of an instance went.
type trace struct {
	calls []*tracedCall // in Plan order
	state any
	// status is how the instance ended; empty where it did not, and unknown says why.
	status        ideafile.InstanceStatus
	fault         *diag.Fault
	unknown       []string
	steps         []ideafile.StepOutcome // of its instructions, where it has ended
	direct        bool                   // of a new run: a Plan runs the instance, so that no Calls come later
	branchDiffers bool                   // of a past: a Call was skipped there and not here, or the reverse
}

// tracedCall is a Call with what became of it.
type tracedCall struct {
	id   string
	tool string
	// params are resolved: those that would have run, as a person was shown them; nil where what they read was not
	// there.
	params jsonval.Object
	// executedTool and ranParams are what ran after people's decisions; empty where nothing did.
	ranTool      string
	ranParams    jsonval.Object
	ran          bool
	asked        bool // a person was asked, or would be
	decisions    []approval.Decision
	status       ideafile.CallStatus
	fault        *diag.Fault
	reason       string // why it did not run
	result       any
	hasResult    bool
	unknown      bool // it would run, and what it would give is not known
	writtenByLLM bool // the LLM wrote its result
	approved     int  // how often it was approved here, since nobody had decided on such a Call
	output       refexpr.OutputPath
	depth        int // the length of the longest chain of Calls before it

	adapted    *approval.ParamsAdaptation
	handedBack jsonval.Object
}

// matters reports whether a Call had an effect, or would have had but for a person: the others leave nothing behind.
func (c *tracedCall) matters() bool {
	return c.ran || c.unknown || len(c.decisions) > 0
}

func traceCall(flow *dataflow.Instance, rec *dataflow.CallRecord, started dataflow.ReadyCall) *tracedCall {
	c := &tracedCall{id: rec.ID, tool: rec.Tool, decisions: rec.Decisions, asked: len(rec.Decisions) > 0 ||
		rec.PendingApproval != nil,
		status: rec.Status, fault: rec.Fault, output: rec.OutputPath, writtenByLLM: rec.HasOutput,
		adapted: rec.ParamsAdaptation}
	switch {
	case started.Record != nil:
		c.params, c.ran = started.Params, rec.Status.IsFinal()
	case rec.PendingApproval != nil:
		c.params = rec.PendingApproval.Params
	case rec.Status == ideafile.Done || rec.Status == ideafile.Failed:
		c.params, _ = flow.ResolvedParams(rec)
		c.ran = rec.Status == ideafile.Done
	}
	c.ranTool, c.ranParams = rec.Tool, rec.ParamsAdaptation.ApplyTo(c.params)
	if n := len(rec.Decisions); n > 0 {
		c.tool, c.params = rec.Decisions[0].Tool, rec.Decisions[0].ShownParams
		c.ran = c.ran && rec.Decisions[n-1].Kind != policy.Answer
	}
	if !c.ran {
		c.reason = whyNotRun(rec)
	}
	return c
}

// whyNotRun says why a Call did not run.
func whyNotRun(rec *dataflow.CallRecord) string {
	switch {
	case rec.Fault != nil:
		return rec.Fault.Message
	case rec.UntakenBranchReference != "":
		return "it stands in a branch that is not taken"
	case rec.Status == ideafile.Skipped:
		return "its value is there already"
	}
	return ""
}

// setDepths counts for every Call the Calls that stand before it in the graph: those that write what it reads.
func setDepths(calls []*tracedCall, records []*dataflow.CallRecord) {
	reads := make([][]jsonval.Path, len(calls))
	for n, rec := range records {
		refs, _ := refexpr.FindReferences(rec.Params)
		for _, ref := range refs {
			if ref.Kind == ideafile.TypeState {
				reads[n] = append(reads[n], ref.Path)
			}
		}
	}
	// A chain of n Calls is n deep at most; Calls that wait for each other go no deeper.
	for round, moved := 0, true; moved && round < len(calls); round++ {
		moved = false
		for n, c := range calls {
			for k, writer := range calls {
				reads := k != n && slices.ContainsFunc(reads[n], func(p jsonval.Path) bool {
					return slices.ContainsFunc(writer.output.Paths(), p.Overlaps)
				})
				if reads && c.depth <= writer.depth && writer.depth+1 < len(calls) {
					c.depth, moved = writer.depth+1, true
				}
			}
		}
	}
}
