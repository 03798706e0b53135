package check

import (
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkUndo checks the file's `_undo` of a Tool. Otherwise an error in it would show only when the undo is needed most.
func (c *checker) checkUndo(t *ideafile.Tool, path string) {
	if t.Undo == nil {
		c.checkUndoIsDeclared(t, path)
	}
	if path += "._undo"; t.Undo == nil || t.Undo.Kind != ideafile.UndoByTool {
		return
	}
	by := c.idea.Tool(t.Undo.Tool)
	if by == nil {
		c.addProblems(c.idea.ToolProblems(t.Undo.Tool, path+".tool"))
		return
	}
	if circle := c.undoCircle(t); circle != nil {
		c.addError(path+".tool",
			`a circle: %s; an undo Tool cannot be undone by what it undoes: give %s "none" or "never"`,
			strings.Join(circle, " → "), circle[len(circle)-2])
	}
	// In a simulation the LLM writes results that Tools have otherwise.
	if b := c.bindings[by.Name]; by.DelegateFile != "" || b.Kind == ideafile.KindLatent && b.Simulation == nil {
		c.addError(path+".tool",
			"%q cannot undo anything: it is a delegate, or the LLM writes its result", by.Name)
	}
	c.checkUndoParams(t, by, path)
}

// checkUndoIsDeclared reports a Tool with an effect but without `_undo`, if instances that fail are undone, and a Tool
// whose Go function names an unknown undo Tool. The undo of Go functions that are registered elsewhere is unknown here.
func (c *checker) checkUndoIsDeclared(t *ideafile.Tool, path string) {
	b, known := c.bindings[t.Name]
	if b.Undo != nil && b.Undo.Tool != "" && c.idea.Tool(b.Undo.Tool) == nil {
		c.addWarning(path,
			"its Go function is undone by %q, which is not in the palette: its Calls cannot be undone",
			b.Undo.Tool)
	}
	takesBack := func(o *ideafile.Tool) bool { return o.UndoUnder(c.bindings[o.Name]).Tool == t.Name }
	if c.idea.Config.UndoOnFailure && known && b.Undo == nil && t.UndoUnder(b).Kind != ideafile.UndoNone &&
		!slices.ContainsFunc(c.idea.Tools, takesBack) {
		c.addError(path, "config.onFailure undoes the Calls of failed instances, but this tool does not say how: "+
			`give it "_undo", with a tool, "none" or "never"`)
	}
}

// undoCircle lists the Tools that undo each other, from a Tool to itself; nil if there is no such circle.
func (c *checker) undoCircle(t *ideafile.Tool) []string {
	names := []string{t.Name}
	for next := t; next != nil && next.Undo != nil && next.Undo.Kind == ideafile.UndoByTool; {
		if names = append(names, next.Undo.Tool); next.Undo.Tool == t.Name {
			return names
		}
		if slices.Contains(names[1:len(names)-1], next.Undo.Tool) {
			return nil // it is reported for the Tools within
		}
		next = c.idea.Tool(next.Undo.Tool)
	}
	return nil
}

// checkUndoParams holds what the undo Tool is given against its schema.
func (c *checker) checkUndoParams(t, by *ideafile.Tool, path string) {
	for _, name := range jsonschema.RequiredProperties(by.Source) {
		if _, wired := by.WiredParams[name]; t.Undo.Params[name] == nil && !wired {
			c.addError(path+".params", "%s wants a parameter %q", by.Name, jsonval.Short(name))
		}
	}
	for name := range jsonval.Sorted(t.Undo.Params) {
		at := jsonval.JSONPathWithKey(path+".params", name)
		_, wired := by.WiredParams[name]
		_, declared := by.SchemaByParam[name]
		switch {
		case wired:
			c.addError(at, "the parameter %q of %s is wired: leave it out", name, by.Name)
		case !declared && !by.AllowsExtraParams:
			c.addError(at, "%s has no parameter %q%s", by.Name, jsonval.Short(name),
				diag.DidYouMeanOrListNames(name, jsonval.SortedKeys(by.SchemaByParam)))
		default:
			c.checkUndoParam(t, by, name, at)
		}
	}
}

// checkUndoParam checks one parameter: what it refers to, and that its value can fit.
func (c *checker) checkUndoParam(t, by *ideafile.Tool, name, at string) {
	value := t.Undo.Params[name]
	expressions, _ := refexpr.FindExpressions(value) // reading the Tool named an error
	for _, e := range expressions {
		for _, ref := range e.References() {
			c.checkUndoReference(t, ref, at)
		}
	}
	if len(expressions) == 0 {
		if err := by.SchemaByParam[name].Validate(value); err != nil {
			c.addError(at, "it does not fit %s: %s", by.Name, diag.WithoutPackagePrefix(err))
		}
	}
	text := jsonval.AsText(value)
	ref, err := refexpr.ParseReference(text)
	source := c.undoSource(t, ref.Kind)
	if err != nil || source == nil || jsonschema.SubschemaAt(source, ref.Path).IsForbidden {
		return
	}
	given, wanted := jsonschema.TypesAt(source, ref.Path),
		jsonschema.TypesAt(by.ParamsSchemaSource(), jsonval.Path{name})
	if jsonschema.CompareTypes(given, wanted) == jsonschema.FitsNever {
		c.addError(at, "%s is of type %s; the parameter %q of %s wants %s", ref, jsonschema.JoinWithOr(given), name,
			by.Name, jsonschema.JoinWithOr(wanted))
	}
}

// checkUndoReference reports a Reference to what the schema of the result, of the parameters or of State does not have.
func (c *checker) checkUndoReference(t *ideafile.Tool, ref refexpr.Reference, at string) {
	if ref.Kind == ideafile.TypeState {
		c.checkStatePath(ref.Path, at)
		return
	}
	source := c.undoSource(t, ref.Kind)
	if source == nil || !jsonschema.SubschemaAt(source, ref.Path).IsForbidden {
		return
	}
	of := "_output has"
	if ref.Kind == ideafile.ParamsKind {
		of = "parameters have"
	}
	c.addError(at, "%s: the tool's %s no %s%s", ref, of, ref.Path, suggestOutputProperty(source, ref.Path))
}

// undoSource is the JSON Schema of what a Reference of a kind reads; nil: any value.
func (c *checker) undoSource(t *ideafile.Tool, kind string) any {
	switch {
	case kind == ideafile.ResultKind && t.OutputSchema != nil:
		return t.OutputSchema.Source
	case kind == ideafile.ParamsKind:
		return closedSchema(t)
	}
	return nil
}

// closedSchema is the schema of a Tool's parameters; a Call has no others unless the Tool allows them.
func closedSchema(t *ideafile.Tool) jsonval.Object {
	schema := t.ParamsSchemaSource()
	if t.AllowsExtraParams {
		return schema
	}
	return jsonval.WithKey(schema, "additionalProperties", false)
}
