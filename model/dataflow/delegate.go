package dataflow

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// ApplyDelegateResult ends a Call with the output of its delegate, and keeps the values that the delegate handed back until the
// result is applied. An output that does not fit the Tool's `_output` fails the Call.
func (i *Instance) ApplyDelegateResult(id string, tool *ideafile.Tool, output any, handedBack map[string]any) {
	if tool != nil && !jsonval.HasHandle(output) {
		if err := tool.Output.Validate(output); err != nil {
			i.Fail(id, diag.Faultf(ideafile.CodeBadOutput, "the delegate's output does not fit the tool's _output: %s", err))
			return
		}
	}
	i.recordHandedBackValues(id, handedBack)
	i.Succeed(id, output)
}

func (i *Instance) recordHandedBackValues(id string, values map[string]any) {
	if rec := i.FindCall(id); rec != nil && rec.expectsResult() && len(values) > 0 {
		rec.HandedBack = values
	}
}

// handedBackWrites returns the values that a delegate handed back as writes. They are write-once: a closed path keeps its value.
func (i *Instance) handedBackWrites(rec *Record) ([]statelog.Write, *diag.Fault) {
	var writes []statelog.Write
	for _, p := range rec.delegateWrites {
		v, ok := rec.HandedBack[p.String()]
		if _, closed := i.state.Closed(p); !ok || closed {
			continue
		}
		if i.stateSchema != nil && !jsonval.HasHandle(v) {
			contract := &statelog.ResultContract{Schema: i.stateSchema, Path: refexpr.OutputPath{{p}}}
			if err := contract.CheckAt(p, nil, v); err != nil {
				return nil, diag.Faultf(ideafile.CodeBadOutput, "handed back: %s", err)
			}
		}
		writes = append(writes, statelog.Write{Path: p, Value: v, By: rec.authorName(), Request: rec.Request, Index: rec.Index, At: i.now})
	}
	return writes, nil
}

// applyHandedBack applies them, except where the result itself has just closed the path.
func (i *Instance) applyHandedBack(writes []statelog.Write) {
	for _, w := range writes {
		if _, closed := i.state.Closed(w.Path); !closed {
			i.applyWrite(w)
		}
	}
}
