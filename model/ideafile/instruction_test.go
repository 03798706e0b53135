package ideafile_test

import (
	"slices"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// withInstruction is an Idea with a Tool t, whose instruction is the content of a file.
func withInstruction(content string) string {
	return `{"schema": {"tools": {"t": {}}}, "context": [{"type": "instruction", "file": "p.json", "instruction": ` +
		content + `}]}`
}

func TestAnInstructionsFileIsRefusedWhen(t *testing.T) {
	t.Parallel()
	steps := func(steps string) string { return `{"instruction": {"steps": [` + steps + `]}}` }
	for name, c := range map[string]struct{ content, want string }{
		"it is a list":              {`[]`, "p.json: $: an instruction's file is an object, not array"},
		"it is an Idea":             {`{"context": []}`, `p.json: $.context: unknown key "context"; an instruction's file has`},
		"it says no instruction":    {`{"meta": {}}`, "p.json: $.instruction: an instruction's file has an object here"},
		"its meta has another key":  {`{"meta": {"name": "x"}, "instruction": {"text": "x"}}`, "p.json: $.meta.name: unknown key"},
		"its version is a number":   {`{"meta": {"version": 1}, "instruction": {"text": "x"}}`, "p.json: $.meta.version: want a string"},
		"it has no text, no steps":  {`{"instruction": {"text": " ", "steps": []}}`, "p.json: $.instruction: it is empty"},
		"it has another key":        {`{"instruction": {"text": "x", "rules": []}}`, `p.json: $.instruction.rules: unknown key "rules"`},
		"its steps are an object":   {`{"instruction": {"text": "x", "steps": {}}}`, "p.json: $.instruction.steps: want a list of steps"},
		"a step is a text":          {steps(`"look"`), "p.json: $.instruction.steps[0]: a step is an object"},
		"a step has no id":          {steps(`{"text": "x"}`), "p.json: $.instruction.steps[0].id: a step has an id"},
		"a step has no text":        {steps(`{"id": "a"}`), "p.json: $.instruction.steps[0].text: a step has a text"},
		"a step has another key":    {steps(`{"id": "a", "text": "x", "requires": {}}`), "did you mean require?"},
		"two steps have one id":     {steps(`{"id": "a", "text": "x"}, {"id": "a", "text": "y"}`), `p.json: $.instruction.steps[1].id: there are two steps "a"`},
		"a require is no schema":    {steps(`{"id": "a", "text": "x", "require": {"type": "thing"}}`), "p.json: $.instruction.steps[0].require: compile schema: "},
		"a when is no schema":       {steps(`{"id": "a", "text": "x", "when": 5}`), "p.json: $.instruction.steps[0].when: compile schema: "},
		"tools are a text":          {steps(`{"id": "a", "text": "x", "tools": "t"}`), "p.json: $.instruction.steps[0].tools: want a list of tools' names"},
		"a tool is unknown":         {steps(`{"id": "a", "text": "x", "tools": ["u"]}`), `p.json: $.instruction.steps[0].tools: unknown tool "u"`},
		"a file's name is a number": {`{}`, "$.context[0].file: want the path of an instruction's file"},
	} {
		idea := withInstruction(c.content)
		if strings.HasPrefix(c.want, "$.context") {
			idea = strings.Replace(idea, `"p.json"`, "1", 1)
		}
		_, ps := ideafile.ParseIdea([]byte(idea))
		if got := ps.Errors().Error(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
		formIsRefused(t, idea, ps.Error())
	}
}

func TestStepsThatNothingChecksAreAWarning(t *testing.T) {
	t.Parallel()
	for content, warns := range map[string]bool{
		`{"text": "x", "steps": [{"id": "a"}]}`: true, `{"instruction": {"text": "x"}}`: true, `{"rule": "x"}`: false, `"x"`: false,
	} {
		idea, ps := ideafile.ParseIdea([]byte(strings.Replace(withInstruction(content), `"file": "p.json", `, "", 1)))
		if len(ps.Errors()) > 0 || len(idea.Context) != 1 || strings.Contains(ps.Error(), "nothing checks them") != warns {
			t.Errorf("%s: %v", content, ps)
		}
	}
}

func TestWhatIsWrongWithAnInstructionIsSaidOnceHoweverManyMessagesNameItsFile(t *testing.T) {
	t.Parallel()
	idea := func(steps string, filesAndTokens ...string) string {
		var messages []string
		for _, one := range filesAndTokens {
			file, token, _ := strings.Cut(one, " ")
			owner := strings.Replace(`"_instance": "`+token+`", `, `"_instance": "", `, "", 1)
			messages = append(messages, `{"type": "instruction", `+owner+`"file": "`+file+
				`", "instruction": {"instruction": {"steps": [`+steps+`]}}}`)
		}
		return `{"schema": {"tools": {"t": {}}}, "context": [` + strings.Join(messages, ",") + `]}`
	}
	const broken = `{"id": "a", "text": "x", "tools": ["u"]}, {"id": "a", "text": "y", "require": {"required": ["call"]}}`
	if _, ps := ideafile.ParseIdea([]byte(idea(broken, "p.json 1", "p.json 2"))); len(ps) != 3 {
		t.Errorf("of one file for two: %v", ps)
	}
	for _, pair := range [][]string{{"p.json", "q.json"}, {"p.json", "q.json 1", "q.json 2"}} {
		read := modeltest.IdeaFrom(t, idea(`{"id": "a", "text": "x"}`, pair...))
		if ps := ideafile.DuplicateStepIDProblems(read.Context); len(ps) != 1 {
			t.Errorf("of one id in %v: %v", pair, ps)
		}
	}
}

// A misspelt name makes a require hold always, or never.
func TestARequireThatSpeaksOfWhatIsNotThereIsAWarning(t *testing.T) {
	t.Parallel()
	const never = `p.json: $.instruction.steps[0].require: it is held against state and calls alone, and never finds "call"; did you mean calls?`
	for require, want := range map[string]string{
		`{"properties": {"call": {"minItems": 1}}}`:                         never,
		`{"required": ["call"]}`:                                            never,
		`{"properties": {"call": {}}, "required": ["call"]}`:                never,
		`{"properties": {"calls": {"minItems": 1}}, "required": ["state"]}`: "",
		`{"anyOf": [{"properties": {"state": {}}}]}`:                        "",
		`{"anyOf": [{"required": ["state"]}, {"required": ["call"]}]}`:      never,
		`{"allOf": [{"oneOf": [{"properties": {"call": {}}}]}]}`:            never,
		`{"if": {"required": ["call"]}, "then": {"required": ["state"]}}`:   never,
		`{"if": {"required": ["state"]}, "then": {"required": ["call"]}}`:   never,
		`{"not": {"required": ["call"]}}`:                                   never,
		`false`:                                                             "",
	} {
		idea, ps := ideafile.ParseIdea([]byte(withInstruction(`{"instruction": {"steps": [{"id": "a", "text": "x", "require": ` + require + `}]}}`)))
		if got := ps.Error(); len(ps.Errors()) > 0 || got != want || len(idea.Context) != 1 {
			t.Errorf("%s: %q, and the instruction counts: %v", require, got, len(idea.Context) == 1)
		}
	}
}

func TestAnInstructionIsReadWithItsSteps(t *testing.T) {
	t.Parallel()
	idea, ps := ideafile.ParseIdea([]byte(withInstruction(`{"meta": {"path": "p", "version": "2"}, "instruction": {"text": "Be kind.", "steps":
		[{"id": "a", "text": "Ask."}, {"id": "b", "text": "Look.", "tools": ["t"]}]}}`)))
	if ps.Count() > 0 {
		t.Fatal(ps)
	}
	m := idea.Context[0]
	if m.Text != "Be kind.\nStep a: Ask." || m.InstructionTextFor("t") != "Step b: Look." ||
		m.InstructionTextFor("u") != "" ||
		m.Instruction.Version != "2" {
		t.Errorf("%q, %q, %+v", m.Text, m.InstructionTextFor("t"), m.Instruction)
	}
}

func TestOfTwoInstructionsOfOneFileTheLaterCountsAndAnInstancesOwnBeforeAll(t *testing.T) {
	t.Parallel()
	of := func(owner, version string) string {
		return `{"type": "instruction", "file": "p.json"` + owner + `, "instruction": {"meta": {"version": "` + version +
			`"}, "instruction": {"text": "x"}}}`
	}
	context := modeltest.MessagesFrom(t, `[`+of(`, "_instance": "①"`, "own")+`,`+of("", "1")+`,`+of("", "2")+`]`)
	for token, want := range map[string]string{"": "2", "①": "own", "②": "2"} {
		if got := ideafile.InstructionsFor(context, token); len(got) != 1 || got[0].Version != want {
			t.Errorf("%q goes by %+v", token, got)
		}
	}
}

func TestAStepIsFulfilledOrNotOrDoesNotApplyOrIsNotChecked(t *testing.T) {
	t.Parallel()
	idea := modeltest.IdeaFrom(t, withInstruction(`{"instruction": {"steps": [{"id": "a", "text": "x"},
		{"id": "b", "text": "x", "require": {"properties": {"state": {"required": ["mood"]}}}},
		{"id": "c", "text": "x", "when": {"properties": {"state": {"required": ["rude"]}}}, "require": false},
		{"id": "d", "text": "x", "require": {"properties": {"calls": {"contains": {"properties": {"tool": {"const": "t"},
			"status": {"const": "done"}, "params": {"required": ["n"]}, "output": {"const": 7}}}}}}}]}}`))
	call := modeltest.DecodeJSON(t, `[{"tool": "t", "status": "done", "params": {"n": 1}, "output": 7}]`).([]any)
	large := map[string]any{"letter": jsonval.BlobHandle{Digest: strings.Repeat("a", 64), Size: 9, ValueType: "string"}.AsJSONValue()}
	for state, want := range map[string]string{
		`{}`:                     "unchecked unfulfilled notApplicable fulfilled",
		`{"mood": 1, "rude": 1}`: "unchecked fulfilled unfulfilled fulfilled",
	} {
		view := map[string]any{"state": modeltest.DecodeJSON(t, state)}
		if got := outcomes(idea.Context[0].Instruction.StepOutcomes(view, call)); got != want {
			t.Errorf("%s: %s", state, got)
		}
	}
	got := outcomes(idea.Context[0].Instruction.StepOutcomes(map[string]any{"state": large}, nil))
	if got != "unchecked unchecked unchecked unchecked" {
		t.Errorf("of a large value: %s", got)
	}
}

// A step is fulfilled only if it is so whatever stands in a value that is too large to be looked at.
func TestAStepThatLooksAtALargeValueIsNotChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, step, want string }{
		{"string", `"require": {"properties": {"state": {"required": ["large"]}}}`, ideafile.StepOutcomeFulfilled},
		{"string", `"require": {"properties": {"state": {"properties": {"large": {"maxLength": 1000}}}}}`,
			ideafile.StepOutcomeUnchecked},
		{"string", `"require": {"properties": {"state": {"properties": {"large": {"pattern": "^Dear"}}}}}`,
			ideafile.StepOutcomeUnchecked},
		{"string", `"require": {"properties": {"state": {"properties": {"large": {"pattern": "\\S"}}}}}`,
			ideafile.StepOutcomeUnchecked},
		{"array", `"require": {"properties": {"state": {"properties": {"large": {"maxItems": 5}}}}}`,
			ideafile.StepOutcomeUnchecked},
		{"array", `"require": {"properties": {"state": {"properties": {"large": {"minItems": 2}}}}}`,
			ideafile.StepOutcomeUnchecked},
		{"object",
			`"require": {"properties": {"state": {"properties": {"large": {"properties": {"x": {"const": 1}}}}}}}`,
			ideafile.StepOutcomeUnchecked},
		{"string", `"when": {"properties": {"state": {"properties": {"large": {"pattern": "rude"}}}}}, "require": true`,
			ideafile.StepOutcomeUnchecked},
		{"string", `"when": {"properties": {"state": {"required": ["large"]}}}, "require": true`,
			ideafile.StepOutcomeFulfilled},
	} {
		idea := modeltest.IdeaFrom(t, withInstruction(`{"instruction": {"steps": [{"id": "a", "text": "x", `+c.step+`}]}}`))
		large := jsonval.BlobHandle{Digest: strings.Repeat("a", 64), Size: jsonval.LargeValueBytes + 1, ValueType: c.kind}
		view := map[string]any{"state": map[string]any{"large": large.AsJSONValue()}}
		if got := outcomes(idea.Context[0].Instruction.StepOutcomes(view, nil)); got != c.want {
			t.Errorf("%s, %s: %s", c.kind, c.step, got)
		}
	}
}

// A step that cannot be held against so many values is not checked, whether it is its require or its when.
func TestAStepThatTakesTooLongToCheckIsNotChecked(t *testing.T) {
	t.Parallel()
	many := map[string]any{"n": slices.Repeat([]any{"a"}, 100_000)}
	number := `{"properties": {"state": {"properties": {"n": {"items": {"allOf": [` + strings.TrimSuffix(strings.Repeat(`{"type": "number"},`, 30), ",") + `]}}}}}}`
	for _, step := range []string{`"require": ` + number, `"when": ` + number + `, "require": false`} {
		idea := modeltest.IdeaFrom(t, withInstruction(`{"instruction": {"steps": [{"id": "a", "text": "x", `+step+`}]}}`))
		if got := outcomes(idea.Context[0].Instruction.StepOutcomes(map[string]any{"state": many},
			nil)); got != ideafile.StepOutcomeUnchecked {
			t.Error(got)
		}
	}
}

func outcomes(list []ideafile.StepOutcome) string {
	var words []string
	for _, o := range list {
		words = append(words, o.Outcome)
	}
	return strings.Join(words, " ")
}
