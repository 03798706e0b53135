package dataflow_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// delegating is an Idea with one Tool that is a delegate.
func delegating(file string) map[string]any {
	return map[string]any{"schema": map[string]any{"tools": map[string]any{"t": map[string]any{"_delegate": file}}}}
}

func TestDelegatesFilesAreCheckedAllTheWayDown(t *testing.T) {
	deep := map[string]any{}
	for n := 1; n <= ideafile.MaxDelegateDepth; n++ {
		deep[fmt.Sprintf("%d.json", n)] = delegating(fmt.Sprintf("%d.json", n+1))
	}
	deep[fmt.Sprintf("%d.json", ideafile.MaxDelegateDepth+1)] = map[string]any{}
	flat := map[string]any{}
	for n := 1; n < ideafile.MaxDelegateDepth; n++ {
		flat[fmt.Sprintf("%d.json", n)] = delegating(fmt.Sprintf("%d.json", n+1))
	}
	flat[fmt.Sprintf("%d.json", ideafile.MaxDelegateDepth)] = map[string]any{}
	for name, c := range map[string]struct {
		first string
		files map[string]any
		want  string
	}{
		"it is there":               {"a.json", map[string]any{"a.json": map[string]any{}}, ""},
		"in a folder":               {"sub/a.json", map[string]any{"sub/a.json": delegating("b.json"), "sub/b.json": map[string]any{}}, ""},
		"as deep as may be":         {"1.json", flat, ""},
		"it is missing":             {"a.json", nil, "the start brings no file a.json"},
		"out of the folder":         {"../a.json", nil, "lies in the folder of the Idea file, or below"},
		"out of it further down":    {"sub/a.json", map[string]any{"sub/a.json": delegating("../../b.json")}, "sub/a.json: $.schema.tools.t._delegate: a delegate's file lies in the folder"},
		"from the root":             {"/etc/a.json", nil, "lies in the folder"},
		"it is broken":              {"a.json", map[string]any{"a.json": map[string]any{"oops": true}}, `a.json: $.oops: unknown key "oops"`},
		"it leads to itself":        {"a.json", map[string]any{"a.json": delegating("a.json")}, "a.json leads back to itself"},
		"it leads to the first one": {"a.json", map[string]any{"a.json": delegating("main.json")}, "main.json leads back to itself: main.json, a.json, main.json"},
		"too deep":                  {"1.json", deep, "delegates stand more than 5 deep within each other"},
	} {
		idea, ps := ideafile.ReadIdea(delegating(c.first))
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		got := ideafile.CheckDelegateFiles(idea, "main.json", c.files).Error()
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestADelegateIsGivenItsParametersAndWhatItsScopesName(t *testing.T) {
	tool := ideafile.ReadTool("t", modeltest.DecodeJSON(t, `{"_delegate": "a.json", "_output": {"type": "string"}}`), "$", new(diag.Problems))
	idea := tool.DelegateIdea(modeltest.DecodeJSON(t, `{"context": [{"type": "text", "text": "Go."}]}`).(map[string]any), nil,
		map[string]any{"text": "x"}, map[string]any{"state.user.name": "Anna", "input": map[string]any{"text": "theirs", "more": "y"}, "rules.1": "no spam"})
	read, ps := ideafile.ReadIdea(jsonval.ToJSONValue(idea))
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	view := ideafile.InstanceViewOf(read.Context, "")
	if got := string(jsonval.Encode(jsonval.ToJSONValue(view.PayloadByKind))); got != `{"input":{"more":"y","text":"x"},"rules":{"1":"no spam"},"state":{"user":{"name":"Anna"}}}` {
		t.Error(got)
	}
	if read.OutputSchema == nil || len(read.Context) != 5 {
		t.Errorf("%+v", read)
	}
}

// A Call that reads what a delegate may hand back waits for it, whoever it was that was to write it.
func TestAReaderWaitsForWhatADelegateMayHandBack(t *testing.T) {
	s := modeltest.NewScenarioWithTools(t, modeltest.ScenarioTools+`, "slow": {"type": "object", "_delegate": "a.json", "_writes": ["state.note"], "_output": {"type": "string"}}`, "")
	s.ReplyWith(`{"calls":[{"_tool":"slow","_outputPath":"b"},{"_tool":"work","x":"†state.note","_outputPath":"c"}],"output":null}`)
	run := s.Instances[""]
	s.WantEqual("the reader", string(run.FindCall("1.2").Status), "waiting")
	run.ApplyDelegateResult("1.1", s.Idea.Tool("slow"), "fine", map[string]any{"note": "mind", "other": "not mine"})
	s.Instances[""] = modeltest.CarryInstance(t, run)
	s.Advance("")
	s.WantEqual("the State", string(jsonval.Encode(s.Instances[""].State())), `{"b":"fine","c":"mind","note":"mind"}`)
	s.WantEqual("who wrote it", fmt.Sprint(s.Instances[""].Writes()[0].Author, s.Instances[""].Writes()[1].Author), "1.11.1")
}

func TestWhatADelegateHandsBackIsWrittenOnce(t *testing.T) {
	s := modeltest.NewScenarioWithTools(t, modeltest.ScenarioTools+`, "slow": {"type": "object", "_delegate": "a.json", "_writes": ["state.a"]}`, "", `"context": [{"type": "state", "state": {"a": 1}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"slow"}],"output":null}`)
	s.Instances[""].ApplyDelegateResult("1.1", s.Idea.Tool("slow"), nil, map[string]any{"a": "2"})
	s.WantEqual("the State", string(jsonval.Encode(s.Instances[""].State())), `{"a":1}`)
	s.WantEqual("the Call", string(s.Instances[""].FindCall("1.1").Status), "done")
}

func TestWhatADelegateHandsBackMustFitTheStateSchema(t *testing.T) {
	s := modeltest.NewScenarioWithTools(t, modeltest.ScenarioTools+`, "slow": {"type": "object", "_delegate": "a.json", "_writes": ["state.n"]}`, "",
		`"context": [{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]`)
	s.ReplyWith(`{"calls":[{"_tool":"slow"}],"output":null}`)
	s.Instances[""].ApplyDelegateResult("1.1", s.Idea.Tool("slow"), nil, map[string]any{"n": "two"})
	s.WantEqual("the Call", string(s.Instances[""].FindCall("1.1").Status), "failed")
}

func TestCheckKnowsWhatADelegateMayHandBack(t *testing.T) {
	idea := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioTools+`, "slow": {"type": "object", "_delegate": "a.json", "_writes": ["state.note"], "_output": {"type": "string"}}}},
		"context": [{"type": "plan", "plan": [{"_tool": "slow", "_outputPath": "b"}, {"_tool": "work", "n": "†state.note"}, {"_tool": "work", "x": "†state.other"}]}]}`)
	got := check.Check(idea, nil).Errors()
	if len(got) != 1 || !strings.Contains(got.Error(), "no Call writes †state.other") {
		t.Error(got)
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
	b := `{"schema":{"tools":{"c":{"_delegate":"../c.json"}}}}`
	files := object(t, `{"sub/b.json":`+b+`,"c.json":{},"other.json":{}}`)
	first := object(t, `{"schema":{"tools":{"b":{"_delegate":"sub/b.json"},"x":{"_delegate":"anonymous","_output":{}}}}}`)
	for name, c := range map[string]struct {
		idea map[string]any
		own  string
		want string
	}{
		"the first one":                {first, "", `{"delegates":{"c.json":{},"sub/b.json":` + b + `},"schema":{"tools":{"b":{"_delegate":"sub/b.json"},"x":{"_delegate":"anonymous","_output":{}}}}}`},
		"a delegate of a folder below": {object(t, b), "sub/b.json", `{"delegates":{"c.json":{}},"schema":{"tools":{"c":{"_delegate":"c.json"}}}}`},
		"one that has none":            {object(t, `{}`), "c.json", `{}`},
	} {
		carrying := ideafile.WithDelegateFiles(c.idea, c.own, files)
		if got := string(jsonval.Encode(carrying)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		rest, taken, ps := ideafile.ExtractDelegateFiles(carrying, nil)
		if idea, wrong := ideafile.ReadIdea(rest); len(ps) > 0 || len(wrong) > 0 || len(ideafile.CheckDelegateFiles(idea, "", taken)) > 0 {
			t.Errorf("%s: it does not run from what it carries: %v %v", name, ps, wrong)
		}
	}
}

func TestFilesThatADelegateCarriesAreFoundFromThere(t *testing.T) {
	given := object(t, `{"sub/b.json":{"schema":{"tools":{"c":{"_delegate":"c.json"}}},"delegates":{"c.json":{"meta":{"path":"c"}}}}}`)
	_, files, ps := ideafile.ExtractDelegateFiles(map[string]any{}, given)
	if got := string(jsonval.Encode(files)); len(ps) > 0 || got != `{"sub/b.json":{"schema":{"tools":{"c":{"_delegate":"c.json"}}}},"sub/c.json":{"meta":{"path":"c"}}}` {
		t.Errorf("%s %v", got, ps)
	}
}

func TestTwoFilesOfOneNameThatDifferAreAProblem(t *testing.T) {
	for text, want := range map[string]string{
		`{"delegates":{"a.json":{},"./a.json":{"meta":{}}}}`:               "there are two files a.json, which differ",
		`{"delegates":{"sub/b.json":{"delegates":{"../../c.json":{}}}}}`:   `$.delegates["sub/b.json"].delegates["../../c.json"]: a delegate's file lies in the folder`,
		`{"delegates":{"a.json":{},"b.json":{"delegates":{"a.json":{}}}}}`: "",
	} {
		_, _, ps := ideafile.ExtractDelegateFiles(object(t, text), nil)
		if got := ps.Error(); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}
