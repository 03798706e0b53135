package check

import (
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
)

// checkReplySchemaStrictness warns of what keeps the LLM's server from strictly enforcing the schema of replies. It
// checks Tool by Tool, so that every obstacle is reported and not only the first.
func (c *checker) checkReplySchemaStrictness() {
	formatInput := prompt.ResponseFormatInput{Bindings: c.bindings, InstanceTokens: c.instanceTokens,
		OutputSchema:       c.idea.OutputSchema,
		InstructionsByTool: prompt.ToolInstructions(c.idea)}
	findingCountBefore := len(c.findings)
	for _, t := range c.idea.Tools {
		if m, ok := t.MCPToolRef(); ok && m.SpecDigest == "" {
			continue // its parameters are known only when the server has been asked
		}
		partInput := formatInput
		partInput.Tools, partInput.InstanceTokens, partInput.OutputSchema = []*ideafile.Tool{t}, []string{""}, nil
		reason := prompt.NewResponseFormat(partInput).NotStrictReason
		c.warnReplySchemaNotStrict(c.nonStrictLocation(t, reason), reason)
	}
	if formatInput.OutputSchema != nil {
		partInput := formatInput
		partInput.InstanceTokens = []string{""}
		c.warnReplySchemaNotStrict("$.schema.output", prompt.NewResponseFormat(partInput).NotStrictReason)
	}
	formatInput.Tools = c.idea.Tools
	if len(c.findings) == findingCountBefore && len(c.idea.MCPServersToAskForTools()) == 0 {
		c.warnReplySchemaNotStrict("$.schema", prompt.NewResponseFormat(formatInput).NotStrictReason)
	}
}

func (c *checker) warnReplySchemaNotStrict(path, reason string) {
	if reason == "" {
		return
	}
	hint := ""
	if strings.Contains(reason, ", over ") {
		hint = "; move a part of it to a description, or check it in the tool"
	}
	c.addWarning(path, notStrictPrefix+"%s%s", reason, hint)
}

const notStrictPrefix = "the LLM's server cannot strictly enforce the schema of replies: "

// IsStrictnessWarning reports whether a Problem is a warning that the schema of replies cannot be strictly enforced.
// Only the file's author can do something about that, not whoever runs the file.
func IsStrictnessWarning(p diag.Problem) bool {
	return p.IsWarning && strings.HasPrefix(p.Message, notStrictPrefix)
}

// nonStrictLocation returns the place in the file of the parameter or meta property that a reason names.
func (c *checker) nonStrictLocation(t *ideafile.Tool, reason string) string {
	subject, _, _ := strings.Cut(strings.TrimPrefix(reason, "tool "+t.Name+", "), ": ")
	if name, err := strconv.Unquote(strings.TrimPrefix(subject, "parameter ")); err == nil {
		return jsonval.JSONPathWithKey(t.JSONPath()+".properties", name)
	}
	if strings.HasPrefix(subject, "_") {
		return t.JSONPath() + "." + subject
	}
	return t.JSONPath()
}
