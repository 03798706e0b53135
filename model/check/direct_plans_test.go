package check

import (
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

func TestCheckFindsWhatAPlanThatRunsDirectlyCanNeverHave(t *testing.T) {
	t.Parallel()
	tools := `"do": {"_activity": "do"}, "think": {"_output": {"type": "string"}}`
	bindings := map[string]ideafile.ToolBinding{"do": {Kind: ideafile.KindGo}, "think": {Kind: ideafile.KindLatent}}
	for _, c := range []struct{ name, output, context, want string }{
		{"a latent Call of a complete Plan", "",
			`{"type": "plan", "stage": "complete", "plan": [{"_tool": "think", "_output": "x", "_outputPath": "a"}, {"_tool": "think", "_outputPath": "b"}]}`,
			"error $.context[0].plan[1]: the LLM would have to write the Call's result, but a complete " +
				"Plan never asks the LLM: give the Call _output"},
		{"not of an optimal one, nor what is done already", "", `{"type": "plan", "stage": "optimal", "plan": [{"_tool": "think", "_outputPath": "a"}]},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "think", "_outputPath": "a"}], "record": {"0.1": "done"}}`, ""},
		{"an output that is wanted", `{"type": "object"}`, `{"type": "plan", "stage": "complete", "plan": []}`,
			"error $.context[0]: the process needs an output, but a complete Plan never asks the LLM for " +
				"one: give the Plan an output"},
		{"but an optimal one asks for it", `{"type": "object"}`, `{"type": "plan", "stage": "optimal", "plan": []}`,
			""},
		{"an instance for which none holds", "", `{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "b": 1},
			{"type": "plan", "stage": "complete", "when": {"properties": {"state": {"required": ["a"]}}}, "plan": []}`,
			"warning $.context: no Plan's condition holds, and the LLM may not be asked: the instance would fail immediately " +
				"(in ②)"},
		{"a Plan is judged where it is meant to run", "", `{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "b": 1},
			{"type": "plan", "stage": "complete", "when": {"properties": {"state": {"required": ["a"]}}}, "plan": [{"_tool": "do", "x": "†state.a"}]},
			{"type": "plan", "stage": "complete", "plan": [{"_tool": "do", "x": "†state.b"}, {"_tool": "do", "x": "†state.a"}]}`,
			"error $.context[3].plan[1].x: no Call writes †state.a and no State holds it at the start; there is " +
				"†state.b (in ②)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := `{"schema": {"tools": {` + tools + `}`
			if c.output != "" {
				text += `, "output": ` + c.output
			}
			i := modeltest.IdeaFrom(t, text+`}, "context": [`+c.context+`]}`)
			var got []string
			for _, line := range strings.Split(problemLines(Check(i, bindings)), "\n") {
				if !strings.Contains(line, "strict") {
					got = append(got, line)
				}
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", text, c.want)
			}
			if stages := problemLines(CheckDirectPlans(i, bindings).Errors()); !strings.Contains(c.want, ".x:") &&
				!strings.HasPrefix(c.want, "warning ") && stages != c.want {
				t.Errorf("at the start it says:\n%s", stages)
			}
		})
	}
}

// A process whose Plan calls a delegate needs what that needs.
func TestAProcessNeedsAnLLMWhereADelegateOfItsPlanDoes(t *testing.T) {
	t.Parallel()
	plan := `{"type": "plan", "stage": "complete", "plan": [{"_tool": "ask"}]}`
	calls := func(file string) string {
		return `{"schema": {"tools": {"ask": {"_delegate": "` + file +
			`", "_output": {"type": "string"}}}}, "context": [` + plan + `]}`
	}
	files := map[string]any{}
	for key, text := range map[string]string{
		"planned.json": `{"context": [{"type": "plan", "stage": "complete", "plan": [], "output": "done"}]}`,
		"free.json":    `{"context": [{"type": "text", "text": "Go."}]}`,
		"given.json":   `{"context": [{"type": "plan", "stage": "complete", "when": {"properties": {"input": {"required": ["x"]}}, "required": ["input"]}, "plan": [], "output": "done"}]}`,
		"deep.json":    calls("free.json"),
		"whole.json":   calls("planned.json"),
	} {
		files[key] = modeltest.MustDecodeJSON(text)
	}
	for file, needs := range map[string]bool{"planned.json": false, "free.json": true, "given.json": false,
		"deep.json": true, "whole.json": false, "anonymous": true} {
		d := loop.DelegateIdeaFiles{IdeaFilesByPath: files,
			ToolBindingsFor: func(*ideafile.Idea) map[string]ideafile.ToolBinding { return nil }}
		if got := d.IdeaNeedsLLM(modeltest.IdeaFrom(t, calls(file))); got != needs {
			t.Errorf("one with the delegate %s needs one: %v", file, got)
		}
	}
}

func TestAProcessNeedsNoLLMWhereItsPlansRunDirectly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		context, output string
		needs           bool
	}{
		{``, ``, true},
		{`{"type": "plan", "plan": []}`, ``, true},
		{`{"type": "plan", "stage": "optimal", "plan": [{"_tool": "do"}]}`, ``, false},
		{`{"type": "plan", "stage": "optimal", "plan": [{"_tool": "think"}]}`, ``, true},
		{`{"type": "plan", "stage": "optimal", "plan": [{"_tool": "think", "_output": "x"}]}`, ``, false},
		{`{"type": "plan", "stage": "optimal", "plan": []}`, `{}`, true},
		{`{"type": "plan", "stage": "optimal", "plan": [], "output": {"x": 1}}`, `{}`, false},
		{`{"type": "plan", "stage": "complete", "plan": [{"_tool": "think"}]}`, `{}`, false},
		{`{"type": "state", "_instance": "①", "a": 1}, {"type": "plan", "_instance": "②", "stage": "complete", "plan": []}`, ``, true},
		{`{"type": "plan", "stage": "optimal", "when": {"required": ["never"]}, "plan": []}`, ``, true},
		{`{"type": "plan", "stage": "complete", "when": {"required": ["never"]}, "plan": []}`, ``, false},
	} {
		text := `{"schema": {"tools": {"do": {}, "think": {}}`
		if c.output != "" {
			text += `, "output": ` + c.output
		}
		i := modeltest.IdeaFrom(t, text+`}, "context": [`+c.context+`]}`)
		d := loop.DelegateIdeaFiles{ToolBindingsFor: func(*ideafile.Idea) map[string]ideafile.ToolBinding {
			return map[string]ideafile.ToolBinding{"do": {Kind: ideafile.KindGo}, "think": {Kind: ideafile.KindLatent}}
		}}
		if got := d.IdeaNeedsLLM(i); got != c.needs {
			t.Errorf("%s needs one: %v", c.context, got)
		}
	}
}

// How instances settle says when the LLM is asked: where nobody may be, the file promises what it cannot hold.
func TestCheckWarnsOfAWayToSettleThatHasNoEffect(t *testing.T) {
	t.Parallel()
	const complete = `{"type": "plan", "_instance": "①", "stage": "complete", "plan": []}`
	for _, c := range []struct {
		settle, context string
		warns           bool
	}{
		{`{"settle": "together"}`, complete, true},
		{`{"settle": "asked"}`, complete, true},
		{`{}`, complete, false},
		{`{"settle": "together"}`, complete + `, {"type": "state", "_instance": "②", "a": 1}`, false},
		{`{"settle": "together"}`, `{"type": "plan", "stage": "optimal", "plan": []}`, false},
		{`{"settle": "together"}`,
			`{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 1}`, false},
	} {
		idea := modeltest.IdeaFrom(t, `{"config": `+c.settle+`, "schema": {"tools": {"do": {}}}, "context": [`+
			c.context+`]}`)
		got := strings.Contains(problemLines(Check(idea, nil)), "warning $.config.settle: it has no effect: every Plan here")
		if got != c.warns {
			t.Errorf("%s %s: warned %v, want %v", c.settle, c.context, got, c.warns)
		}
	}
}

func TestWhatHasNoEffectOnTheQualityOfAnswersIsTold(t *testing.T) {
	t.Parallel()
	for quality, want := range map[string]bool{
		`{"onLimit": "pause"}`:                true,
		`{"onLimit": "pause", "limit": 0.02}`: false,
		`{"recheck": 0.1}`:                    false,
	} {
		idea := modeltest.IdeaFrom(t, `{"config": {"quality": `+quality+`}, "context": [{"type": "state"}]}`)
		got := strings.Contains(problemLines(Check(idea, nil)),
			"warning $.config.quality.onLimit: it has no effect without a limit")
		if got != want {
			t.Errorf("%s: warned %v", quality, got)
		}
	}
}

// Two policies may each have a step 1: whoever must heed both cannot be told which of them is not fulfilled.
func TestOneInstanceHeedsNoTwoStepsOfOneID(t *testing.T) {
	t.Parallel()
	of := func(file, owner string) string {
		return `{"type": "instruction", "file": "` + file + `"` + owner +
			`, "instruction": {"instruction": {"steps": [{"id": "1", "text": "Ask."}]}}}`
	}
	one, two := `, "_instance": "①"`, `, "_instance": "②"`
	for name, c := range map[string]struct {
		context []string
		refused bool
	}{
		"two files":                    {[]string{of("a.json", ""), of("b.json", "")}, true},
		"one's own beside that of all": {[]string{of("a.json", ""), of("b.json", one)}, true},
		"another instance's own":       {[]string{of("a.json", one), of("b.json", two)}, false},
		"its own in place of all's":    {[]string{of("a.json", ""), of("a.json", one)}, false},
		"a later version of the file":  {[]string{of("a.json", ""), of("a.json", "")}, false},
		"that of all behind one's own": {[]string{of("b.json", one), of("a.json", "")}, true},
	} {
		idea := modeltest.IdeaFrom(t, `{"schema": {"tools": {"do": {}}}, "context": [`+strings.Join(c.context, ",")+
			`, {"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"}]}`)
		got := Check(idea, nil).Errors().Error()
		if strings.Contains(got, "the LLM reads steps by their ids") != c.refused {
			t.Errorf("%s: %s", name, got)
		}
	}
}
