package plangraph

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// graphCall is what the graph needs to know of a Call.
type graphCall struct {
	id, instance string
	outputText   string // the output path as the Call says it
	reads        []refexpr.Reference
	output       []jsonval.Path
	isUpdate     bool // its writes change what stands at the path
}

// read reads a Call without its Tool: a parameter `output` that is a Reference to State counts as the output path.
func (c *graphCall) read(m map[string]any) {
	output := m["_outputPath"]
	if alias := m["output"]; output == nil && (&ideafile.Tool{}).IsOutputPathAlias("output", alias) {
		output, m = alias, jsonval.WithoutKey(m, "output")
	}
	if path, err := refexpr.ParseOutputPath(output); err == nil {
		method, _ := m["_outputMethod"].(string)
		c.output, c.isUpdate = path.Paths(), statelog.IsUpdate(strings.TrimPrefix(method, "set"), path[0][0])
		c.outputText = path.Reference()
	}
	for _, k := range jsonval.SortedKeys(m) {
		if !strings.HasPrefix(k, "_") {
			c.collectReads(m[k])
		}
	}
}

// collectReads adds every Reference of a parameter that can be parsed.
func (c *graphCall) collectReads(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(v) {
			c.collectReads(v[k])
		}
	case []any:
		for _, e := range v {
			c.collectReads(e)
		}
	case string:
		if e, err := refexpr.ParseExpression(v); err == nil && refexpr.IsReference(v) {
			c.reads = append(c.reads, e.References()...)
		}
	}
}
