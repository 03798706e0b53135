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
	t.DelegateFile = s
	if !ok || s == "" {
		ps.Add(at+"._delegate", `want an Idea file's path, or "anonymous"`)
	}
	for _, k := range []string{"_activity", "_timeout", "_retry"} {
		if t.Source[k] != nil {
			ps.Add(jsonval.JSONPathWithKey(at, k), "a delegate has none: it is a process, with limits of its own")
		}
	}
	if t.DelegateFile == AnonymousDelegate && t.Source["_output"] == nil {
		ps.Add(at, "an anonymous delegate needs _output: there is nothing else to ask for")
	}
}

func (t *Tool) readDelegateWritablePaths(at string, ps *diag.Problems) {
	v := t.Source["_writes"]
	if v == nil {
		return
	}
	list, ok := jsonval.AsStringList(v)
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
		t.DelegateWritablePaths = append(t.DelegateWritablePaths, ref.Path)
	}
}

// ResolveDelegateFile returns the key of a delegate's file: its path from the folder of the first Idea file. from is the key of the file that
// names it; empty for the first one. A file outside of that folder is an error.
func ResolveDelegateFile(from, name string) (string, error) {
	key := path.Join(path.Dir(from), name)
	if path.IsAbs(name) || strings.Contains(name, `\`) || key == ".." || strings.HasPrefix(key, "../") {
		return "", fmt.Errorf("a delegate's file lies in the folder of the Idea file, or below: not %q", jsonval.Clip(name, 80))
	}
	return key, nil
}

// delegatesKey is the key under which an Idea carries the files of its delegates, by the paths that name them: it runs where they are not.
const delegatesKey = "delegates"

// ExtractDelegateFiles returns an Idea's source without the files that it carries, and all files by key: those that it carries, the given ones,
// and those that either carry in turn. Files of one key that differ are a problem: none would be run in silence for another.
func ExtractDelegateFiles(source, given map[string]any) (rest, files map[string]any, ps diag.Problems) {
	t := &delegateFileExtractor{filesByKey: map[string]any{}}
	rest = t.extractFiles(source, "", "$")
	for _, key := range jsonval.SortedKeys(given) {
		t.addFile(key, given[key], key+": $")
	}
	return rest, t.filesByKey, t.problems
}

type delegateFileExtractor struct {
	filesByKey map[string]any
	problems   diag.Problems
}

// extractFiles takes what an Idea carries. from is the key of its own file, and at its place.
func (t *delegateFileExtractor) extractFiles(source map[string]any, from, at string) map[string]any {
	carried, ok := source[delegatesKey].(map[string]any)
	if !ok {
		return source // ReadIdea tells what is wrong with anything else
	}
	for _, name := range jsonval.SortedKeys(carried) {
		place := jsonval.JSONPathWithKey(at+"."+delegatesKey, name)
		key, err := ResolveDelegateFile(from, name)
		if err != nil {
			t.problems.Add(place, "%s", err)
			continue
		}
		t.addFile(key, carried[name], place)
	}
	return jsonval.WithoutKey(source, delegatesKey)
}

func (t *delegateFileExtractor) addFile(key string, file any, at string) {
	if idea, ok := file.(map[string]any); ok {
		file = t.extractFiles(idea, key, at)
	}
	if have := t.filesByKey[key]; have != nil && !jsonval.Equal(have, file) {
		t.problems.Add(at, "there are two files %s, which differ", key)
		return
	}
	t.filesByKey[key] = file
}

// WithDelegateFiles returns an Idea's source with the files that its delegates need, and with names that lead to them from there: what
// it came from may have been a delegate itself, in a folder below that of the first file. own is the key of that file.
func WithDelegateFiles(source map[string]any, own string, files map[string]any) map[string]any {
	needed := map[string]any{}
	addNeededDelegateFiles(needed, source, own, files)
	if len(needed) == 0 {
		return source
	}
	out := jsonval.WithoutKey(source, delegatesKey)
	out[delegatesKey] = needed
	if path.Dir(own) == "." {
		return out
	}
	schema := jsonval.WithoutKey(jsonval.AsObject(source["schema"]), "tools")
	tools := map[string]any{}
	//workflowcheck:ignore -- a map again
	for name, tool := range toolSourcesOf(source) {
		if key := delegateFileKeyOfTool(tool, own); key != "" {
			named := jsonval.WithoutKey(jsonval.AsObject(tool), "_delegate")
			named["_delegate"] = key
			tool = named
		}
		tools[name] = tool
	}
	schema["tools"], out["schema"] = tools, schema
	return out
}

func addNeededDelegateFiles(needed, source map[string]any, from string, files map[string]any) {
	//workflowcheck:ignore -- a map again
	for _, tool := range toolSourcesOf(source) {
		key := delegateFileKeyOfTool(tool, from)
		if key == "" || needed[key] != nil || files[key] == nil {
			continue
		}
		needed[key] = files[key]
		addNeededDelegateFiles(needed, jsonval.AsObject(files[key]), key, files)
	}
}

func toolSourcesOf(source map[string]any) map[string]any {
	return jsonval.AsObject(jsonval.AsObject(source["schema"])["tools"])
}

// delegateFileKeyOfTool returns the key of the file that a Tool's delegate runs; empty if it runs none.
func delegateFileKeyOfTool(tool any, from string) string {
	name := jsonval.AsText(jsonval.AsObject(tool)["_delegate"])
	key, err := ResolveDelegateFile(from, name)
	if name == "" || name == AnonymousDelegate || err != nil {
		return ""
	}
	return key
}

// HasToolWithDelegateFile reports whether a Tool of the Idea runs an Idea file.
func (i *Idea) HasToolWithDelegateFile() bool {
	return slices.ContainsFunc(i.Tools, func(t *Tool) bool { return t.DelegateFile != "" && t.DelegateFile != AnonymousDelegate })
}

// CheckDelegateFiles returns the problems of the files that an Idea's delegates run: missing or broken files, cycles, and delegates that
// nest deeper than MaxDelegateDepth. files are by key, and root is the key of the Idea's own file.
func CheckDelegateFiles(i *Idea, root string, files map[string]any) diag.Problems {
	c := &delegateChecker{rootFileKey: root, rawFilesByKey: files, ideaByFileKey: map[string]*Idea{},
		alreadyChecked: map[delegateFileAtDepth]bool{}, parentIsSimulated: i.Simulation != nil}
	c.checkIdea(i, root, []string{root})
	return c.problems
}

type delegateChecker struct {
	rootFileKey       string
	rawFilesByKey     map[string]any
	ideaByFileKey     map[string]*Idea // by key; nil for one that is broken
	alreadyChecked    map[delegateFileAtDepth]bool
	parentIsSimulated bool // the Idea that starts the delegates is a simulation
	problems          diag.Problems
}

// delegateFileAtDepth is a file at a depth. What lies below is the same whichever way leads there, and there may be thousands of ways.
type delegateFileAtDepth struct {
	fileKey string
	depth   int
}

func (c *delegateChecker) checkIdea(i *Idea, parent string, ancestors []string) {
	for _, t := range i.Tools {
		if t.DelegateFile == "" || (t.DelegateFile == AnonymousDelegate && len(ancestors) <= MaxDelegateDepth) {
			continue
		}
		at := jsonval.JSONPathWithKey(ToolsPath, t.Name) + "._delegate"
		if parent != c.rootFileKey {
			at = parent + ": " + at
		}
		key, err := ResolveDelegateFile(parent, t.DelegateFile)
		switch {
		case err != nil:
			c.problems.Add(at, "%s", err)
		case len(ancestors) > MaxDelegateDepth:
			c.problems.Add(at, "delegates stand more than %d deep within each other", MaxDelegateDepth)
		case slices.Contains(ancestors, key):
			c.problems.Add(at, "%s leads back to itself: %s", key, strings.Join(append(ancestors[:len(ancestors):len(ancestors)], key), ", "))
		case c.rawFilesByKey[key] == nil:
			c.problems.Add(at, "the start brings no file %s", key)
		default:
			c.checkFile(key, ancestors)
		}
	}
}

func (c *delegateChecker) checkFile(key string, ancestors []string) {
	at := delegateFileAtDepth{key, len(ancestors)}
	if c.alreadyChecked[at] {
		return
	}
	c.alreadyChecked[at] = true
	idea, known := c.ideaByFileKey[key]
	if !known {
		idea = c.readFile(key)
		c.ideaByFileKey[key] = idea
	}
	if idea != nil {
		c.checkIdea(idea, key, append(ancestors[:len(ancestors):len(ancestors)], key))
	}
}

// readFile returns nil for a file that is broken.
func (c *delegateChecker) readFile(key string) *Idea {
	idea, problems := ReadIdea(c.rawFilesByKey[key])
	errs := problems.Errors()
	for _, p := range errs {
		c.problems.Add(key+": "+p.JSONPath, "%s", p.Message)
	}
	if len(errs) > 0 {
		return nil
	}
	if idea.Simulation != nil && !c.parentIsSimulated {
		c.problems.Add(key+": $.meta.simulated", "it is a simulation: what it gives is made up")
	}
	return idea
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
	if schema["output"] == nil && t.OutputSchema != nil {
		schema["output"] = t.OutputSchema.Source
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

// ValuesByPath returns the values of a State at some paths, by path: those that a delegate writes to its parent's State. Paths without a
// value are left out.
func ValuesByPath(state any, paths []jsonval.Path) map[string]any {
	out := map[string]any{}
	for _, p := range paths {
		if v, ok := refexpr.ValueOrBlobHandleAt(state, p); ok {
			out[p.String()] = v
		}
	}
	return out
}
