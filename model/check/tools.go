package check

import (
	"fmt"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/refexpr"
)

// This file checks the palette and the output form.

func (c *checker) checkTools() {
	for _, t := range c.idea.Tools {
		at := jsonval.JSONPathKey(ideafile.ToolsPath, t.Name)
		c.checkRequired(t, at)
		for _, name := range jsonval.SortedKeys(t.WiredParams) {
			if e, err := refexpr.ParseExpression(t.WiredParams[name]); err == nil {
				c.checkWired(e, name, jsonval.JSONPathKey(at+".properties", name)+".const")
			}
		}
		c.checkFixedPath(t, at+"._outputPath")
	}
}

// checkRequired finds parameters that every Call must give and none may.
func (c *checker) checkRequired(t *ideafile.Tool, at string) {
	required, _ := jsonval.StringList(t.Source["required"])
	props, _ := t.Source["properties"].(map[string]any)
	for n, name := range required {
		if _, declared := props[name]; !declared && !t.AllowsExtraParams {
			c.add(fmt.Sprintf("%s.required[%d]", at, n), "%q is required and no parameter: no Call can fit%s",
				jsonval.Clip(name, 80), diag.DidYouMean(name, jsonval.SortedKeys(props)))
		}
	}
}

// checkWired looks for what a wired parameter stands for. What Calls write to State is the Plan's business.
func (c *checker) checkWired(e refexpr.Expression, name, at string) {
	for _, token := range c.tokens {
		view := c.views[token]
		why, wrong := "", 0
		for _, all := range e {
			if w := wiredToNothing(view, all); w != "" {
				why, wrong = w, wrong+1
			}
		}
		if why != "" {
			c.find(diag.Problem{Path: at, Message: fmt.Sprintf("parameter %q is wired to nothing: %s", name, why), Warning: wrong < len(e)},
				[]string{token}, len(c.tokens))
		}
	}
}

func wiredToNothing(view ideafile.View, all []refexpr.Reference) (why string) {
	for _, ref := range all {
		if why != "" {
			break
		}
		if ref.Kind != ideafile.TypeState {
			_, why = lookOutside(view, ref)
		} else if schema := view.Schema[ideafile.TypeState]; schema != nil && jsonschema.PlaceOf(schema, ref.Path).Closed {
			why = outsideSchema(schema, ref.Path)
		}
	}
	return why
}

// checkFixedPath looks whether State has room for what a designer fixed.
func (c *checker) checkFixedPath(t *ideafile.Tool, at string) {
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
				c.find(diag.Problem{Path: at, Message: outsideSchema(schema, p)}, []string{token}, len(c.tokens))
			}
		}
	}
}

// lookOutside finds what a Reference stands for outside State, or says why there is nothing.
func lookOutside(view ideafile.View, ref refexpr.Reference) (v any, why string) {
	payload, ok := view.Payload[ref.Kind]
	if !ok {
		kinds := append(jsonval.SortedKeys(view.Payload), ideafile.TypeState)
		return nil, fmt.Sprintf("reference %s: the context has no %q%s", ref, jsonval.Clip(ref.Kind, 80), diag.DidYouMean(ref.Kind, kinds))
	}
	if v, ok = refexpr.LookupIn(payload, ref.Path); ok {
		return v, ""
	}
	return nil, fmt.Sprintf("reference %s: nothing there%s", ref, neighbours(payload, ref))
}

// neighbours tells what there is where a path leads nowhere.
func neighbours(v any, ref refexpr.Reference) string {
	for n, step := range ref.Path {
		next, ok := jsonval.StepInto(v, step)
		if ok {
			v = next
			continue
		}
		where := refexpr.Reference{Kind: ref.Kind, Path: ref.Path[:n]}
		switch v := v.(type) {
		case map[string]any:
			if s := diag.DidYouMean(step, jsonval.SortedKeys(v)); s != "" {
				return s
			}
			if len(v) > 0 {
				return fmt.Sprintf("; %s has %s", where, diag.SomeOf(jsonval.SortedKeys(v)))
			}
			return fmt.Sprintf("; %s is empty", where)
		case []any:
			return fmt.Sprintf("; %s has %d elements", where, len(v))
		}
		return fmt.Sprintf("; %s is of type %s", where, jsonval.TypeOf(v))
	}
	return ""
}

// outsideSchema words that a path stands outside a closed State schema.
func outsideSchema(schema any, path jsonval.Path) string {
	text := fmt.Sprintf("%s stands outside the closed State schema", refexpr.Reference{Kind: ideafile.TypeState, Path: path})
	for n := range path {
		at := jsonschema.PlaceOf(schema, path[:n])
		node, _ := jsonschema.ResolvePointer(schema, at.Pointer)
		m, _ := node.(map[string]any)
		props, _ := m["properties"].(map[string]any)
		if _, ok := props[path[n]]; !ok && at.Known {
			return text + diag.DidYouMean(path[n], jsonval.SortedKeys(props))
		}
	}
	return text
}

// checkStrict warns of what cannot be sent in strict mode, part by part, so that each is told.
func (c *checker) checkStrict() {
	in := prompt.ComposeInput{Bindings: c.bindings, Tokens: c.tokens, Output: c.idea.Output, Notes: prompt.ToolNotes(c.idea)}
	before := len(c.findings)
	for _, t := range c.idea.Tools {
		if m, ok := t.MCPTool(); ok && m.Digest == "" {
			continue // its parameters are the server's to say
		}
		part := in
		part.Tools, part.Tokens, part.Output = []*ideafile.Tool{t}, []string{""}, nil
		c.warnLoose(c.placeOfReason(t, prompt.Compose(part).Reason), prompt.Compose(part).Reason)
	}
	if in.Output != nil {
		part := in
		part.Tokens = []string{""}
		c.warnLoose("$.schema.output", prompt.Compose(part).Reason)
	}
	if in.Tools = c.idea.Tools; len(c.findings) == before && len(c.idea.ServersToList()) == 0 {
		c.warnLoose("$.schema", prompt.Compose(in).Reason)
	}
}

func (c *checker) warnLoose(path, reason string) {
	if reason == "" {
		return
	}
	mend := ""
	if strings.Contains(reason, ", over ") {
		mend = "; say some of it in a description, or check it in the tool"
	}
	c.warn(path, "the LLM's server cannot hold replies to the form strictly: %s%s", reason, mend)
}

// placeOfReason finds the parameter or meta property of a Tool that a reason names.
func (c *checker) placeOfReason(t *ideafile.Tool, reason string) string {
	at := jsonval.JSONPathKey(ideafile.ToolsPath, t.Name)
	props, _ := t.Source["properties"].(map[string]any)
	for _, name := range jsonval.SortedKeys(props) {
		if strings.HasPrefix(reason, fmt.Sprintf("tool %s, parameter %q: ", t.Name, name)) {
			return jsonval.JSONPathKey(at+".properties", name)
		}
	}
	for _, name := range ideafile.ToolMetaKeys {
		if strings.HasPrefix(reason, fmt.Sprintf("tool %s, %s: ", t.Name, name)) {
			return at + "." + name
		}
	}
	return at
}
