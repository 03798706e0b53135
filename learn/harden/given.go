package harden

import (
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// readActualParams finds what each Call of an instance was given when it ran. It replays the instance's own Calls,
// Request by Request: in the common Plan all of them are there at once, so another Call may write what a Call reads.
func (r *instanceRun) readActualParams(calls []*recordedCall) {
	replayInstance := dataflow.New(r.paletteWithoutApprovals(), r.startMessages, r.instanceToken)
	callByKey := map[ideafile.CallKey]*recordedCall{}
	for n, c := range calls {
		// A Plan that ran directly is Request 0, and signals cannot bring Calls of Request 0. So all Request numbers
		// are raised by one.
		shiftedRequestNumber := c.Key.Request + 1
		callByKey[ideafile.CallKey{Request: shiftedRequestNumber, Index: c.Key.Index}] = c
		replayInstance.AcceptCall(shiftedRequestNumber, c.Key.Index,
			ideafile.ParseWrittenCall(c.rawCall).WithoutTarget())
		if n+1 < len(calls) && calls[n+1].Key.Request == c.Key.Request {
			continue
		}
		replayInstance.CloseRequest(shiftedRequestNumber)
		runReadyCallsToEnd(replayInstance, func(ready dataflow.ReadyCall) {
			c := callByKey[ready.Record.Key()]
			c.actualParams = ready.Params
			if c.Status == ideafile.CallDone && c.HasResult {
				replayInstance.SucceedCall(ready.Record.ID, c.Result)
			} else {
				replayInstance.FailCall(ready.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "it was %s", c.Status))
			}
		})
	}
}

// ranWithOtherParams reports whether the Call ran with other parameters than these.
func (c *recordedCall) ranWithOtherParams(params jsonval.Object) bool {
	return c.actualParams != nil && !jsonval.EqualNumerically(c.actualParams, params)
}
