package workflows_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/store/chain"
)

// largeThings is an HTTP tool that gives lists and objects of more than 64 KB, small things to change them with, and
// the length of what it is given.
func largeThings(t *testing.T) string {
	rows := make([]any, 700)
	for n := range rows {
		rows[n] = strings.Repeat("r", 200)
	}
	wide := map[string]any{}
	for n := range 3000 {
		wide[fmt.Sprint("k", n)] = strings.Repeat("w", 40)
	}
	url := toolbox.handle("/"+t.Name()+"/things", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Thing string
			Of    any
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		thing, ok := map[string]any{"rows": rows, "wide": wide, "one": "one",
			"patch": map[string]any{"k1": "changed"}}[in.Thing]
		if list, isList := in.Of.([]any); isList {
			thing, ok = len(list), true
		}
		if object, isObject := in.Of.(map[string]any); isObject {
			thing, ok = object["k1"], true
		}
		if !ok {
			t.Errorf("there is no %q", in.Thing)
		}
		_ = json.NewEncoder(w).Encode(thing)
	})
	return fmt.Sprintf(
		`{"give": {"properties": {"thing": {"type": "string"}, "of": {}}, "_outputMethod": {"type": "string"}, "_activity": {"http": {"url": %q}}}}`, url)
}

const updatesOfStored = `{"_tool": "give"%[1]s, "thing": "rows", "_outputPath": "list"},
	{"_tool": "give"%[1]s, "thing": "one", "_outputPath": "list", "_outputMethod": "push"},
	{"_tool": "give"%[1]s, "thing": "rows", "_outputPath": "list", "_outputMethod": "concat"},
	{"_tool": "give"%[1]s, "thing": "one", "_outputPath": "list", "_outputMethod": "push"},
	{"_tool": "give"%[1]s, "of": "†state.list", "_outputPath": "length"},
	{"_tool": "give"%[1]s, "thing": "wide", "_outputPath": "object"},
	{"_tool": "give"%[1]s, "thing": "patch", "_outputPath": "object", "_outputMethod": "merge"},
	{"_tool": "give"%[1]s, "of": "†state.object", "_outputPath": "k1"},
	{"_tool": "give"%[1]s, "thing": "one", "_outputPath": "typed", "_outputMethod": "push"}`

// In one instance, in parts and in a Plan that runs by itself.
func TestAValueOfMoreThan64KBIsUpdatedAsASmallOneIs(t *testing.T) {
	t.Parallel()
	context := `{"type": "state", "schema": {"type": "object", "properties": {"list": {"maxItems": 1402}, "typed": {"type": "array", "items": {"type": "integer"}}}}}`
	script := `{"solution": {"calls": [` + updatesOfStored + `]}}` + "\n" + `{"solution": {"calls": []}}`
	for name, c := range map[string]struct {
		config, context, script string
		tokens                  []string
	}{
		"one instance": {`{}`, context, fmt.Sprintf(script, ""), []string{""}},
		"parts": {`{"batch": 1, "gather": "5m"}`,
			context + `, {"type": "state", "_instance": "①"}, {"type": "state", "_instance": "②"}`,
			fmt.Sprintf(script, `, "_instance": "*"`), []string{"①", "②"}},
		"a Plan": {`{}`, context + `, {"type": "plan", "stage": "optimal", "plan": [` + fmt.Sprintf(updatesOfStored,
			"") + `]}`, `{"solution": {"calls": []}}`, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t, `{"config": `+c.config+`, "schema": {"tools": `+largeThings(t)+`},
				"context": [{"type": "text", "text": "Go."}, `+c.context+`]}`)
			s.scripted = strings.ReplaceAll(c.script, "\n\t", " ")
			r := s.end(s.start())
			if r.Calls != (turn.CallCounts{Done: 8 * len(c.tokens), Failed: len(c.tokens)}) {
				t.Errorf("%+v\n%s", r.Calls, s.story())
			}
			for _, token := range c.tokens {
				state := r.Instances[token].State.(map[string]any)
				if asJSON(state["length"]) != "1402" || state["k1"] != "changed" || state["typed"] != nil {
					t.Errorf("%s: %v rows, k1 is %v, typed is %v", token, state["length"], state["k1"], state["typed"])
				}
				for _, key := range []string{"list", "object"} {
					if h, stored := jsonval.AsBlobHandle(state[key]); !stored || h.Size < jsonval.LargeValueBytes {
						t.Errorf("%s: %s is not stored", token, key)
					}
				}
			}
		})
	}
}

// The second update breaks the State schema: that is found where its content is, and the LLM is told. Blame knows who
// changed what.
func TestAnUpdateOfAStoredValueThatDoesNotFitFailsAlone(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": `+largeThings(t)+`}, "context": [{"type": "text", "text": "Go."},
		{"type": "state", "schema": {"type": "object", "properties": {"list": {"type": "array", "maxItems": 701}}}}]}`,
		`{"solution": {"calls": [{"_tool": "give", "thing": "rows", "_outputPath": "list"},
			{"_tool": "give", "thing": "one", "_outputPath": "list", "_outputMethod": "push"},
			{"_tool": "give", "thing": "one", "_outputPath": "list", "_outputMethod": "push"},
			{"_tool": "give", "thing": "one", "_outputPath": "list.part", "_outputMethod": "push"},
			{"_tool": "give", "of": "†state.list", "_outputPath": "length"}]}}`,
		`{"solution": {"calls": []}}`)
	r := s.finish()
	if state := r.Instances[""].State.(map[string]any); asJSON(state["length"]) != "701" ||
		r.Calls != (turn.CallCounts{Done: 3, Failed: 2}) {
		t.Errorf("%v rows, %+v\n%s", state["length"], r.Calls, s.story())
	}
	if told := s.faultsTold(2); !strings.Contains(told,
		"1.3: "+ideafile.CodeBadOutput+": †state.list does not fit the State schema") {
		t.Errorf("the LLM is told\n%s", told)
	}
	blame, err := chain.New(store).Blame(t.Context(), s.id, "list[700]", 0)
	if err != nil || blame.LastWrite == nil || blame.LastWrite.Author != "1.2" {
		t.Errorf("%+v, %v", blame, err)
	}
	s.replays("")
}

func TestAResultForTheWholeStateMayHaveAnyNumberOfKeys(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": `+largeThings(t)+`}, "context": [{"type": "plan", "stage": "complete", "plan": [
		{"_tool": "give", "thing": "wide", "_outputPath": "†state"}]}]}`)
	r := s.finish()
	if state := r.Instances[""].State.(map[string]any); r.Calls.Done != 1 || len(state) != 3000 {
		t.Errorf("%d keys, %+v\n%s", len(state), r.Calls, s.story())
	}
}

// Five megabytes in values of 50 KB, none of which is stored by itself.
func TestAStateOfManyMiddleSizedValuesIsShownByPreviews(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("p", 50_000)
	url := toolbox.handle("/"+t.Name()+"/page",
		func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(page) })
	calls := make([]string, 100)
	for n := range calls {
		calls[n] = fmt.Sprintf(`{"_tool": "page", "n": %d, "_outputPath": "pages.p%d"}`, n, n)
	}
	s := newScenario(t, `{"schema": {"tools": {"page": `+httpTool(url, "")+
		`}}, "context": [{"type": "state", "title": "a book"}]}`,
		`{"solution": {"calls": [`+strings.Join(calls, ", ")+`]}}`, `{"solution": {"calls": []}}`)
	if r := s.finish(); r.Calls.Done != 100 {
		t.Errorf("%+v\n%s", r.Calls, s.story())
	}
	told := s.prompt(2)
	if len(told) > 256<<10 || strings.Count(told, `"(large value)":{"begins":"ppp`) != 100 ||
		!strings.Contains(told, `"title":"a book"`) {
		t.Errorf("%d bytes: %s", len(told), jsonval.Clip(told, 3000))
	}
}
