package plangraph_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
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
		call("right", "†state.c", "†state.a")}, nil, plangraph.Labels{}, plangraph.Light)
	if line, label := strings.LastIndex(svg, "<path d="), strings.Index(svg, "<text"); line > label {
		t.Errorf("a line is drawn at %d, after the label at %d: %s", line, label, svg)
	}
}

func TestWhoReadsStandsBelowWhomItReadsFromAndNoBoxesOverlap(t *testing.T) {
	t.Parallel()
	boxes, texts := elements(t, plangraph.RenderSVG([]any{
		call("fetch", "†state.a", "†input.x"), call("left", "†state.b", "†state.a"),
		call("right", "†state.c", "†state.a"), call("join", "†state.d", "†state.b", "†state.c"),
	}, nil, plangraph.Labels{}, plangraph.Light))
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
				7, nil}, nil, plangraph.Labels{}, plangraph.Light))
		if strings.Contains(strings.Join(texts, ""), "alert") != strings.Contains(name, "alert") {
			t.Errorf("%q", texts)
		}
	}
	elements(t, plangraph.RenderSVG(nil, nil, plangraph.Labels{}, plangraph.Light))
}

func TestAPictureOfManyCallsAndOfACircle(t *testing.T) {
	t.Parallel()
	var many []any
	for n := range 500 {
		many = append(many, call("t", fmt.Sprintf("†state.v%d", n), fmt.Sprintf("†state.v%d", (n*7+1)%500)))
	}
	if boxes, _ := elements(t, plangraph.RenderSVG(many, nil, plangraph.Labels{}, plangraph.Light)); len(boxes) != 500 {
		t.Errorf("%d boxes", len(boxes))
	}
}

func TestWhatBecameOfACallIsWrittenInItAboveABarOfItsShares(t *testing.T) {
	t.Parallel()
	calls := []any{call("a", "†state.a", "†input.x"), call("b", "†state.b", "†state.a"),
		call("c", "†state.c", "†state.b")}
	counts := []map[ideafile.CallStatus]int{{ideafile.CallDone: 999, ideafile.CallRejected: 1},
		{ideafile.CallDone: 1, ideafile.CallFailed: 1, ideafile.CallWaiting: 2}}
	svg := plangraph.RenderSVG(calls, counts, plangraph.Labels{}, plangraph.Light)
	boxes, texts := elements(t, svg)
	wantTexts := []string{"1 rejected, 999 done", "1 failed, 2 waiting, 1 done"}
	for _, want := range wantTexts {
		if all := strings.Join(texts, "|"); !strings.Contains(all, want) {
			t.Errorf("it does not say %q: %s", want, all)
		}
	}
	if a, b, c := boxes[0]["fill"], boxes[1]["fill"], boxes[2]["fill"]; a != b || b != c {
		t.Errorf("one rejection colours the whole box: the fills are %s, %s and %s", a, b, c)
	}
	if boxes[0]["height"] == boxes[2]["height"] {
		t.Error("a Call of which nothing is known has a line for it")
	}
	widthsByStatus := map[string][]float64{}
	share := regexp.MustCompile(`<path class="(.+?)" d="M[^h]*h([0-9.]+)v`)
	for _, share := range share.FindAllStringSubmatch(svg, -1) {
		width, _ := strconv.ParseFloat(share[2], 64)
		widthsByStatus[share[1]] = append(widthsByStatus[share[1]], width)
	}
	done, rejected, waiting := widthsByStatus["done"], widthsByStatus["rejected"], widthsByStatus["waiting"]
	if len(done) != 2 || len(rejected) != 1 || len(waiting) != 1 || len(widthsByStatus["failed"]) != 1 {
		t.Fatalf("the shares are %v", widthsByStatus)
	}
	if rejected[0] < 3 || done[0] < 20*rejected[0] || done[1] != widthsByStatus["failed"][0] || waiting[0] <= done[1] {
		t.Errorf("the shares are %v", widthsByStatus)
	}
	told := plangraph.Labels{}.StatusTexts(calls, counts)
	if want := "1 a: " + wantTexts[0] + "|2 b: " + wantTexts[1]; strings.Join(told, "|") != want {
		t.Errorf("%q", told)
	}
}

// luminance is the relative luminance of WCAG.
func luminance(color string) float64 {
	if len(color) == 4 {
		color = "#" + string([]byte{color[1], color[1], color[2], color[2], color[3], color[3]})
	}
	sum := 0.0
	for n, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, _ := strconv.ParseUint(color[1+2*n:3+2*n], 16, 8)
		c := float64(v) / 255
		if c = c / 12.92; v > 10 {
			c = math.Pow((float64(v)/255+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestTheColoursOfAPictureStandOutInEachScheme(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]plangraph.Palette{"light": plangraph.Light, "dark": plangraph.Dark} {
		for _, text := range [][2]string{{p.Ink, p.Box}, {p.Ink, p.Paper}, {p.Line, p.Paper}} {
			if got := contrast(text[0], text[1]); got < 4.5 {
				t.Errorf("%s: the text %s on %s has a contrast of %.2f", name, text[0], text[1], got)
			}
		}
		for status, color := range p.ByStatus {
			if got := contrast(color, p.Box); got < 3 {
				t.Errorf("%s: %s in %s has a contrast of %.2f", name, status, color, got)
			}
		}
	}
	dark := plangraph.RenderSVG([]any{call("a", "†state.a", "†input.x")}, nil, plangraph.Labels{}, plangraph.Dark)
	p := plangraph.Light
	for _, light := range []string{p.Paper + `"`, p.Ink, p.Line, p.Box} {
		if strings.Contains(dark, light) {
			t.Errorf("the dark picture has the light %s: %s", light, dark)
		}
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
			plangraph.Labels{Presenter: shown.NewPresenter(idea), Translate: strings.ToUpper}, plangraph.Light))
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
