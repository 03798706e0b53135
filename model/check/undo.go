package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkUndo checks how Calls of a Tool are undone. Otherwise an error in it would show only when the undo is needed
// most.
func (c *checker) checkUndo(t *ideafile.Tool, path string) {
	if t.Undo != nil {
		c.checkUndoBy(t, *t.Undo, path+"._undo")
		return
	}
	c.checkUndoIsDeclared(t, path)
	if by := c.bindings[t.Name].Undo; by != nil {
		c.checkUndoOfFunction(t, *by, path)
	}
}

// checkUndoOfFunction checks the undo that a Tool's Go function declares. Its findings are only warnings, because the
// Tool is usable without undo, unless failed instances are undone.
func (c *checker) checkUndoOfFunction(t *ideafile.Tool, u ideafile.Undo, path string) {
	if u.Kind == ideafile.UndoByTool && c.idea.Tool(u.Tool) == nil {
		c.addFinding(diag.Problem{JSONPath: path, IsWarning: !c.idea.Config.UndoOnFailure, Message: fmt.Sprintf(
			"its Go function is undone by %q, which is not in the palette: its Calls cannot be undone", u.Tool)},
			nil, 0)
		return
	}
	before := len(c.findings)
	c.checkUndoBy(t, u, path+"._undo")
	for n := range c.findings[before:] {
		f := &c.findings[before+n]
		f.Message = fmt.Sprintf("its Go function says how it is undone: %s: %s",
			strings.TrimPrefix(f.JSONPath, path+"."), f.Message)
		f.JSONPath, f.IsWarning = path, !c.idea.Config.UndoOnFailure
	}
}

// checkUndoBy checks an undo that is, or could be, at a path of the file.
func (c *checker) checkUndoBy(t *ideafile.Tool, u ideafile.Undo, path string) {
	if u.Kind != ideafile.UndoByTool {
		return
	}
	by := c.idea.Tool(u.Tool)
	if by == nil {
		c.addProblems(c.idea.ToolProblems(u.Tool, path+".tool"))
		return
	}
	if circle := c.undoCircle(t); circle != nil {
		c.addError(path+".tool",
			`a circle: %s; an undo Tool cannot be undone by what it undoes: give %s "none" or "never"`,
			strings.Join(circle, " → "), circle[len(circle)-2])
	}
	// In a simulation, the LLM writes results that otherwise come from Tools.
	if b := c.bindings[by.Name]; by.DelegateFile != "" || b.Kind == ideafile.KindLatent && b.Simulation == nil {
		c.addError(path+".tool",
			"%q cannot undo anything: it is a delegate, or the LLM writes its result", by.Name)
	}
	c.checkUndoParams(t, by, u.Params, path+".params")
}

// checkUndoIsDeclared reports a Tool that has an effect but does not declare its undo, if failed instances are undone.
// The undo of Go functions that are registered elsewhere is unknown here.
func (c *checker) checkUndoIsDeclared(t *ideafile.Tool, path string) {
	b, known := c.bindings[t.Name]
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
	for next := t; next != nil; {
		by := next.UndoUnder(c.bindings[next.Name]).Tool
		if by == "" {
			return nil
		}
		if names = append(names, by); by == t.Name {
			return names
		}
		if slices.Contains(names[1:len(names)-1], by) {
			return nil // it is reported for the Tools in the circle
		}
		next = c.idea.Tool(by)
	}
	return nil
}

// checkUndoParams checks the parameters of an undo Tool against its schema.
func (c *checker) checkUndoParams(t, by *ideafile.Tool, params jsonval.Object, path string) {
	for _, name := range jsonschema.RequiredProperties(by.Source) {
		if _, wired := by.WiredParams[name]; params[name] == nil && !wired {
			c.addError(path, "%s wants a parameter %q", by.Name, jsonval.ClipForError(name))
		}
	}
	for name, value := range jsonval.Sorted(params) {
		at := jsonval.JSONPathWithKey(path, name)
		_, wired := by.WiredParams[name]
		_, declared := by.SchemaByParam[name]
		switch {
		case wired:
			c.addError(at, "the parameter %q of %s is wired: leave it out", name, by.Name)
		case !declared && !by.AllowsExtraParams:
			c.addError(at, "%s has no parameter %q%s", by.Name, jsonval.ClipForError(name),
				diag.DidYouMeanOrListNames(name, jsonval.SortedKeys(by.SchemaByParam)))
		default:
			c.checkUndoParam(t, by, name, value, at)
		}
	}
}

// checkUndoParam checks one parameter: what it refers to, and that its value can fit.
func (c *checker) checkUndoParam(t, by *ideafile.Tool, name string, value any, at string) {
	expressions, _ := refexpr.FindExpressions(value) // an error was reported when the Tool was read
	for _, e := range expressions {
		for _, ref := range e.References() {
			c.checkUndoReference(t, ref, at)
		}
	}
	if len(expressions) > 0 {
		c.checkUndoTypes(t, by, jsonval.Path{name}, value, at)
	} else if err := by.SchemaByParam[name].Validate(value); err != nil {
		c.addError(at, "it does not fit %s: %s", by.Name, diag.WithoutPackagePrefix(err))
	}
}

// checkUndoTypes reports a value with References in it, or a part of one, whose type the undo Tool does not take,
// whatever the References resolve to.
func (c *checker) checkUndoTypes(t, by *ideafile.Tool, param jsonval.Path, value any, at string) {
	given, what := []string{jsonval.TypeOf(value)}, "it"
	switch v := value.(type) {
	case jsonval.Object:
		for name, part := range jsonval.Sorted(v) {
			c.checkUndoTypes(t, by, param.With(name), part, jsonval.JSONPathWithKey(at, name))
		}
	case []any:
		for n, part := range v {
			c.checkUndoTypes(t, by, param.With(strconv.Itoa(n)), part, fmt.Sprintf("%s[%d]", at, n))
		}
	case string:
		if !refexpr.IsReference(v) || refexpr.IsTemplate(v) {
			break
		}
		ref, err := refexpr.ParseReference(v)
		source := c.undoSource(t, ref.Kind)
		if err != nil || source == nil || jsonschema.SubschemaAt(source, ref.Path).IsForbidden {
			return // any of several alternatives may fit
		}
		given, what = jsonschema.TypesAt(source, ref.Path), ref.String()
	}
	wanted := jsonschema.TypesAt(by.ParamsSchemaSource(), param)
	if jsonschema.CompareTypes(given, wanted) == jsonschema.FitsNever {
		c.addError(at, "%s is of type %s; the parameter %q of %s wants %s", what, jsonschema.JoinWithOr(given), param,
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
