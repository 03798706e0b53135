package check

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

func (c *checker) checkTools() {
	for _, t := range c.idea.Tools {
		path := jsonval.JSONPathKey(ideafile.ToolsPath, t.Name)
		c.checkRequired(t, path)
		for _, name := range jsonval.SortedKeys(t.WiredParams) {
			if e, err := refexpr.ParseExpression(t.WiredParams[name]); err == nil {
				c.checkWired(e, name, jsonval.JSONPathKey(path+".properties", name)+".const")
			}
		}
		c.checkFixedPath(t, path+"._outputPath")
	}
}

// checkRequired reports required parameters that are not declared: every Call must have them and none may.
func (c *checker) checkRequired(t *ideafile.Tool, path string) {
	required, _ := jsonval.StringList(t.Source["required"])
	props, _ := t.Source["properties"].(map[string]any)
	for n, name := range required {
		if _, declared := props[name]; !declared && !t.AllowsExtraParams {
			c.addError(fmt.Sprintf("%s.required[%d]", path, n), "%q is required and no parameter: no Call can fit%s",
				jsonval.Clip(name, 80), diag.DidYouMean(name, jsonval.SortedKeys(props)))
		}
	}
}

// checkWired checks what a wired parameter refers to. Values that Calls write to State are checked with the Plans.
func (c *checker) checkWired(e refexpr.Expression, name, path string) {
	for _, token := range c.tokens {
		view := c.views[token]
		reason, unresolvable := "", 0
		for _, terms := range e {
			if termReason := unresolvableReason(view, terms); termReason != "" {
				reason, unresolvable = termReason, unresolvable+1
			}
		}
		if reason != "" {
			c.addFinding(diag.Problem{Path: path, Message: fmt.Sprintf("parameter %q is wired to nothing: %s", name, reason), Warning: unresolvable < len(e)},
				[]string{token}, len(c.tokens))
		}
	}
}

func unresolvableReason(view ideafile.View, terms []refexpr.Reference) (reason string) {
	for _, ref := range terms {
		if reason != "" {
			break
		}
		if ref.Kind != ideafile.TypeState {
			_, reason = lookupNonState(view, ref)
		} else if schema := view.Schema[ideafile.TypeState]; schema != nil && jsonschema.PlaceOf(schema, ref.Path).Closed {
			reason = outsideSchemaText(schema, ref.Path)
		}
	}
	return reason
}

// checkFixedPath checks that the State schema allows a value at a path that the designer fixed.
func (c *checker) checkFixedPath(t *ideafile.Tool, location string) {
	if !t.OutputPath.Declared || t.OutputPath.Schema != nil {
		return
	}
	path, err := refexpr.ParseOutputPath(t.OutputPath.Fixed)
	if err != nil {
		return
	}
	for _, token := range c.tokens {
		for _, p := range path.Paths() {
			if schema := c.views[token].Schema[ideafile.TypeState]; schema != nil && jsonschema.PlaceOf(schema, p).Closed {
				c.addFinding(diag.Problem{Path: location, Message: outsideSchemaText(schema, p)}, []string{token}, len(c.tokens))
			}
		}
	}
}

// suggestTool suggests a Tool for a name that the palette does not have.
func (c *checker) suggestTool(name string) string {
	names := make([]string, len(c.idea.Tools))
	for n, t := range c.idea.Tools {
		names[n] = t.Name
	}
	if s := diag.DidYouMean(name, names); s != "" || len(names) == 0 {
		return s
	}
	return "; the palette has " + diag.SomeOf(names)
}
