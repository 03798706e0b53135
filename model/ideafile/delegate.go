package ideafile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// AnonymousDelegate is the `_delegate` of a Tool that names no file: its own description and `_output` make the Idea.
const AnonymousDelegate = "anonymous"

// MaxDelegateDepth is the number of levels to which delegates may nest.
const MaxDelegateDepth = 5

func (t *Tool) readDelegate(at string, ps *diag.Problems) {
	v := t.Source["_delegate"]
	if v == nil {
		return
	}
	s, ok := v.(string)
	t.Delegate = s
	if !ok || s == "" {
		ps.Add(at+"._delegate", `want an Idea file's path, or "anonymous"`)
	}
	for _, k := range []string{"_activity", "_timeout", "_retry"} {
		if t.Source[k] != nil {
			ps.Add(jsonval.JSONPathKey(at, k), "a delegate has none: it is a process, with limits of its own")
		}
	}
	if t.Delegate == AnonymousDelegate && t.Source["_output"] == nil {
		ps.Add(at, "an anonymous delegate needs _output: there is nothing else to ask for")
	}
}

func (t *Tool) readDelegateWrites(at string, ps *diag.Problems) {
	v := t.Source["_writes"]
	if v == nil {
		return
	}
	list, ok := jsonval.StringList(v)
	if !ok || t.Source["_delegate"] == nil {
		ps.Add(at+"._writes", `want a list of places such as "state.draft", on a Tool with _delegate`)
		return
	}
	for n, s := range list {
		ref, err := refexpr.ParseScope(s)
		if err != nil || ref.Kind != TypeState || len(ref.Path) == 0 {
			ps.Add(fmt.Sprintf("%s._writes[%d]", at, n), `want a place in State such as "state.draft"`)
			continue
		}
		t.DelegateWrites = append(t.DelegateWrites, ref.Path)
	}
}

// DelegateKey returns the key of a delegate's file: its path from the folder of the first Idea file. from is the key of the file that
// names it; empty for the first one. A file outside of that folder is an error.
func DelegateKey(from, name string) (string, error) {
	key := path.Join(path.Dir(from), name)
	if path.IsAbs(name) || strings.Contains(name, `\`) || key == ".." || strings.HasPrefix(key, "../") {
		return "", fmt.Errorf("a delegate's file lies in the folder of the Idea file, or below: not %q", jsonval.Clip(name, 80))
	}
	return key, nil
}

// CheckDelegates returns the problems of the files that an Idea's delegates run: missing or broken files, cycles, and delegates that
// nest deeper than MaxDelegateDepth. files are by key, and root is the key of the Idea's own file.
func CheckDelegates(i *Idea, root string, files map[string]any) diag.Problems {
	c := &delegateChecker{files: files, broken: map[string]bool{}, simulated: i.Simulated != nil}
	c.checkIdea(i, "", []string{root})
	return c.problems
}

type delegateChecker struct {
	files     map[string]any
	broken    map[string]bool
	simulated bool // the Idea that starts the delegates is a simulation
	problems  diag.Problems
}

func (c *delegateChecker) checkIdea(i *Idea, parent string, ancestors []string) {
	for _, t := range i.Tools {
		if t.Delegate == "" || (t.Delegate == AnonymousDelegate && len(ancestors) <= MaxDelegateDepth) {
			continue
		}
		at := jsonval.JSONPathKey(ToolsPath, t.Name) + "._delegate"
		if parent != "" {
			at = parent + ": " + at
		}
		key, err := DelegateKey(parent, t.Delegate)
		switch {
		case err != nil:
			c.problems.Add(at, "%s", err)
		case len(ancestors) > MaxDelegateDepth:
			c.problems.Add(at, "delegates stand more than %d deep within each other", MaxDelegateDepth)
		case slices.Contains(ancestors, key):
			c.problems.Add(at, "%s leads back to itself: %s", key, strings.Join(append(ancestors[:len(ancestors):len(ancestors)], key), ", "))
		case c.files[key] == nil:
			c.problems.Add(at, "the start brings no file %s", key)
		default:
			c.checkFile(key, ancestors)
		}
	}
}

func (c *delegateChecker) checkFile(key string, ancestors []string) {
	idea, problems := ReadIdea(c.files[key])
	for _, p := range problems.Errors() {
		if !c.broken[key] {
			c.problems.Add(key+": "+p.Path, "%s", p.Message)
		}
	}
	if len(problems.Errors()) > 0 {
		c.broken[key] = true
		return
	}
	if idea.Simulated != nil && !c.simulated {
		c.problems.Add(key+": $.meta.simulated", "it is a simulation: what it gives is made up")
	}
	c.checkIdea(idea, key, append(ancestors[:len(ancestors):len(ancestors)], key))
}

// DelegateIdea returns the Idea that a Call's delegate starts from: the file or, if it is nil, one made from the Tool's description.
// The scopes are added under their names, and the parameters as input. llm is the `config.llm` of an anonymous delegate.
func (t *Tool) DelegateIdea(file map[string]any, llm any, params, scopes map[string]any) map[string]any {
	idea := map[string]any{}
	//workflowcheck:ignore -- a map again
	for k, v := range file {
		idea[k] = v
	}
	context, _ := idea["context"].([]any)
	context = context[:len(context):len(context)]
	if file == nil {
		idea["meta"] = map[string]any{"path": t.Name}
		if llm != nil {
			idea["config"] = map[string]any{"llm": llm}
		}
		context = append(context, map[string]any{"type": TypeText, "text": "You are this tool: " + t.Name + ". " + t.Description})
	}
	schema := map[string]any{}
	fileSchema, _ := idea["schema"].(map[string]any)
	//workflowcheck:ignore -- a map again
	for k, v := range fileSchema {
		schema[k] = v
	}
	if schema["output"] == nil && t.Output != nil {
		schema["output"] = t.Output.Source
	}
	idea["schema"] = schema
	for _, place := range jsonval.SortedKeys(scopes) {
		if ref, err := refexpr.ParseScope(place); err == nil {
			context = append(context, scopeMessage(ref, scopes[place]))
		}
	}
	idea["context"] = append(context, map[string]any{"type": TypeInput, TypeInput: params})
	return idea
}

// scopeMessage is the Message that gives a delegate the value of one scope.
func scopeMessage(ref refexpr.Reference, value any) map[string]any {
	for n := len(ref.Path) - 1; n >= 0; n-- {
		value = map[string]any{ref.Path[n]: value}
	}
	switch ref.Kind {
	case TypeState, TypeInput:
		return map[string]any{"type": ref.Kind, ref.Kind: value}
	}
	return map[string]any{"type": TypeData, "kind": ref.Kind, TypeData: value}
}

// ValuesAt returns the values of a State at some paths, by path: those that a delegate writes to its parent's State. Paths without a
// value are left out.
func ValuesAt(state any, paths []jsonval.Path) map[string]any {
	out := map[string]any{}
	for _, p := range paths {
		if v, ok := refexpr.LookupIn(state, p); ok {
			out[p.String()] = v
		}
	}
	return out
}
