package dataflow

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// ApplyDelegateResult ends a Call with the output of its delegate, and keeps the values that the delegate handed back
// until the result is applied. An output that does not fit the Tool's `_output` fails the Call.
func (i *Instance) ApplyDelegateResult(callID string, tool *ideafile.Tool, output any,
	delegateValuesByPath jsonval.Object) {
	if tool != nil && !jsonval.ContainsBlobHandle(output) {
		if err := tool.OutputSchema.Validate(output); err != nil {
			i.FailCall(callID, diag.Faultf(ideafile.CodeBadOutput,
				"the delegate's output does not fit the tool's _output: %s", err))
			return
		}
	}
	if rec := i.FindCall(callID); rec != nil && rec.expectsResult() && len(delegateValuesByPath) > 0 {
		rec.DelegateValuesByPath = delegateValuesByPath
	}
	i.SucceedCall(callID, output)
}

// delegateValueWrites returns the values that a delegate handed back as writes. They are write-once: a closed path
// keeps its value.
func (i *Instance) delegateValueWrites(rec *CallRecord) ([]statelog.Write, *diag.Fault) {
	var writes []statelog.Write
	for _, p := range rec.delegateWritePaths {
		v, ok := rec.DelegateValuesByPath[p.String()]
		if !ok {
			continue
		}
		if _, isClosed := i.state.AuthorWhoClosedPath(p); isClosed {
			i.recordUnwrittenPath(rec, p)
			continue
		}
		if !jsonval.ContainsBlobHandle(v) {
			contract := &statelog.ResultContract{StateSchema: i.stateSchema, OutputPath: refexpr.OutputPath{{p}}}
			if err := contract.CheckAt(p, nil, v); err != nil {
				return nil, diag.Faultf(ideafile.CodeBadOutput, "handed back: %s", err)
			}
		}
		writes = append(writes, i.baseWrite(rec, p, v))
	}
	return writes, nil
}

// applyDelegateWrites applies the writes of delegateValueWrites, except where the result itself has just closed the
// path.
func (i *Instance) applyDelegateWrites(rec *CallRecord, writes []statelog.Write) {
	for _, w := range writes {
		if _, isClosed := i.state.AuthorWhoClosedPath(w.Path); isClosed {
			i.recordUnwrittenPath(rec, w.Path)
			continue
		}
		i.applyWrite(w)
	}
}
