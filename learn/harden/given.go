package harden

import (
	"slices"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// readGivenParams finds what each Call of an instance was given when it ran: it repeats the instance's own Calls,
// Request by Request. The common Plan has them all at once, and what a Call reads may have another writer there.
func (r *instanceRun) readGivenParams(all []*recordedCall) {
	instance := dataflow.New(r.paletteWithoutApprovals(), r.startMessages, r.instanceToken)
	byKey := map[ideafile.CallKey]*recordedCall{}
	for len(all) > 0 {
		end := slices.IndexFunc(all, func(c *recordedCall) bool { return c.Key.Request != all[0].Key.Request })
		if end < 0 {
			end = len(all)
		}
		for _, c := range all[:end] {
			// A Plan that ran directly is Request 0, of which no Call is taken from outside: all are counted one up.
			byKey[ideafile.CallKey{Request: c.Key.Request + 1, Index: c.Key.Index}] = c
			instance.AcceptCall(c.Key.Request+1, c.Key.Index, ideafile.ParseWrittenCall(c.rawCall).WithoutTarget())
		}
		instance.CloseRequest(all[0].Key.Request + 1)
		for batch := instance.Advance(); len(batch) > 0; batch = instance.Advance() {
			for _, ready := range batch {
				endCallAsRecorded(instance, ready,
					byKey[ideafile.CallKey{Request: ready.Record.Request, Index: ready.Record.Index}])
			}
		}
		all = all[end:]
	}
}

func endCallAsRecorded(instance *dataflow.Instance, ready dataflow.ReadyCall, c *recordedCall) {
	c.givenParams = ready.Params
	if c.Status == ideafile.Done && c.HasResult {
		instance.SucceedCall(ready.Record.ID, c.Result)
	} else {
		instance.FailCall(ready.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "it was %s", c.Status))
	}
}

// callsGivenOtherParams reports whether a Call would be given something else than it was when it ran.
func (c *recordedCall) wasGivenOtherParams(params map[string]any) bool {
	return c.givenParams != nil && !jsonval.Equal(c.givenParams, params)
}
