package plangraph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// This file draws a Plan: its nodes are Calls, its edges run through State. What a Plan draws depends on its Calls as
// they are written, on nothing else.

// Mermaid gives a Plan as a Mermaid flowchart, in the form that GitHub renders. Alternatives are joined by dashed lines.
func Mermaid(calls []any) string {
	g := newGraph(calls)
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, n := range g.nodes {
		before, after := mermaidShape(n.kind)
		fmt.Fprintf(&b, "  %s%s\"%s\"%s\n", n.id, before, mermaidText(n.lines...), after)
	}
	for _, e := range g.edges {
		arrow := "-->"
		if e.dashed {
			arrow = "-.->"
		}
		if e.label != "" {
			arrow += `|"` + mermaidText(e.label) + `"|`
		}
		fmt.Fprintf(&b, "  %s %s %s\n", e.from, arrow, e.to)
	}
	return b.String()
}

// DOT gives a Plan in the language of Graphviz.
func DOT(calls []any) string {
	g := newGraph(calls)
	var b strings.Builder
	b.WriteString("digraph plan {\n  node [shape=box];\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %s [label=\"%s\"%s];\n", n.id, dotText(n.lines...), dotShape(n.kind))
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  %s -> %s%s;\n", e.from, e.to, dotEdge(e))
	}
	b.WriteString("}\n")
	return b.String()
}

// graph is a Plan as nodes and edges, in the order of the Plan.
type graph struct {
	nodes []graphNode
	edges []graphEdge
	calls []graphCall
	given map[string]string // ids of the nodes of what is there, by Reference
}

type nodeKind int

const (
	nodeCall  nodeKind = iota
	nodeInput          // what comes from outside State
	nodeState          // State that no Call of the Plan writes
)

type graphNode struct {
	id    string
	kind  nodeKind
	lines []string
}

type graphEdge struct {
	from, to, label string
	dashed          bool
}

// graphCall is what the graph needs of a Call.
type graphCall struct {
	id, instance string
	written      string // its output path
	reads        []refexpr.Reference
	output       []jsonval.Path
	update       bool
}

func newGraph(calls []any) *graph {
	g := &graph{given: map[string]string{}}
	for n, call := range ideafile.ParseWrittenCalls(calls) {
		g.addCall(n, call)
	}
	for n := range g.calls {
		g.connect(n)
	}
	for n := range g.calls {
		g.alternative(n)
	}
	return g
}

func (g *graph) addCall(n int, call ideafile.WrittenCall) {
	name := cmp.Or(call.Tool, "?")
	c := graphCall{id: fmt.Sprintf("c%d", n+1)}
	line := fmt.Sprintf("%d %s", n+1, jsonval.Clip(name, 60))
	if c.instance = call.Target; c.instance != "" {
		line += " @" + jsonval.Clip(c.instance, 30)
	}
	lines := []string{line}
	if m := call.Fields(); m != nil {
		c.readCall(m)
	}
	if len(c.output) == 1 {
		lines = append(lines, "→ "+pathText(c.output[0]))
	} else if len(c.output) > 1 {
		lines = append(lines, "→ "+jsonval.Clip(c.written, 60))
	}
	g.calls = append(g.calls, c)
	g.nodes = append(g.nodes, graphNode{id: c.id, lines: lines})
}

// readCall reads a Call without its Tool: a parameter `output` that is a State reference is taken for the output path.
func (c *graphCall) readCall(m map[string]any) {
	written := m["_outputPath"]
	if alias := m["output"]; written == nil && (&ideafile.Tool{}).IsOutputPathAlias("output", alias) {
		written, m = alias, jsonval.WithoutKey(m, "output")
	}
	if path, err := refexpr.ParseOutputPath(written); err == nil {
		method, _ := m["_outputMethod"].(string)
		c.output, c.update = path.Paths(), statelog.IsUpdate(strings.TrimPrefix(method, "set"), path[0][0])
		c.written = path.Reference()
	}
	for _, k := range jsonval.SortedKeys(m) {
		if !strings.HasPrefix(k, "_") {
			c.collect(m[k])
		}
	}
}

// collect gathers every good Reference of a parameter, beside bad ones too.
func (c *graphCall) collect(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(v) {
			c.collect(v[k])
		}
	case []any:
		for _, e := range v {
			c.collect(e)
		}
	case string:
		if e, err := refexpr.ParseExpression(v); err == nil && refexpr.IsReference(v) {
			c.reads = append(c.reads, e.References()...)
		}
	}
}

// connect draws an edge to a Call from everything it reads: the Calls that write it, or where there are none, what is
// there from the start.
func (g *graph) connect(n int) {
	c := g.calls[n]
	labels := map[string][]string{}
	var sources []string
	draw := func(from, label string) {
		if _, known := labels[from]; !known {
			sources = append(sources, from)
		}
		if !slices.Contains(labels[from], label) {
			labels[from] = append(labels[from], label)
		}
	}
	for _, ref := range c.reads {
		writers := g.writersOf(n, ref)
		for _, w := range writers {
			draw(g.calls[w].id, pathText(ref.Path))
		}
		if len(writers) == 0 {
			draw(g.givenNode(ref), "")
		}
	}
	for _, from := range sources {
		g.edges = append(g.edges, graphEdge{from: from, to: c.id, label: strings.Join(labels[from], ", ")})
	}
}

// writersOf lists the Calls whose result a reader sees at a path; itself only where nobody else writes it.
func (g *graph) writersOf(n int, ref refexpr.Reference) []int {
	reader, self := g.calls[n], false
	if ref.Kind != ideafile.TypeState {
		return nil
	}
	var list []int
	for w, c := range g.calls {
		// An update is seen by who stands behind it, and the whole State is what stands before its reader.
		late := w > n && (c.update || len(ref.Path) == 0)
		if !OverlapsAny(ref.Path, c.output) || !sameInstance(c.instance, reader.instance) || late {
			continue
		}
		if w == n {
			self = !c.update && len(ref.Path) > 0
			continue
		}
		list = append(list, w)
	}
	if len(list) == 0 && self {
		list = []int{n}
	}
	return list
}

// sameInstance says whether two Calls can meet in one instance's State.
func sameInstance(a, b string) bool {
	return a == b || a == "" || b == "" || a == "*" || b == "*"
}

// givenNode is the node of a value that no Call writes.
func (g *graph) givenNode(ref refexpr.Reference) string {
	name := ref.String()
	if id, ok := g.given[name]; ok {
		return id
	}
	n := graphNode{id: fmt.Sprintf("g%d", len(g.given)+1), kind: nodeInput, lines: []string{jsonval.Clip(name, 60)}}
	if ref.Kind == ideafile.TypeState {
		n.kind = nodeState
	}
	g.given[name] = n.id
	g.nodes = append(g.nodes, n)
	return n.id
}

// alternative draws a dashed line from the last Call before that writes the same path, or one around or below it.
func (g *graph) alternative(n int) {
	c := g.calls[n]
	for w := n - 1; w >= 0 && !c.update; w-- {
		e := g.calls[w]
		if !e.update && overlapAny(e.output, c.output) && sameInstance(e.instance, c.instance) {
			g.edges = append(g.edges, graphEdge{from: e.id, to: c.id, label: "or", dashed: true})
			return
		}
	}
}

func OverlapsAny(p jsonval.Path, list []jsonval.Path) bool {
	for _, q := range list {
		if p.Overlaps(q) {
			return true
		}
	}
	return false
}

func overlapAny(a, b []jsonval.Path) bool {
	for _, p := range a {
		if OverlapsAny(p, b) {
			return true
		}
	}
	return false
}

func pathText(p jsonval.Path) string {
	if len(p) == 0 {
		return "State"
	}
	return jsonval.Clip(p.String(), 60)
}

func mermaidShape(k nodeKind) (before, after string) {
	switch k {
	case nodeInput:
		return "[/", "/]"
	case nodeState:
		return "[(", ")]"
	}
	return "[", "]"
}

func dotEdge(e graphEdge) string {
	switch {
	case e.dashed:
		return fmt.Sprintf(` [label="%s", style=dashed]`, dotText(e.label))
	case e.label != "":
		return fmt.Sprintf(` [label="%s"]`, dotText(e.label))
	}
	return ""
}

func dotShape(k nodeKind) string {
	switch k {
	case nodeInput:
		return ", shape=parallelogram"
	case nodeState:
		return ", shape=cylinder"
	}
	return ""
}

// mermaidText gives lines as the inside of a quoted label. All but letters, digits and a few signs becomes a character
// code: Mermaid reads Markdown, HTML, comments and directives inside labels, and stumbles over the word "end".
func mermaidText(lines ...string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		var b strings.Builder
		runes := []rune(plain(line))
		for n, r := range runes {
			switch {
			case isWordRune(r) && !endsDiagram(runes, n), strings.ContainsRune(" ,@→", r):
				b.WriteRune(r)
			case strings.ContainsRune("._-", r) && n > 0 && n < len(runes)-1 && isWordRune(runes[n-1]) && isWordRune(runes[n+1]):
				b.WriteRune(r)
			default:
				fmt.Fprintf(&b, "#%d;", r)
			}
		}
		out[i] = b.String()
	}
	return strings.Join(out, "<br/>")
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// endsDiagram says whether the word "end" begins here.
func endsDiagram(runes []rune, n int) bool {
	if n+3 > len(runes) || !strings.EqualFold(string(runes[n:n+3]), "end") {
		return false
	}
	return (n == 0 || !isWordRune(runes[n-1])) && (n+3 == len(runes) || !isWordRune(runes[n+3]))
}

// plain makes a text one line of characters that can be shown.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
}

// dotText gives lines as the inside of a quoted string. Graphviz reads escapes and HTML entities there.
func dotText(lines ...string) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(plain(line))
	}
	return strings.Join(out, `\n`)
}
