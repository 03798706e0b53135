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
		c.checkUndoMethod(t, *t.Undo, path+"._undo")
		return
	}
	c.checkUndoIsDeclared(t, path)
	if functionUndo := c.bindings[t.Name].Undo; functionUndo != nil {
		c.checkUndoOfFunction(t, *functionUndo, path)
	}
}

// checkUndoOfFunction checks the undo that a Tool's Go function declares. Its findings are only warnings, because the
// Tool is usable without undo, unless failed instances are undone.
func (c *checker) checkUndoOfFunction(t *ideafile.Tool, u ideafile.UndoMethod, path string) {
	if u.Kind == ideafile.UndoByTool && c.idea.Tool(u.Tool) == nil {
		c.addFinding(diag.Problem{JSONPath: path, IsWarning: !c.idea.Config.UndoOnFailure, Message: fmt.Sprintf(
			"its Go function is undone by %q, which is not in the palette: its Calls cannot be undone", u.Tool)},
			nil, 0)
		return
	}
	findingCountBefore := len(c.findings)
	c.checkUndoMethod(t, u, path+"._undo")
	for n := range c.findings[findingCountBefore:] {
		f := &c.findings[findingCountBefore+n]
		f.Message = fmt.Sprintf("its Go function says how it is undone: %s: %s",
			strings.TrimPrefix(f.JSONPath, path+"."), f.Message)
		f.JSONPath, f.IsWarning = path, !c.idea.Config.UndoOnFailure
	}
}

// checkUndoMethod checks an undo that is, or could be, at a path of the file.
func (c *checker) checkUndoMethod(t *ideafile.Tool, u ideafile.UndoMethod, path string) {
	if u.Kind != ideafile.UndoByTool {
		return
	}
	undoTool := c.idea.Tool(u.Tool)
	if undoTool == nil {
		c.addProblems(c.idea.UnknownToolProblems(u.Tool, path+".tool"))
		return
	}
	if cycle := c.undoCycle(t); cycle != nil {
		c.addError(path+".tool",
			`a circle: %s; an undo Tool cannot be undone by what it undoes: give %s "none" or "never"`,
			strings.Join(cycle, " → "), cycle[len(cycle)-2])
	}
	// In a simulation, the LLM writes results that otherwise come from Tools.
	if b := c.bindings[undoTool.Name]; undoTool.DelegateFile != "" ||
		b.Kind == ideafile.KindLatent && b.Simulation == nil {
		c.addError(path+".tool",
			"%q cannot undo anything: it is a delegate, or the LLM writes its result", undoTool.Name)
	}
	c.checkUndoParams(t, undoTool, u.Params, path+".params")
}

// checkUndoIsDeclared reports a Tool that has an effect but does not declare its undo, if failed instances are undone.
// The undo of Go functions that are registered elsewhere is unknown here.
func (c *checker) checkUndoIsDeclared(t *ideafile.Tool, path string) {
	b, isBound := c.bindings[t.Name]
	undoesTool := func(o *ideafile.Tool) bool { return o.EffectiveUndo(c.bindings[o.Name]).Tool == t.Name }
	if c.idea.Config.UndoOnFailure && isBound && b.Undo == nil && t.EffectiveUndo(b).Kind != ideafile.UndoNotNeeded &&
		!slices.ContainsFunc(c.idea.Tools, undoesTool) {
		c.addError(path, "config.onFailure undoes the Calls of failed instances, but this tool does not say how: "+
			`give it "_undo", with a tool, "none" or "never"`)
	}
}

// undoCycle lists the Tools that undo each other, from a Tool to itself; nil if there is no such circle.
func (c *checker) undoCycle(t *ideafile.Tool) []string {
	toolNames := []string{t.Name}
	for tool := t; tool != nil; {
		undoToolName := tool.EffectiveUndo(c.bindings[tool.Name]).Tool
		if undoToolName == "" {
			return nil
		}
		if toolNames = append(toolNames, undoToolName); undoToolName == t.Name {
			return toolNames
		}
		if slices.Contains(toolNames[1:len(toolNames)-1], undoToolName) {
			return nil // it is reported for the Tools in the circle
		}
		tool = c.idea.Tool(undoToolName)
	}
	return nil
}

// checkUndoParams checks the parameters of an undo Tool against its schema.
func (c *checker) checkUndoParams(t, undoTool *ideafile.Tool, params jsonval.Object, path string) {
	for _, name := range jsonschema.RequiredProperties(undoTool.Source) {
		if _, isWired := undoTool.WiredExpressionByParam[name]; params[name] == nil && !isWired {
			c.addError(path, "%s wants a parameter %q", undoTool.Name, jsonval.ClipForError(name))
		}
	}
	for name, value := range jsonval.Sorted(params) {
		paramJSONPath := jsonval.JSONPathWithKey(path, name)
		_, isWired := undoTool.WiredExpressionByParam[name]
		_, isDeclared := undoTool.SchemaByParam[name]
		switch {
		case isWired:
			c.addError(paramJSONPath, "the parameter %q of %s is wired: leave it out", name, undoTool.Name)
		case !isDeclared && !undoTool.AllowsExtraParams:
			c.addError(paramJSONPath, "%s has no parameter %q%s", undoTool.Name, jsonval.ClipForError(name),
				diag.DidYouMeanOrListNames(name, jsonval.SortedKeys(undoTool.SchemaByParam)))
		default:
			c.checkUndoParam(t, undoTool, name, value, paramJSONPath)
		}
	}
}

// checkUndoParam checks one parameter: what it refers to, and that its value can fit.
func (c *checker) checkUndoParam(t, undoTool *ideafile.Tool, name string, value any, paramJSONPath string) {
	expressions, _ := refexpr.FindExpressions(value) // an error was reported when the Tool was read
	for _, e := range expressions {
		for _, ref := range e.References() {
			c.checkUndoReference(t, ref, paramJSONPath)
		}
	}
	if len(expressions) > 0 {
		c.checkUndoTypes(t, undoTool, jsonval.Path{name}, value, paramJSONPath)
	} else if err := undoTool.SchemaByParam[name].Validate(value); err != nil {
		c.addError(paramJSONPath, "it does not fit %s: %s", undoTool.Name, diag.WithoutPackagePrefix(err))
	}
}

// checkUndoTypes reports a value with References in it, or a part of one, whose type the undo Tool does not take,
// whatever the References resolve to.
func (c *checker) checkUndoTypes(t, undoTool *ideafile.Tool, param jsonval.Path, value any, paramJSONPath string) {
	valueTypes, subject := []string{jsonval.TypeOf(value)}, "it"
	switch v := value.(type) {
	case jsonval.Object:
		for name, part := range jsonval.Sorted(v) {
			c.checkUndoTypes(t, undoTool, param.WithStep(name), part, jsonval.JSONPathWithKey(paramJSONPath, name))
		}
	case []any:
		for n, part := range v {
			c.checkUndoTypes(t, undoTool, param.WithStep(strconv.Itoa(n)), part,
				fmt.Sprintf("%s[%d]", paramJSONPath, n))
		}
	case string:
		if !refexpr.IsExpressionOrTemplate(v) || refexpr.IsTemplate(v) {
			break
		}
		ref, err := refexpr.ParseReference(v)
		referencedSchema := c.undoReferenceSchema(t, ref.Kind)
		if err != nil || referencedSchema == nil || jsonschema.SubschemaAt(referencedSchema, ref.Path).IsForbidden {
			return // any of several alternatives may fit
		}
		valueTypes, subject = jsonschema.TypesAt(referencedSchema, ref.Path), ref.String()
	}
	wantedTypes := jsonschema.TypesAt(undoTool.ParamsSchemaSource(), param)
	if jsonschema.CompareTypes(valueTypes, wantedTypes) == jsonschema.FitsNever {
		c.addError(paramJSONPath, "%s is of type %s; the parameter %q of %s wants %s", subject,
			jsonschema.JoinWithOr(valueTypes), param, undoTool.Name, jsonschema.JoinWithOr(wantedTypes))
	}
}

// checkUndoReference reports a Reference to what the schema of the result, of the parameters or of State does not have.
func (c *checker) checkUndoReference(t *ideafile.Tool, ref refexpr.Reference, paramJSONPath string) {
	if ref.Kind == ideafile.TypeState {
		c.checkStatePath(ref.Path, paramJSONPath)
		return
	}
	referencedSchema := c.undoReferenceSchema(t, ref.Kind)
	if referencedSchema == nil || !jsonschema.SubschemaAt(referencedSchema, ref.Path).IsForbidden {
		return
	}
	container := "_output has"
	if ref.Kind == ideafile.ParamsReferenceKind {
		container = "parameters have"
	}
	c.addError(paramJSONPath, "%s: the tool's %s no %s%s", ref, container, ref.Path,
		suggestOutputProperty(referencedSchema, ref.Path))
}

// undoReferenceSchema is the JSON Schema of what a Reference of a kind reads; nil: any value.
func (c *checker) undoReferenceSchema(t *ideafile.Tool, kind string) any {
	switch {
	case kind == ideafile.ResultReferenceKind && t.OutputSchema != nil:
		return t.OutputSchema.Source
	case kind == ideafile.ParamsReferenceKind:
		return closedParamsSchema(t)
	}
	return nil
}

// closedParamsSchema is the schema of a Tool's parameters; a Call has no others unless the Tool allows them.
func closedParamsSchema(t *ideafile.Tool) jsonval.Object {
	schema := t.ParamsSchemaSource()
	if t.AllowsExtraParams {
		return schema
	}
	return jsonval.WithKey(schema, "additionalProperties", false)
}
