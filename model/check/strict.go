package check

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
)

// checkStrict warns of what keeps replies from being held to the schema strictly, Tool by Tool, so that every obstacle
// is reported and not only the first.
func (c *checker) checkStrict() {
	whole := prompt.FormatInput{Bindings: c.bindings, Tokens: c.tokens, Output: c.idea.Output, ToolInstructions: prompt.ToolInstructions(c.idea)}
	findingsBefore := len(c.findings)
	for _, t := range c.idea.Tools {
		if m, ok := t.MCPTool(); ok && m.Digest == "" {
			continue // its parameters are known only when the server has been asked
		}
		part := whole
		part.Tools, part.Tokens, part.Output = []*ideafile.Tool{t}, []string{""}, nil
		reason := prompt.NewResponseFormat(part).NotStrictReason
		c.warnNotStrict(c.strictReasonLocation(t, reason), reason)
	}
	if whole.Output != nil {
		part := whole
		part.Tokens = []string{""}
		c.warnNotStrict("$.schema.output", prompt.NewResponseFormat(part).NotStrictReason)
	}
	whole.Tools = c.idea.Tools
	if len(c.findings) == findingsBefore && len(c.idea.ServersToList()) == 0 {
		c.warnNotStrict("$.schema", prompt.NewResponseFormat(whole).NotStrictReason)
	}
}

func (c *checker) warnNotStrict(path, reason string) {
	if reason == "" {
		return
	}
	hint := ""
	if strings.Contains(reason, ", over ") {
		hint = "; say some of it in a description, or check it in the tool"
	}
	c.addWarning(path, "the LLM's server cannot hold replies to the form strictly: %s%s", reason, hint)
}

// strictReasonLocation returns where in the file the parameter or meta property is that a reason names.
func (c *checker) strictReasonLocation(t *ideafile.Tool, reason string) string {
	path := jsonval.JSONPathKey(ideafile.ToolsPath, t.Name)
	props, _ := t.Source["properties"].(map[string]any)
	for _, name := range jsonval.SortedKeys(props) {
		if strings.HasPrefix(reason, fmt.Sprintf("tool %s, parameter %q: ", t.Name, name)) {
			return jsonval.JSONPathKey(path+".properties", name)
		}
	}
	for _, name := range ideafile.ToolMetaKeys {
		if strings.HasPrefix(reason, fmt.Sprintf("tool %s, %s: ", t.Name, name)) {
			return path + "." + name
		}
	}
	return path
}
