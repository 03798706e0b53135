package model

import (
	"fmt"
	"strings"
)

// This file checks the palette and the output form.

const toolsPath = "$.schema.tools"

func (c *checker) checkTools() {
	for _, t := range c.idea.Tools {
		at := joinJSONPath(toolsPath, t.Name)
		c.checkRequired(t, at)
		for _, name := range sortedKeys(t.wired) {
			if e, err := ParseExpression(t.wired[name]); err == nil {
				c.checkWired(e, name, joinJSONPath(at+".properties", name)+".const")
			}
		}
		c.checkFixedPath(t, at+"._outputPath")
	}
}

// checkRequired finds parameters that every Call must give and none may.
func (c *checker) checkRequired(t *Tool, at string) {
	required, _ := stringList(t.Source["required"])
	props, _ := t.Source["properties"].(map[string]any)
	for n, name := range required {
		if _, declared := props[name]; !declared && !t.open {
			c.add(fmt.Sprintf("%s.required[%d]", at, n), "%q is required and no parameter: no Call can fit%s",
				Clip(name, 80), suggest(name, sortedKeys(props)))
		}
	}
}

// checkWired looks for what a wired parameter stands for. What Calls write to State is the Plan's business.
func (c *checker) checkWired(e Expression, name, at string) {
	for _, token := range c.tokens {
		view := c.views[token]
		why, wrong := "", 0
		for _, all := range e {
			if w := wiredToNothing(view, all); w != "" {
				why, wrong = w, wrong+1
			}
		}
		if why != "" {
			c.find(Problem{Path: at, Message: fmt.Sprintf("parameter %q is wired to nothing: %s", name, why), Warning: wrong < len(e)},
				[]string{token}, len(c.tokens))
		}
	}
}

func wiredToNothing(view View, all []Reference) (why string) {
	for _, ref := range all {
		if why != "" {
			break
		}
		if ref.Kind != TypeState {
			_, why = lookOutside(view, ref)
		} else if schema := view.Schema[TypeState]; schema != nil && placeOf(schema, ref.Path).closed {
			why = outsideSchema(schema, ref.Path)
		}
	}
	return why
}

// checkFixedPath looks whether State has room for what a designer fixed.
func (c *checker) checkFixedPath(t *Tool, at string) {
	if !t.OutputPath.Declared || t.OutputPath.Schema != nil {
		return
	}
	path, err := parseOutputPath(t.OutputPath.Fixed)
	if err != nil {
		return
	}
	for _, token := range c.tokens {
		for _, p := range path.Paths() {
			if schema := c.views[token].Schema[TypeState]; schema != nil && placeOf(schema, p).closed {
				c.find(Problem{Path: at, Message: outsideSchema(schema, p)}, []string{token}, len(c.tokens))
			}
		}
	}
}

// lookOutside finds what a Reference stands for outside State, or says why there is nothing.
func lookOutside(view View, ref Reference) (v any, why string) {
	payload, ok := view.Payload[ref.Kind]
	if !ok {
		kinds := append(sortedKeys(view.Payload), TypeState)
		return nil, fmt.Sprintf("reference %s: the context has no %q%s", ref, Clip(ref.Kind, 80), suggest(ref.Kind, kinds))
	}
	if v, ok = lookupIn(payload, ref.Path); ok {
		return v, ""
	}
	return nil, fmt.Sprintf("reference %s: nothing there%s", ref, neighbours(payload, ref))
}

// neighbours tells what there is where a path leads nowhere.
func neighbours(v any, ref Reference) string {
	for n, step := range ref.Path {
		next, ok := stepInto(v, step)
		if ok {
			v = next
			continue
		}
		where := Reference{ref.Kind, ref.Path[:n]}
		switch v := v.(type) {
		case map[string]any:
			if s := suggest(step, sortedKeys(v)); s != "" {
				return s
			}
			if len(v) > 0 {
				return fmt.Sprintf("; %s has %s", where, someOf(sortedKeys(v)))
			}
			return fmt.Sprintf("; %s is empty", where)
		case []any:
			return fmt.Sprintf("; %s has %d elements", where, len(v))
		}
		return fmt.Sprintf("; %s is of type %s", where, TypeOf(v))
	}
	return ""
}

// outsideSchema words that a path stands outside a closed State schema.
func outsideSchema(schema any, path Path) string {
	text := fmt.Sprintf("%s stands outside the closed State schema", Reference{TypeState, path})
	for n := range path {
		at := placeOf(schema, path[:n])
		node, _ := resolvePointer(schema, at.pointer)
		m, _ := node.(map[string]any)
		props, _ := m["properties"].(map[string]any)
		if _, ok := props[path[n]]; !ok && at.known {
			return text + suggest(path[n], sortedKeys(props))
		}
	}
	return text
}

// checkStrict warns of what cannot be sent in strict mode, part by part, so that each is told.
func (c *checker) checkStrict() {
	in := ComposeInput{Bindings: c.bindings, Tokens: c.tokens, Output: c.idea.Output, Notes: c.idea.ToolNotes()}
	before := len(c.findings)
	for _, t := range c.idea.Tools {
		if m, ok := t.MCP(); ok && m.Digest == "" {
			continue // its parameters are the server's to say
		}
		part := in
		part.Tools, part.Tokens, part.Output = []*Tool{t}, []string{""}, nil
		c.warnLoose(c.placeOfReason(t, Compose(part).Reason), Compose(part).Reason)
	}
	if in.Output != nil {
		part := in
		part.Tokens = []string{""}
		c.warnLoose("$.schema.output", Compose(part).Reason)
	}
	if in.Tools = c.idea.Tools; len(c.findings) == before && len(c.idea.Unlisted()) == 0 {
		c.warnLoose("$.schema", Compose(in).Reason)
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
func (c *checker) placeOfReason(t *Tool, reason string) string {
	at := joinJSONPath(toolsPath, t.Name)
	props, _ := t.Source["properties"].(map[string]any)
	for _, name := range sortedKeys(props) {
		if strings.HasPrefix(reason, fmt.Sprintf("tool %s, parameter %q: ", t.Name, name)) {
			return joinJSONPath(at+".properties", name)
		}
	}
	for _, name := range toolMeta {
		if strings.HasPrefix(reason, fmt.Sprintf("tool %s, %s: ", t.Name, name)) {
			return at + "." + name
		}
	}
	return at
}
