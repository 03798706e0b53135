package ideafile

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// AnonymousDelegate is the `_delegate` of a Tool that names no file: its own description and `_output` make the Idea.
const AnonymousDelegate = "anonymous"

// DelegatesKey is the key under which an Idea carries the files of its delegates, by the paths that name them, because
// it runs where the files do not exist.
const DelegatesKey = "delegates"

func (t *Tool) readDelegate(jsonPath string, ps *diag.Problems) {
	v := t.Source["_delegate"]
	if v == nil {
		return
	}
	s, ok := v.(string)
	t.DelegateFile = s
	if !ok || s == "" {
		ps.Add(jsonPath+"._delegate", `want an Idea file's path, or "anonymous"`)
	}
	for _, k := range []string{"_activity", "_timeout", "_retry", "_rate"} {
		if t.Source[k] != nil {
			ps.AddAtKey(jsonPath, k, "a delegate cannot have it: it is a process with limits of "+
				"its own")
		}
	}
	if t.DelegateFile == AnonymousDelegate && t.Source["_output"] == nil {
		ps.Add(jsonPath, "an anonymous delegate needs _output: its output is all that it does")
	}
}

func (t *Tool) readDelegateWritablePaths(jsonPath string, ps *diag.Problems) {
	v := t.Source["_writes"]
	if v == nil {
		return
	}
	list, ok := jsonval.AsStringList(v)
	if !ok || t.Source["_delegate"] == nil {
		ps.Add(jsonPath+"._writes", `want a list of places such as "state.draft", on a Tool with _delegate`)
		return
	}
	for n, s := range list {
		ref, err := refexpr.ParseScope(s)
		if err != nil || ref.Kind != TypeState || len(ref.Path) == 0 {
			ps.Add(fmt.Sprintf("%s._writes[%d]", jsonPath, n), `want a place in State such as "state.draft"`)
			continue
		}
		t.DelegateWritablePaths = append(t.DelegateWritablePaths, ref.Path)
	}
}
