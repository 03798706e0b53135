package prompt

import (
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func TestARequestForResultsAsksForThemAlone(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t, `{"schema": {"tools": {"mood": {"type": "object", "properties": {}, "_output": {"type": "string", "enum": ["good", "bad"]}}, "note": {"type": "object", "properties": {}}, "other": {"type": "object", "properties": {}},
		"tree": {"type": "object", "properties": {}, "_output": {"type": "array", "items": {"$ref": "#"}}}}, "output": {"type": "object", "properties": {"x": {"type": "string"}}}}}`)
	b := &turn.RequestInput{Questions: []turn.QuestionToLLM{{CallID: "1.1@①", InstanceToken: "①", Tool: "mood"},
		{CallID: "1.2@①", InstanceToken: "①", Tool: "note"}, {CallID: "1.1@②", InstanceToken: "②", Tool: "mood"}}}
	form := ResponseFormatFor(i, nil, b)
	s := mustBeValidFormat(t, form)
	if !form.IsStrict {
		t.Errorf("not strict: %s", form.NotStrictReason)
	}
	for reply, right := range map[string]bool{
		`{"calls":[{"_call":"1.1@①","_output":"good"},{"_call":"1.2@①","_output":"any text"},{"_call":"1.1@②","_output":"bad"}]}`: true,
		`{"calls":[]}`: true,
		`{"calls":[{"_call":"1.1@①","_output":"so so"}]}`:                   false,
		`{"calls":[{"_call":"1.3@①","_output":"good"}]}`:                    false,
		`{"calls":[{"_call":"1.1@①"}]}`:                                     false,
		`{"calls":[{"_call":"1.1@①","_output":"good"}],"output":{"x":"y"}}`: false,
		`{"calls":[{"_tool":"other","_outputPath":null}]}`:                  false,
		`{"calls":[{"_call":"1.1@①","_output":"good","_x":1}]}`:             false,
	} {
		if err := s.Validate(modeltest.DecodeJSON(t, reply)); (err == nil) != right {
			t.Errorf("%s: %v", reply, err)
		}
	}
	b.Questions = append(b.Questions, turn.QuestionToLLM{CallID: "1.4@①", InstanceToken: "①", Tool: "tree"})
	if form = ResponseFormatFor(i, nil, b); form.NotStrictReason != `tool tree, _output: a schema that holds itself` {
		t.Errorf("the reason is %q", form.NotStrictReason)
	}
	if s = mustBeValidFormat(t,
		form); s.Validate(modeltest.DecodeJSON(t, `{"calls":[{"_call":"1.4@①","_output":[[],[[]]]}]}`)) != nil {
		t.Error("a tree is refused")
	}
}

func TestAClosingRequestAsksForTheOutputAlone(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t,
		`{"schema": {"tools": {`+anyLetter+
			`}, "output": {"type": "string"}}, "context": [{"type": "state", "_instance": "①", "state": {}}]}`)
	s := mustBeValidFormat(t,
		ResponseFormatFor(i, nil, &turn.RequestInput{IsOutputOnly: true,
			Instances: []turn.InstanceInput{{Token: "①"}}}))
	for reply, right := range map[string]bool{
		`{"calls":[],"output":"done"}`: true,
		`{"calls":[{"_tool":"a","_instance":"①","_reasoningForCall":null,"x":"y","_outputPath":null}],"output":"done"}`: false,
		`{"calls":[],"output":5}`: false,
	} {
		if err := s.Validate(modeltest.DecodeJSON(t, reply)); (err == nil) != right {
			t.Errorf("%s: %v", reply, err)
		}
	}
}

func TestInstructionsForAToolStandWithIt(t *testing.T) {
	t.Parallel()
	i := modeltest.IdeaFrom(t, `{"schema": {"tools": {"a": {"description": "First.", "type": "object", "properties": {}}, "b": {"type": "object", "properties": {}}}}, "context": [
		{"type": "instruction", "instruction": "Second.", "tools": ["a"]},
			{"type": "instruction", "instruction": "Third.", "tools": ["a", "b"]},
			{"type": "instruction", "instruction": "For all."},
		{"type": "instruction", "_instance": "①", "instruction": "For one.", "tools": ["a"]}]}`)
	text := string(
		jsonval.Encode(ResponseFormatFor(i, nil,
			&turn.RequestInput{Instances: []turn.InstanceInput{{Token: "①"}}}).Schema))
	for want, times := range map[string]int{`"description":"First.\nSecond.\nThird."`: 1, `"description":"Third."`: 1,
		"For all.": 0, "For one.": 0} {
		if n := strings.Count(text, want); n != times {
			t.Errorf("%s stands %d times in %s", want, n, text)
		}
	}
}

// Where one instance has a file's instruction of its own, the LLM is told that the one for all does not count there.
func TestAnInstructionOfOnesOwnSaysWhatItReplaces(t *testing.T) {
	t.Parallel()
	of := func(file, owner, text string) string {
		return `{"type": "instruction", "file": "` + file + `"` + owner + `, "instruction": {"instruction": {"text": "` + text +
			`", "steps": [{"id": "ask", "text": "Ask."}, {"id": "pay", "text": "Pay.", "tools": ["a"]}]}}}`
	}
	i := modeltest.IdeaFrom(t, `{"schema": {"tools": {"a": {"type": "object", "properties": {}}}}, "context": [`+
		of("p.json", "", "Be kind.")+`,`+of("q.json", "", "Be brief.")+`,`+of("p.json", `, "_instance": "①"`, "Be strict.")+
		`, {"type": "state", "_instance": "②", "a": 1}]}`)
	var text strings.Builder
	request := &turn.RequestInput{Instances: []turn.InstanceInput{{Token: "①", State: map[string]any{}},
		{Token: "②", State: map[string]any{}}}}
	for _, m := range Render(i, nil, request, nil) {
		text.WriteString(m.Content)
	}
	for want, times := range map[string]int{
		"p.json, for those instances that have no p.json of their own:\n> Be kind.":       1,
		"  its own p.json, in place of the one above with step ask, pay:\n  > Be strict.": 1,
		"q.json": 0,
	} {
		if n := strings.Count(text.String(), want); n != times {
			t.Errorf("%q stands %d times in %s", want, n, text.String())
		}
	}
}

// What may stand beside Calls depends on what the Request shows, and on what the LLM has said of the rest.
func TestAFormHasBesideCallsWhatTheRequestAsksFor(t *testing.T) {
	t.Parallel()
	one, two := `{"type": "state", "state": {}}`,
		`{"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"}`
	others := turn.OtherInstanceCounts{Finished: 1}
	for name, c := range map[string]struct {
		context string
		output  bool
		request turn.RequestInput
		want    string
	}{
		"all are shown":        {two, true, turn.RequestInput{}, "calls finished output notes"},
		"there is one":         {one, true, turn.RequestInput{}, "calls finished output"},
		"others are not shown": {two, true, turn.RequestInput{Others: others}, "calls"},
		"what was said of them still stands": {two, true, turn.RequestInput{Others: others, OthersAreKnown: true},
			"calls finished output notes"},
		"the output alone is wanted": {two, true, turn.RequestInput{IsOutputOnly: true}, "calls output"},
		"no output is wanted":        {two, false, turn.RequestInput{}, "calls"},
		"nothing else tells the end": {two, false, turn.RequestInput{MayBeLast: true}, "calls finished"},
	} {
		t.Run(name, func(t *testing.T) {
			schema := `{"tools": {` + anyLetter + `}}`
			if c.output {
				schema = `{"tools": {` +
					anyLetter + `}, "output": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}}`
			}
			idea := modeltest.IdeaFrom(t, `{"schema": `+schema+`, "context": [`+c.context+`]}`)
			form := modeltest.DecodeJSON(t, string(jsonval.Encode(ResponseFormatFor(idea, nil, &c.request).Schema))).(map[string]any)
			if required, _ := jsonval.AsStringList(form["required"]); strings.Join(required, " ") != c.want {
				t.Errorf("it has %v", required)
			}
		})
	}
}

// In a process of several instances a Reference to State stands for an object: a number has no place for it.
func TestAFormAllowsReferencesInTheOutputWhereTheyHaveAPlace(t *testing.T) {
	t.Parallel()
	const (
		closed = `{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}`
		one    = `{"type": "state", "state": {}}`
		two    = `{"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"}`
		// takes any parameter, which strict mode cannot say
		open = `"a": {"type": "object", "properties": {}, "additionalProperties": true}`
	)
	withObject := strings.Replace(closed, `}}`, `}, "all": {"type": "object"}}`, 1)
	for _, c := range []struct {
		context, tools, output string
		strict, want           bool
	}{{one, anyLetter, closed, true, true}, {two, anyLetter, closed, true, false}, {one, open, closed, false, true},
		{two, open, closed, false, false}, {two, open, withObject, false, true}} {
		idea := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+c.tools+`}, "output": `+c.output+`}, "context": [`+
			c.context+`]}`)
		request := &turn.RequestInput{}
		for _, token := range idea.InstanceTokens() {
			request.Instances = append(request.Instances, turn.InstanceInput{Token: token})
		}
		form := ResponseFormatFor(idea, nil, request)
		reply := map[string]any{"calls": []any{}, "finished": true, "output": map[string]any{"n": "†state.n"}}
		if c.context == two {
			reply["notes"] = nil
		}
		if err := mustBeValidFormat(t, form).Validate(reply); (err == nil) != c.want || form.IsStrict != c.strict {
			t.Errorf("%s, %s, strict %t: %v", c.context, c.output, form.IsStrict, err)
		}
	}
}
