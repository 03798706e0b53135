package dataflow

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// HandBack keeps what a delegate hands back beside its result, until that lands.
func (r *Instance) HandBack(id string, values map[string]any) {
	if rec := r.FindCall(id); rec != nil && rec.expects() && len(values) > 0 {
		rec.HandedBack = values
	}
}

// handed is what a delegate hands back, as writes: write-once, so that what is there already stays.
func (r *Instance) handed(rec *Record) ([]statelog.Write, *diag.Fault) {
	var writes []statelog.Write
	for _, p := range rec.delegateWrites {
		v, ok := rec.HandedBack[p.String()]
		if _, closed := r.state.Closed(p); !ok || closed {
			continue
		}
		if r.schema != nil && !jsonval.HasHandle(v) {
			landing := &statelog.ResultContract{Schema: r.schema, Path: refexpr.OutputPath{{p}}}
			if err := landing.CheckAt(p, nil, v); err != nil {
				return nil, diag.Faultf(ideafile.CodeBadOutput, "handed back: %s", err)
			}
		}
		writes = append(writes, statelog.Write{Path: p, Value: v, By: rec.writer(), Request: rec.Request, Index: rec.Index, At: r.now})
	}
	return writes, nil
}

// putHanded puts them into State, but for those whose path the result itself has closed.
func (r *Instance) putHanded(writes []statelog.Write) {
	for _, w := range writes {
		if _, closed := r.state.Closed(w.Path); !closed {
			r.state.Apply(w)
			r.unreported = append(r.unreported, w)
		}
	}
}

// Returns ends a Call by what its delegate came to. A result that does not fit the Tool's `_output` is none.
func (r *Instance) ApplyDelegateResult(id string, tool *ideafile.Tool, output any, handed map[string]any) {
	if tool != nil && !jsonval.HasHandle(output) {
		if err := tool.Output.Validate(output); err != nil {
			r.Fail(id, diag.Faultf(ideafile.CodeBadOutput, "the delegate's output does not fit the tool's _output: %s", err))
			return
		}
	}
	r.HandBack(id, handed)
	r.Succeed(id, output)
}
