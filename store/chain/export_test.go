package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"processidea/model/statelog"
	"processidea/model/turn"
)

func exported(t *testing.T, s *shelf, process string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Export(t.Context(), process, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func verifiedExport(t *testing.T, data []byte) *Report {
	t.Helper()
	r, err := VerifyExport(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnExportIsVerifiedWithNothingButTheFile(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	data := exported(t, s.cold(t), "p")
	r := verifiedExport(t, data)
	if want := s.verified(t, "p"); !r.IsIntact || jsonOf(r) != jsonOf(want) {
		t.Errorf("the file: %+v, the store: %+v", r, want)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if len(lines) != 6 || !strings.HasPrefix(string(lines[0]),
		`{"digest":"`+r.Digest+`","format":"processidea-chain","ideas":5,`) {
		t.Errorf("%d lines, the first is %s", len(lines), lines[0])
	}
	second := object(t, string(lines[2]))
	whole, err := s.Load(t.Context(), "p", 2)
	if err != nil || jsonOf(second["idea"]) != jsonOf(whole) || len(second["log"].([]any)) != 1 {
		t.Errorf("%v: the second Idea is exported as %s", err, lines[2])
	}
	if values, _ := object(t, string(lines[4]))["values"].(map[string]any); len(values) != 2 {
		t.Errorf("%d values are given with the log of Idea 4", len(values))
	}
}

func TestAChangedByteOfAnExportIsFoundAndItsLineNamed(t *testing.T) {
	t.Parallel()
	data := exported(t, smallChain(t), "p")
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	for n := range starts[:len(starts)-1] {
		for _, at := range positions(starts[n+1]-starts[n], 200) {
			changed := bytes.Clone(data)
			changed[starts[n]+at] ^= byte(1 << rand.IntN(8))
			r, err := VerifyExport(bytes.NewReader(changed), nil)
			if n == 0 && errors.Is(err, ErrNoExport) {
				continue
			}
			line := "line " + string(rune('1'+n))
			if err != nil || r.IsIntact ||
				(r.Broken[0].Item != line && (n > 0 || r.Broken[len(r.Broken)-1].Item != line)) {
				t.Fatalf("byte %d of %s: %q became %q: %+v, %v", at, line, data[starts[n]+at],
					changed[starts[n]+at], r, err)
			}
		}
	}
}

func TestAnExportThatWasCutOrShuffledIsFound(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	data := exported(t, s, "p")
	lines := bytes.SplitAfter(data, []byte("\n"))[:6]
	other := newShelf(t)
	newStory(t, other, "q").grow(2)
	foreign := bytes.SplitAfter(exported(t, other, "q"), []byte("\n"))
	for name, c := range map[string]struct {
		lines []int
		with  []byte
		part  string
	}{
		"without its last line":     {[]int{0, 1, 2, 3, 4}, nil, "line 1"},
		"without its second line":   {[]int{0, 2, 3, 4, 5}, nil, "line 2"},
		"with two lines exchanged":  {[]int{0, 1, 3, 2, 4, 5}, nil, "line 3"},
		"with a line twice":         {[]int{0, 1, 2, 2, 3, 4, 5}, nil, "line 4"},
		"without its head":          {[]int{1, 2, 3, 4, 5}, nil, "line 1"},
		"with nothing but its head": {[]int{0}, nil, "line 1"},
		"with a foreign Idea":       {[]int{0, 1, 2, 3, 4, 5}, foreign[2], "line 7"},
		"with half a line":          {[]int{0, 1, 2, 3, 4, 5}, []byte("{"), "line 7"},
		"with an empty line":        {[]int{0, 1, 2, 3, 4, 5}, []byte("\n"), "line 7"},
	} {
		var cut []byte
		for _, n := range c.lines {
			cut = append(cut, lines[n]...)
		}
		r := verifiedExport(t, append(cut, c.with...))
		if r.IsIntact || r.Broken[0].Item != c.part {
			t.Errorf("an export %s: %+v", name, r)
		}
	}
	r := verifiedExport(t, bytes.TrimSuffix(data, []byte("\n")))
	if r.IsIntact || r.Broken[0].Item != "line 6" {
		t.Errorf("an export without its last byte: %+v", r)
	}
}

func TestAnExportSaysNothingBesideTheChain(t *testing.T) {
	t.Parallel()
	data := exported(t, smallChain(t), "p")
	lines := bytes.SplitAfter(data, []byte("\n"))
	for name, change := range map[string]func(line map[string]any){
		"another key":          func(l map[string]any) { l["note"] = "trust me" },
		"no log":               func(l map[string]any) { delete(l, "log") },
		"no values":            func(l map[string]any) { delete(l, "values") },
		"values that are none": func(l map[string]any) { l["values"] = 5 },
		"a value that nothing needs": func(l map[string]any) {
			l["values"].(map[string]any)[digestOf(json.Number("1"))] = 1
		},
		"another value": func(l map[string]any) {
			l["values"].(map[string]any)[digestOf(json.Number("1"))] = 2
		},
	} {
		line := object(t, string(lines[4]))
		change(line)
		changed := bytes.Join([][]byte{lines[0], lines[1], lines[2], lines[3], []byte(jsonOf(line) + "\n"), lines[5]},
			nil)
		if r := verifiedExport(t, changed); r.IsIntact || r.Broken[0].Item != "line 5" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestWhatIsNoExportIsSaidToBeNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}\n", "hello", `{"schema":{}}`, "\n\n"} {
		if r, err := VerifyExport(strings.NewReader(text), nil); !errors.Is(err, ErrNoExport) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}

func TestABrokenChainIsNotExported(t *testing.T) {
	t.Parallel()
	s := smallChain(t)
	if err := os.Remove(filepath.Join(s.dir, ManifestName("p", 2))); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err := s.cold(t).Export(t.Context(), "p", &b)
	if err == nil || !strings.Contains(err.Error(), "ideas/p/2.json: Idea 2 is missing") || b.Len() > 0 {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
	if err := s.Export(t.Context(), "q", &b); !errors.Is(err, ErrNoIdea) {
		t.Errorf("got %v", err)
	}
}

func TestAValueOfALogIsGivenOnce(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	value := s.stored(t, "x")
	for range 3 {
		story.seal(idea(t, `{"": {}}`, noCalls, ""), turn.LogEntry{Write: statelog.Write{Value: value, Author: "1.1"}})
	}
	data := exported(t, s, "p")
	if n := bytes.Count(data, []byte(`"values":`)); n != 1 || !verifiedExport(t, data).IsIntact {
		t.Errorf("it is given %d times", n)
	}
}

func TestAnIdeaOfAnotherNumberIsFound(t *testing.T) {
	t.Parallel()
	i := object(t, `{"meta": {"process": "p", "at": 2}}`)
	digest := digestOf(i)
	i["meta"].(map[string]any)["digest"] = digest
	lines := jsonOf(exportHead{exportFormat, exportVersion, "p", 1, digest}) + "\n" +
		jsonOf(map[string]any{"idea": i}) + "\n"
	r := verifiedExport(t, []byte(lines))
	if r.IsIntact || jsonOf(
		r.Broken[0]) != `{"at":1,"harms":[1],"part":"line 2","problem":"it is Idea 2 and stands where Idea 1 belongs"}` {
		t.Errorf("%+v", r)
	}
}

// The Python beside the documents is what somebody checks a chain with who does not trust this program.
func TestThePythonOfTheDocumentationChecksAnExport(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	const script = "../../docs/check_digests.py"
	check := func(input []byte) string {
		t.Helper()
		c := exec.Command(python, script)
		c.Stdin, c.Stderr = bytes.NewReader(input), os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	s := newShelf(t)
	story := newStory(t, s, "p")
	story.grow(2)
	story.seal(
		idea(
			t,
			`{"": {"big": 123456789012345678901234567890, "float": 1.50E+3, "minus": -0.0, "text": "é\u2028<&>\u0001\t\u007f\"\\/ 😀", "é": 1, "z": 1, "Z": [], "none": null, "yes": true}}`, noCalls, ""))
	data := exported(t, s, "p")
	out := check(data)
	if strings.Count(out, " good\n") != 3 || strings.Contains(out, "BROKEN") ||
		!strings.Contains(out, "3 "+story.last) {
		t.Errorf("of a chain that is whole it says\n%s", out)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	third := object(t, string(lines[3]))["idea"]
	if out := check([]byte(jsonOf(third))); strings.Count(out, " good\n") != 1 {
		t.Errorf("of what show prints it says\n%s", out)
	}
	changed := bytes.Replace(data, []byte("1.50E+3"), []byte("1.5E+3"), 1)
	if out := check(changed); strings.Count(out, " good\n") != 2 || !strings.Contains(out, "3 "+story.last+" BROKEN") {
		t.Errorf("of a changed number it says\n%s", out)
	}
	if out := check(bytes.Join([][]byte{lines[0], lines[1], lines[3]}, nil)); !strings.Contains(out, "BROKEN") {
		t.Errorf("of a chain with a gap it says\n%s", out)
	}
}
