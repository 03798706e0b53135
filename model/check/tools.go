package check

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

func (c *checker) checkTools() {
	for _, t := range c.idea.Tools {
		path := t.JSONPath()
		c.checkRequiredParams(t, path)
		c.checkApprovalCondition(t, path)
		c.checkUndo(t, path)
		for name, wiredValue := range jsonval.Sorted(t.WiredExpressionByParam) {
			expressions, _ := refexpr.FindExpressions(wiredValue) // an error was reported when the Tool was read
			for _, e := range expressions {
				c.checkWiredParam(e, name, jsonval.JSONPathWithKey(path+".properties", name)+".const")
			}
		}
		c.checkFixedOutputPath(t, path+"._outputPath")
		if scopes, ok := jsonval.AsStringList(t.ReadableScopes.FixedValue); ok && t.ReadableScopes.Schema == nil {
			c.checkScopes(scopes, path+"._scopes")
		}
	}
}

// checkScopes reports scopes that name an unknown kind: they would never give a Tool any data.
func (c *checker) checkScopes(scopes []string, path string) {
	for n, scope := range scopes {
		ref, err := refexpr.ParseScope(scope)
		if err != nil || ref.Kind == ideafile.TypeState || ref.Kind == ideafile.TypeInput {
			continue
		}
		knownKinds := []string{ideafile.TypeInput, ideafile.TypeState}
		for _, m := range c.messages {
			if m.Type == ideafile.TypeData {
				knownKinds = append(knownKinds, m.PayloadKind)
			}
		}
		if !slices.Contains(knownKinds, ref.Kind) {
			c.addError(fmt.Sprintf("%s[%d]", path, n), "the context has no %q%s", jsonval.ClipForError(ref.Kind),
				diag.DidYouMeanOrListNames(ref.Kind, knownKinds))
		}
	}
}

// checkRequiredParams reports required parameters that are not declared: every Call must have them and none may.
func (c *checker) checkRequiredParams(t *ideafile.Tool, path string) {
	props := jsonschema.Properties(t.Source)
	for n, name := range jsonschema.Required(t.Source) {
		if _, isDeclared := props[name]; !isDeclared && !t.AllowsExtraParams {
			c.addError(fmt.Sprintf("%s.required[%d]", path, n), "%q is required but not declared as a parameter: "+
				"no Call can fit%s",
				jsonval.ClipForError(name), diag.DidYouMean(name, jsonval.SortedKeys(props)))
		}
	}
}

// checkWiredParam checks what a wired parameter refers to. Values that Calls write to State are checked with the Plans.
func (c *checker) checkWiredParam(e refexpr.Expression, name, path string) {
	for _, token := range c.instanceTokens {
		view := c.viewOf(token)
		reason, unresolvableCount := "", 0
		for _, terms := range e {
			if termReason := c.unresolvableReason(view, terms); termReason != "" {
				reason, unresolvableCount = termReason, unresolvableCount+1
			}
		}
		if reason != "" {
			c.addFinding(diag.Problem{JSONPath: path, Message: fmt.Sprintf("parameter %q is wired to nothing: %s", name,
				reason), IsWarning: unresolvableCount < len(e)},
				[]string{token}, len(c.instanceTokens))
		}
	}
}

func (c *checker) unresolvableReason(view ideafile.InstanceView, terms []refexpr.Reference) (reason string) {
	for _, ref := range terms {
		if reason != "" {
			break
		}
		if c.ideaTemplateAwaitsValue(view, ref) {
			continue
		}
		if ref.Kind == ideafile.TypeState {
			reason = outsideSchemaReason(view.SchemaByKind[ideafile.TypeState], ref.Path)
		} else {
			_, reason = lookupValueOutsideState(view, ref)
		}
	}
	return reason
}

// checkFixedOutputPath checks that the State schema allows a value at a path that the designer fixed.
func (c *checker) checkFixedOutputPath(t *ideafile.Tool, jsonPath string) {
	if !t.OutputPath.IsDeclared || t.OutputPath.Schema != nil {
		return
	}
	path, err := refexpr.ParseOutputPath(t.OutputPath.FixedValue)
	if err != nil {
		return
	}
	for _, p := range path.Paths() {
		c.checkStatePath(p, jsonPath)
	}
}

// checkStatePath reports a path of State that the State schema of an instance does not allow.
func (c *checker) checkStatePath(p jsonval.Path, jsonPath string) {
	for _, token := range c.instanceTokens {
		if reason := outsideSchemaReason(c.viewOf(token).SchemaByKind[ideafile.TypeState], p); reason != "" {
			c.addFinding(diag.Problem{JSONPath: jsonPath, Message: reason}, []string{token}, len(c.instanceTokens))
		}
	}
}
