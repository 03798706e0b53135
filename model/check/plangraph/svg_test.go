package plangraph_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// elements reads a picture, and gives its elements by their names with the texts in them.
func elements(t *testing.T, svg string) (boxes []map[string]string, texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return boxes, texts
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			at := map[string]string{}
			for _, a := range e.Attr {
				at[a.Name.Local] = a.Value
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
					t.Errorf("it has %s=%q", a.Name.Local, a.Value)
				}
			}
			if e.Name.Local == "rect" && at["x"] != "" {
				boxes = append(boxes, at)
			}
			if e.Name.Local == "script" || e.Name.Local == "style" {
				t.Errorf("it has a %s", e.Name.Local)
			}
		case xml.CharData:
			texts = append(texts, string(e))
		}
	}
}

func call(tool, path string, reads ...any) any {
	return map[string]any{"_tool": tool, "texts": reads, "_outputPath": path}
}

func TestNoLineStrikesALabelThrough(t *testing.T) {
	t.Parallel()
	svg := plangraph.RenderSVG([]any{call("fetch", "†state.a"), call("left", "†state.b", "†state.a"),
		call("right", "†state.c", "†state.a")}, nil, plangraph.Labels{})
	if line, label := strings.LastIndex(svg, "<path d="), strings.Index(svg, "<text"); line > label {
		t.Errorf("a line is drawn at %d, after the label at %d: %s", line, label, svg)
	}
}

func TestWhoReadsStandsBelowWhomItReadsFromAndNoBoxesOverlap(t *testing.T) {
	t.Parallel()
	boxes, texts := elements(t, plangraph.RenderSVG([]any{
		call("fetch", "†state.a", "†input.x"), call("left", "†state.b", "†state.a"),
		call("right", "†state.c", "†state.a"), call("join", "†state.d", "†state.b", "†state.c"),
	}, nil, plangraph.Labels{}))
	if len(boxes) != 5 { // four Calls, and the input
		t.Fatalf("%d boxes: %q", len(boxes), texts)
	}
	number := func(n int, key string) float64 { v, _ := strconv.ParseFloat(boxes[n][key], 64); return v }
	if !(number(4, "y") < number(0, "y") && number(0, "y") < number(1, "y") && number(1, "y") == number(2, "y") &&
		number(2, "y") < number(3, "y")) {
		t.Errorf("%v", boxes)
	}
	for a := range boxes {
		for b := range a {
			if number(a, "x") < number(b, "x")+number(b, "width") && number(b, "x") < number(a, "x")+
				number(a, "width") && number(a, "y") == number(b, "y") {
				t.Errorf("boxes %d and %d overlap: %v", a, b, boxes)
			}
		}
	}
	if all := strings.Join(texts, "|"); !strings.Contains(all, "1 fetch") || !strings.Contains(all, "→ ") {
		t.Error(all)
	}
}

func TestAPictureOfHostileNamesIsAPicture(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`<script>alert(1)</script>`, "]]>&\"'", "a\x00\x1b\u202eb",
		strings.Repeat("x", 5000), "", "日本語"} {
		_, texts := elements(
			t, plangraph.RenderSVG([]any{call(name, "†state.a", "†state.a"), call(name, "†state.b", "†state.a"),
				7, nil}, nil, plangraph.Labels{}))
		if strings.Contains(strings.Join(texts, ""), "alert") != strings.Contains(name, "alert") {
			t.Errorf("%q", texts)
		}
	}
	elements(t, plangraph.RenderSVG(nil, nil, plangraph.Labels{}))
}

func TestAPictureOfManyCallsAndOfACircle(t *testing.T) {
	t.Parallel()
	var many []any
	for n := range 500 {
		many = append(many, call("t", fmt.Sprintf("†state.v%d", n), fmt.Sprintf("†state.v%d", (n*7+1)%500)))
	}
	if boxes, _ := elements(t, plangraph.RenderSVG(many, nil, plangraph.Labels{})); len(boxes) != 500 {
		t.Errorf("%d boxes", len(boxes))
	}
}

func TestWhatBecameOfACallIsWrittenInItAndColoursIt(t *testing.T) {
	t.Parallel()
	calls := []any{call("a", "†state.a", "†input.x"), call("b", "†state.b", "†state.a"),
		call("c", "†state.c", "†state.b")}
	boxes, texts := elements(t,
		plangraph.RenderSVG(calls,
			[]map[ideafile.CallStatus]int{{ideafile.CallDone: 3}, {ideafile.CallDone: 1, ideafile.CallFailed: 2}},
			plangraph.Labels{}))
	all := strings.Join(texts, "|")
	for _, want := range []string{"3 done", "2 failed, 1 done"} {
		if !strings.Contains(all, want) {
			t.Errorf("it does not say %q: %s", want, all)
		}
	}
	if a, b, c := boxes[0]["fill"], boxes[1]["fill"], boxes[2]["fill"]; a == b || b == c || a == c {
		t.Errorf("the fills are %s, %s and %s", a, b, c)
	}
	if boxes[0]["height"] == boxes[2]["height"] {
		t.Error("a Call of which nothing is known has a line for it")
	}
}

// A picture for people has the titles of Tools and values, the names of instances, and the reader's language.
func TestAPictureSpeaksTheWordsOfTheBusiness(t *testing.T) {
	t.Parallel()
	raw, err := jsonval.DecodeObject([]byte(`{"config": {"instanceName": "†` + "`order ${input.order}`" + `"},
		"schema": {"tools": {"refund": {"title": "Refund a customer", "properties": {"to": {}, "sum": {"title": "Amount"}}, "_activity": "note"}}},
		"context": [
			{"type": "input", "schema": {"properties": {"client": {"title": "Customer", "properties": {"name": {}}}}}, "input": {}},
			{"type": "state", "schema": {"properties": {"letter": {"title": "The letter"}}}, "state": {}},
			{"type": "input", "_instance": "①", "input": {"order": "A-1"}}, {"type": "input", "_instance": "②", "input": {"order": "A-2"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	idea, problems := ideafile.ReadIdea(any(raw))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	calls := []any{
		map[string]any{"_tool": "refund", "_instance": []any{"①", "②"}, "to": "†input.client.name", "sum": "†input.cents", "_outputPath": "letter"},
		map[string]any{"_tool": "refund", "to": []any{"†state.letter", "†input", "†state.noteForAll[0].text"},
			"_after": []any{"†call.1.1"}},
	}
	_, texts := elements(t,
		plangraph.RenderSVG(calls, []map[ideafile.CallStatus]int{{ideafile.CallAwaitingApproval: 2}},
			plangraph.Labels{Presenter: shown.NewPresenter(idea), Translate: strings.ToUpper}))
	all := strings.Join(texts, "|")
	for _, want := range []string{"|1 Refund a customer|order A-1, order A-2|→ The letter|2 AWAITING-APPROVAL|",
		"|2 Refund a customer|", "|Customer › Name|", "|Amount|", "|WHAT IT BEGAN WITH|", "|Note for all › 0 › Text|", "|AFTER|"} {
		if !strings.Contains("|"+all+"|", want) {
			t.Errorf("it does not say %q: %s", want, all)
		}
	}
	for _, name := range []string{"①", "†", "refund|", "Cents"} {
		if strings.Contains(all, name) {
			t.Errorf("it says %q: %s", name, all)
		}
	}
}
