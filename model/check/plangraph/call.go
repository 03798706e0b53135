package plangraph

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// graphCall is the part of a Call that the graph needs.
type graphCall struct {
	nodeID          string
	instanceTokens  []string // none: all
	outputPathText  string   // the output path as written in the Call
	reads           []refexpr.Reference
	afterReferences []refexpr.Reference // what it waits for without reading it
	conditionReads  []refexpr.Reference // what its condition reads
	outputPaths     []jsonval.Path
	isUpdate        bool // its writes change the value at the path
}

// readRawCall reads a Call without its Tool: a parameter `output` that is a Reference to State counts as the output
// path.
func (c *graphCall) readRawCall(m jsonval.Object) {
	rawOutputPath := m["_outputPath"]
	if alias := m["output"]; rawOutputPath == nil && (*ideafile.Tool)(nil).IsOutputPathAlias("output", alias) {
		rawOutputPath, m = alias, jsonval.WithoutKey(m, "output")
	}
	if path, err := refexpr.ParseOutputPath(rawOutputPath); err == nil {
		method := jsonval.AsText(m["_outputMethod"])
		c.outputPaths, c.isUpdate = path.Paths(), statelog.IsUpdateWrite(strings.TrimPrefix(method, "set"),
			path[0][0])
		c.outputPathText = path.ReferenceText()
	}
	for k, v := range jsonval.Sorted(m) {
		if !strings.HasPrefix(k, "_") {
			c.collectReads(v)
		}
	}
	condition := refexpr.Condition{When: m[ideafile.WhenKey], Unless: m[ideafile.UnlessKey]}
	for _, kind := range []string{ideafile.TypeInput, ideafile.TypeState} {
		for _, path := range condition.PathsRead(kind) {
			c.conditionReads = append(c.conditionReads, refexpr.Reference{Kind: kind, Path: path})
		}
	}
	afterTexts, _ := ideafile.ParseAfterReferences(m["_after"])
	for _, text := range afterTexts {
		if ref, err := refexpr.ParseReference(text); err == nil {
			c.afterReferences = append(c.afterReferences, ref)
		}
	}
}

// collectReads adds every Reference of a parameter that can be parsed.
func (c *graphCall) collectReads(v any) {
	if text, ok := v.(string); ok {
		if refs, err := refexpr.FindReferences(text); err == nil {
			c.reads = append(c.reads, refs...)
		}
	}
	for _, e := range jsonval.Members(v) {
		c.collectReads(e)
	}
}
