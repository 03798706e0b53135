package plangraph

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
)

func callsOf(t modeltest.Fataler, text string) []any {
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s", err)
	}
	return v.([]any)
}

const drawnCalls = `[
	{"_tool": "fetch", "ids": ["†input.ids[0]", "†input.ids[0]"], "_outputPath": "user"},
	{"_tool": "score", "name": "†state.user.name", "id": "†state.user.id", "lang": "†input.lang", "output": "†state.score"},
	{"_tool": "guess", "text": "†state.text", "literal": "††state.user", "bad": "†", "_outputPath": "†state.score"},
	{"_tool": "mail", "_instance": "①", "score": "†state.score"}]`

func TestAPlanIsDrawnAsAMermaidFlowchart(t *testing.T) {
	t.Parallel()
	want := `flowchart TD
  c1["1 fetch<br/>→ user"]
  c2["2 score<br/>→ score"]
  c3["3 guess<br/>→ score"]
  c4["4 mail @①"]
  g1[/"#8224;input.ids.0"/]
  g2[/"#8224;input.lang"/]
  g3[("#8224;state.text")]
  g1 --> c1
  c1 -->|"user.id, user.name"| c2
  g2 --> c2
  g3 --> c3
  c2 -->|"score"| c4
  c3 -->|"score"| c4
  c2 -.->|"or"| c3
`
	if got := RenderMermaid(callsOf(t, drawnCalls)); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestAPlanIsDrawnInTheLanguageOfGraphviz(t *testing.T) {
	t.Parallel()
	want := `digraph plan {
  node [shape=box];
  c1 [label="1 fetch\n→ user"];
  c2 [label="2 score\n→ score"];
  c3 [label="3 guess\n→ score"];
  c4 [label="4 mail @①"];
  g1 [label="†input.ids.0", shape=parallelogram];
  g2 [label="†input.lang", shape=parallelogram];
  g3 [label="†state.text", shape=cylinder];
  g1 -> c1;
  c1 -> c2 [label="user.id, user.name"];
  g2 -> c2;
  g3 -> c3;
  c2 -> c4 [label="score"];
  c3 -> c4 [label="score"];
  c2 -> c3 [label="or", style=dashed];
}
`
	if got := RenderDOT(callsOf(t, drawnCalls)); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestAnEdgeIsDrawnFromEachCallThatIsRead(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, calls, want string }{
		{"a Call that writes above what is read, or below it", `[{"_tool": "a", "_outputPath": "x"},
			{"_tool": "b", "_outputPath": "y.z"}, {"_tool": "c", "p": "†state.x.q", "r": "†state.y"}]`,
			`c1 -->|"x.q"| c3; c2 -->|"y"| c3`},
		{"a Call of another instance is not read", `[{"_tool": "a", "_instance": "①", "_outputPath": "x"},
			{"_tool": "b", "_instance": "②", "p": "†state.x"}]`,
			`g1 --> c2`},
		{"nor one for several others", `[{"_tool": "a", "_instance": ["①", "③"], "_outputPath": "x"},
			{"_tool": "b", "_instance": "②", "p": "†state.x"}]`,
			`g1 --> c2`},
		{"a Call for several is, where its reader is one of them", `[{"_tool": "a", "_instance": ["①", "②"], "_outputPath": "x"},
			{"_tool": "b", "_instance": ["②", "③"], "p": "†state.x"}]`,
			`c1 -->|"x"| c2`},
		{"a Call for all instances is", `[{"_tool": "a", "_instance": "*", "_outputPath": "x"},
			{"_tool": "b", "_instance": "②", "p": "†state.x"}]`,
			`c1 -->|"x"| c2`},
		{"a Call behind its reader", `[{"_tool": "a", "p": "†state.x"}, {"_tool": "b", "_outputPath": "x"}]`,
			`c2 -->|"x"| c1`},
		{"an update before its reader, not one behind it", `[{"_tool": "a", "_outputPath": "x", "_outputMethod": "push"},
			{"_tool": "b", "p": "†state.x"}, {"_tool": "c", "_outputPath": "x", "_outputMethod": "push"}]`,
			`c1 -->|"x"| c2`},
		{"the whole State is what stands before its reader", `[{"_tool": "a", "_outputPath": "x"}, {"_tool": "b", "p": "†state"},
			{"_tool": "c", "_outputPath": "y"}]`,
			`c1 -->|"State"| c2`},
		{"what writes the whole State is read everywhere behind it", `[{"_tool": "a", "p": "†state.y"},
			{"_tool": "b", "_outputPath": "†state"}, {"_tool": "c", "p": "†state.y"}]`,
			`g1 --> c1; c2 -->|"y"| c3`},
		{"what a Call comes after", `[{"_tool": "a", "_outputPath": "x"}, {"_tool": "b"}, {"_tool": "c", "p": "†` +
			"`${state.x}`" + `", "_after": ["†state.x", "†call.1.2"]}]`,
			`c1 -->|"x"| c3; c1 -.->|"after"| c3; c2 -.->|"after"| c3`},
		{"a Call that waits for itself", `[{"_tool": "a", "p": "†state.x", "_outputPath": "x"}]`,
			`c1 -->|"x"| c1`},
		{"a Call that reads what another writes and writes it too", `[{"_tool": "a", "_outputPath": "x"},
			{"_tool": "b", "p": "†state.x", "_outputPath": "x"}]`,
			`c1 -->|"x"| c2; c1 -.->|"or"| c2`},
		{"alternatives in a row", `[{"_tool": "a", "_outputPath": "x"}, {"_tool": "b", "_outputPath": "x"},
			{"_tool": "c", "_outputPath": "x.y"}]`,
			`c1 -.->|"or"| c2; c2 -.->|"or"| c3`},
		{"updates of one path are no alternatives", `[{"_tool": "a", "_outputPath": "x", "_outputMethod": "push"},
			{"_tool": "b", "_outputPath": "x", "_outputMethod": "merge"}]`,
			``},
		{"set is no update",
			`[{"_tool": "a", "_outputPath": "x", "_outputMethod": "set"}, {"_tool": "b", "_outputPath": "x"}]`,
			`c1 -.->|"or"| c2`},
		{"deep in a parameter",
			`[{"_tool": "a", "_outputPath": "x"}, {"_tool": "b", "p": {"q": [1, {"r": "†state.x"}]}}]`,
			`c1 -->|"x"| c2`},
		{"what is no Call has no edges", `["a", null, {}, {"_tool": 5, "_outputPath": 7}]`,
			``},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var edges []string
			for _, line := range strings.Split(RenderMermaid(callsOf(t, c.calls)), "\n") {
				if strings.Contains(line, "->") {
					edges = append(edges, strings.TrimSpace(line))
				}
			}
			if got := strings.Join(edges, "; "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAnEmptyPlanIsAnEmptyGraph(t *testing.T) {
	t.Parallel()
	if got := RenderMermaid(nil); got != "flowchart TD\n" {
		t.Errorf("Mermaid: %q", got)
	}
	if got := RenderDOT(nil); got != "digraph plan {\n  node [shape=box];\n}\n" {
		t.Errorf("DOT: %q", got)
	}
}

func TestAPlanIsDrawnTheSameEachTime(t *testing.T) {
	t.Parallel()
	mermaid, dot := RenderMermaid(callsOf(t, drawnCalls)), RenderDOT(callsOf(t, drawnCalls))
	for range 100 {
		if RenderMermaid(callsOf(t, drawnCalls)) != mermaid || RenderDOT(callsOf(t, drawnCalls)) != dot {
			t.Fatal("another graph")
		}
	}
}

// A label is made of letters, numbers, a few signs that mean nothing to Mermaid, character codes and line breaks.
const mermaidLabel = `(?:[\p{L}\p{N} ,@→._-]|#[0-9]+;|<br/>)*`

var (
	mermaidNode = regexp.MustCompile(`^  ([cg][0-9]+)(\["(` + mermaidLabel + `)"\]|\[/"(` + mermaidLabel +
		`)"/\]|\[\("(` + mermaidLabel + `)"\)\])$`)
	mermaidEdge = regexp.MustCompile(`^  ([cg][0-9]+) (?:-->|-\.->)(?:\|"(` + mermaidLabel + `)"\|)? ([cg][0-9]+)$`)
	// What Mermaid takes for Markdown at the beginning of a line, and refuses.
	markdownList = regexp.MustCompile(`^\s*(?:[-+*]|[0-9]+[.)])(?:\s|$)`)
	wordEnd      = regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}#])end(?:$|[^\p{L}\p{N}])`)
)

// readMermaid checks a flowchart line by line and gives its labels by node, as they are shown.
func readMermaid(text string) (labels map[string]string, edges int, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != "flowchart TD" {
		return nil, 0, fmt.Errorf("begins with %q", lines[0])
	}
	labels = map[string]string{}
	for _, line := range lines[1:] {
		if m := mermaidNode.FindStringSubmatch(line); m != nil && edges == 0 && labels[m[1]] == "" {
			labels[m[1]], err = shownLabel(m[3] + m[4] + m[5])
		} else if m := mermaidEdge.FindStringSubmatch(line); m != nil && labels[m[1]] != "" && labels[m[3]] != "" {
			edges++
			_, err = shownLabel(m[2])
		} else {
			err = fmt.Errorf("is neither a node nor an edge of known nodes")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("line %q: %w", line, err)
		}
	}
	return labels, edges, nil
}

func shownLabel(label string) (string, error) {
	for _, line := range strings.Split(label, "<br/>") {
		switch {
		case markdownList.MatchString(line):
			return "", fmt.Errorf("is read as a list")
		case wordEnd.MatchString(line):
			return "", fmt.Errorf("ends the diagram")
		}
	}
	codes := regexp.MustCompile(`#([0-9]+);`)
	return codes.ReplaceAllStringFunc(label, func(code string) string {
		n, err := strconv.Atoi(code[1 : len(code)-1])
		if err != nil {
			return "�"
		}
		return string(rune(n))
	}), nil
}

// readDOT checks a graph statement by statement; a quoted text holds no bare quote, escape or entity but those we
// write.
func readDOT(text string) (nodes, edges int, err error) {
	const quoted = `"(?:[^"\\&\x00-\x1f]|\\\\|\\"|\\n|&amp;)*"`
	node := regexp.MustCompile(`^  [cg][0-9]+ \[label=` + quoted + `(?:, shape=[a-z]+)?\];$`)
	edge := regexp.MustCompile(`^  [cg][0-9]+ -> [cg][0-9]+(?: \[label=` + quoted + `(?:, style=dashed)?\])?;$`)
	lines := strings.Split(text, "\n")
	if n := len(lines); n < 4 || lines[0] != "digraph plan {" || lines[1] != "  node [shape=box];" ||
		lines[n-2] != "}" || lines[n-1] != "" {
		return 0, 0, fmt.Errorf("is no digraph")
	}
	for _, line := range lines[2 : len(lines)-2] {
		switch {
		case node.MatchString(line) && edges == 0:
			nodes++
		case edge.MatchString(line):
			edges++
		default:
			return 0, 0, fmt.Errorf("line %q", line)
		}
	}
	return nodes, edges, nil
}

func TestTheCheckerOfDiagramsKnowsWhatBreaksThem(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`  c1["a"b"]`, `  c1["a]`, `  c1[a]`, `  c1["a;b"]`, `  c1["a#b"]`, `  c1["<b>"]`, "  c1[\"`a`\"]",
		`  c1["%%"]`, `  c1["the end"]`, `  c1["End"]`, `  c1["1. a"]`, `  c1["- a"]`, `  c1["x<br/>* a"]`,
		`  end["a"]`, `  c1 --> c2`, `  c1["a"] %% note`, `  c1[/"a"]`, "",
	} {
		if _, _, err := readMermaid("flowchart TD\n" + line + "\n"); err == nil {
			t.Errorf("let pass: %s", line)
		}
	}
	for _, line := range []string{`  c1 [label="a"b"];`, `  c1 [label="a\"];`, `  c1 [label="\N"];`,
		`  c1 [label="&lt;"];`, `  c1 [label=a];`, `  c1 -- c2;`, `  c1 [label="a"]; c2`} {
		if _, _, err := readDOT("digraph plan {\n  node [shape=box];\n" + line + "\n}\n"); err == nil {
			t.Errorf("let pass: %s", line)
		}
	}
}

// nastyText is what could break a diagram.
var nastyText = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
	"end", "End", "the end", "end.x", "graph", "subgraph x", "style a:#b;", "classDef x:#y;", "linkStyle 0",
	"click c1 call()", "default", "---", "-->", "o-", "x--",
	"%%{init: {}}%%", "%% note", `a"b`, "`md`", "**b**", "_i_", "1. a", "1.", "- b", "+", "* c", "#quot;", "#35;",
	"a;b", "a#b", "<br/>", "<script>", "&lt;", "{x}", "[y]", "(z)", "|", "/", `\`, `\N`, `\"`, "\n", "\r\n",
	"\x00", "\u2028", "\u202e", "†state.a", "††", "�", "\xff\xfe", "日本語", "é", "e\u0301", "①", "🙂", "href",
	"accTitle: x", "@{ shape: x }",
}))

func TestNoTextBreaksADiagram(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.OneOf(rapid.SampledFrom([]jsonval.Path{{}, {"a"}, {"a", "b"}}),
			rapid.Custom(func(rt *rapid.T) jsonval.Path { return jsonval.Path{nastyText.Draw(rt, "step")} }))
		reference := func(kind, label string) string {
			return refexpr.Reference{Kind: kind, Path: path.Draw(rt, label)}.String()
		}
		var calls []any
		for range rapid.IntRange(0, 5).Draw(rt, "calls") {
			calls = append(calls, map[string]any{
				"_tool": nastyText.Draw(rt, "tool"), "_instance": nastyText.Draw(rt, "token"),
				"_outputPath": reference("state", "output"),
				"a":           reference("state", "state"), "b": reference(nastyText.Draw(rt, "kind"), "data"),
				"c": nastyText.Draw(rt, "literal"),
			})
		}
		labels, edges, err := readMermaid(RenderMermaid(calls))
		if err != nil {
			rt.Fatalf("Mermaid: %s", err)
		}
		nodes, dotEdges, err := readDOT(RenderDOT(calls))
		if err != nil {
			rt.Fatalf("DOT: %s", err)
		}
		if nodes != len(labels) || dotEdges != edges || nodes < len(calls) {
			rt.Fatalf("%d Calls, %d and %d nodes, %d and %d edges", len(calls), len(labels), nodes, edges, dotEdges)
		}
	})
}

func TestALabelShowsWhatItStandsFor(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"end", `say "hi"`, "a`b`", "x#35;", "1. list", "<b>", "a;b", "%%",
		"send_mail", "†x"} {
		labels, _, err := readMermaid(RenderMermaid([]any{map[string]any{"_tool": tool}}))
		if err != nil || labels["c1"] != "1 "+tool {
			t.Errorf("%s is shown as %q, %v", tool, labels["c1"], err)
		}
	}
}

func TestWhatAConditionLooksAtIsDrawnAsADashedEdge(t *testing.T) {
	t.Parallel()
	calls := callsOf(t, `[{"_tool": "find", "_outputPath": "item"},
		{"_tool": "send", "_when": {"properties": {"state": {"required": ["item"]}, "input": {"properties": {"kind": {"const": "a"}}}}}}]`)
	got := RenderMermaid(calls)
	for _, want := range []string{`c1 -.->|"if"| c2`, `g1 -.->|"if"| c2`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
