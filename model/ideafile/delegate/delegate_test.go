package delegate_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// delegating is an Idea with one Tool that is a delegate.
func delegating(file string) map[string]any {
	return map[string]any{"schema": map[string]any{"tools": map[string]any{"t": map[string]any{"_delegate": file}}}}
}

func TestDelegatesFilesAreCheckedAllTheWayDown(t *testing.T) {
	t.Parallel()
	deep := map[string]any{}
	for n := 1; n <= delegate.MaxDepth; n++ {
		deep[fmt.Sprintf("%d.json", n)] = delegating(fmt.Sprintf("%d.json", n+1))
	}
	deep[fmt.Sprintf("%d.json", delegate.MaxDepth+1)] = map[string]any{}
	flat := map[string]any{}
	for n := 1; n < delegate.MaxDepth; n++ {
		flat[fmt.Sprintf("%d.json", n)] = delegating(fmt.Sprintf("%d.json", n+1))
	}
	flat[fmt.Sprintf("%d.json", delegate.MaxDepth)] = map[string]any{}
	for name, c := range map[string]struct {
		first string
		files map[string]any
		want  string
	}{
		"it is there": {"a.json", map[string]any{"a.json": map[string]any{}}, ""},
		"in a folder": {"sub/a.json",
			map[string]any{"sub/a.json": delegating("b.json"), "sub/b.json": map[string]any{}}, ""},
		"as deep as may be": {"1.json", flat, ""},
		"it is missing":     {"a.json", nil, "the process is started without the file a.json"},
		"out of the folder": {"../a.json", nil, "in the folder of the Idea file or below"},
		"out of it further down": {"sub/a.json", map[string]any{"sub/a.json": delegating("../../b.json")},
			"sub/a.json: $.schema.tools.t._delegate: an Idea may only name files in the folder"},
		"from the root": {"/etc/a.json", nil, "in the folder"},
		"it is broken": {"a.json", map[string]any{"a.json": map[string]any{"oops": true}},
			`a.json: $.oops: unknown key "oops"`},
		"it leads to itself": {"a.json", map[string]any{"a.json": delegating("a.json")},
			"a.json is its own delegate"},
		"it leads to the first one": {"a.json", map[string]any{"a.json": delegating("main.json")},
			"main.json is its own delegate: main.json, a.json, main.json"},
		"too deep": {"1.json", deep, "delegates are nested more than 5 deep"},
	} {
		idea, ps := ideafile.ReadIdea(delegating(c.first))
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		got := delegate.CheckFiles(idea, "main.json", c.files).Error()
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestADelegateIsGivenItsParametersAndWhatItsScopesName(t *testing.T) {
	t.Parallel()
	tool := ideafile.ReadTool("t", modeltest.DecodeJSON(t, `{"_delegate": "a.json", "_output": {"type": "string"}}`),
		"$", new(diag.Problems))
	idea := delegate.NewIdea(tool,
		modeltest.DecodeJSON(t, `{"context": [{"type": "text", "text": "Go."}]}`).(map[string]any), nil,
		map[string]any{"text": "x"},
		map[string]any{"state.user.name": "Anna", "input": map[string]any{"text": "theirs", "more": "y"},
			"rules.1": "no spam"})
	read, ps := ideafile.ReadIdea(jsonval.ToJSONValue(idea))
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	view := ideafile.InstanceViewOf(read.Context, "")
	if got := string(
		jsonval.Encode(
			jsonval.ToJSONValue(
				view.PayloadByKind))); got != `{"input":{"more":"y","text":"x"},"rules":{"1":"no spam"},"state":{"user":{"name":"Anna"}}}` {
		t.Error(got)
	}
	if read.OutputSchema == nil || len(read.Context) != 5 {
		t.Errorf("%+v", read)
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAnIdeaCarriesTheFilesThatItsDelegatesNeed(t *testing.T) {
	t.Parallel()
	b := `{"schema":{"tools":{"c":{"_delegate":"../c.json"}}}}`
	files := object(t, `{"sub/b.json":`+b+`,"c.json":{},"other.json":{}}`)
	first := object(
		t, `{"schema":{"tools":{"b":{"_delegate":"sub/b.json"},"x":{"_delegate":"anonymous","_output":{}}}}}`)
	for name, c := range map[string]struct {
		idea map[string]any
		own  string
		want string
	}{
		"the first one": {first, "", `{"delegates":{"c.json":{},"sub/b.json":` + b +
			`},"schema":{"tools":{"b":{"_delegate":"sub/b.json"},"x":{"_delegate":"anonymous","_output":{}}}}}`},
		"a delegate of a folder below": {object(t, b), "sub/b.json",
			`{"delegates":{"c.json":{}},"schema":{"tools":{"c":{"_delegate":"c.json"}}}}`},
		"one that has none": {object(t, `{}`), "c.json", `{}`},
	} {
		carrying := delegate.WithFiles(c.idea, c.own, files)
		if got := string(jsonval.Encode(carrying)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		rest, taken, ps := delegate.ExtractFiles(carrying, nil)
		if idea, wrong := ideafile.ReadIdea(rest); len(ps) > 0 || len(wrong) > 0 ||
			len(delegate.CheckFiles(idea, "", taken)) > 0 {
			t.Errorf("%s: it does not run from what it carries: %v %v", name, ps, wrong)
		}
	}
}

func TestFilesThatADelegateCarriesAreFoundFromThere(t *testing.T) {
	t.Parallel()
	given := object(
		t,
		`{"sub/b.json":{"schema":{"tools":{"c":{"_delegate":"c.json"}}},"delegates":{"c.json":{"meta":{"path":"c"}}}}}`)
	_, files, ps := delegate.ExtractFiles(map[string]any{}, given)
	if got := string(jsonval.Encode(files)); len(ps) > 0 ||
		got != `{"sub/b.json":{"schema":{"tools":{"c":{"_delegate":"c.json"}}}},"sub/c.json":{"meta":{"path":"c"}}}` {
		t.Errorf("%s %v", got, ps)
	}
}

func TestTwoFilesOfOneNameThatDifferAreAProblem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"delegates":{"a.json":{},"./a.json":{"meta":{}}}}`:                                                            "there are two files a.json, which differ",
		`{"delegates":{"sub/b.json":{"delegates":{"../../c.json":{}}}}}`:                                                `$.delegates["sub/b.json"].delegates["../../c.json"]: an Idea may only name files in the folder`,
		`{"delegates":{"a.json":{},"b.json":{"delegates":{"a.json":{}}}}}`:                                              "",
		`{"delegates":{"a.json":{"schema":{"tools":{"t":{"_order":["b"]}}}},"./a.json":{"schema":{"tools":{"t":{}}}}}}`: "",
	} {
		_, _, ps := delegate.ExtractFiles(object(t, text), nil)
		if got := ps.Error(); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}
