package examples_test

import (
	"strings"
	"testing"

	"processidea/internal/rehearsal"
	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

const weatherDays = `{"days":{"Bergen":"Bergen. In, with a book.","Lund":"Lund. Out: hardly a cloud.","Sevilla":"Sevilla. Out: hardly a cloud."}}`

func TestTheWeatherTakesTheBranchOfEachCityAndJoinsThem(t *testing.T) {
	p := begin(t, "weather")
	r := p.through()
	if got := string(jsonval.Encode(r.Output)); got != weatherDays || r.RequestCount != 1 ||
		r.Calls != (turn.CallCounts{Done: 9, Skipped: 3}) {
		t.Errorf("%s after %d requests, calls %+v", got, r.RequestCount, r.Calls)
	}
	for token, skipped := range map[string]string{"Bergen": "outside", "Lund": "inside"} {
		if _, there := jsonval.ValueAt(r.Instances[token].State, jsonval.Path{skipped}); there {
			t.Errorf("%s has %s: %s", token, skipped, jsonval.Encode(r.Instances[token].State))
		}
	}
}

// steps are the three ways in which a State schema binds the LLM: not at all, as a guide, and for good.
var steps = []struct {
	name     string
	change   func(state map[string]any)
	requests int
	umbrella bool
}{
	{"free", func(state map[string]any) { delete(state, "schema") }, 1, true},
	{"open", func(map[string]any) {}, 1, true},
	// the second is about one of three instances, so that the output is asked for at the end
	{"closed", func(state map[string]any) { state["schema"].(map[string]any)["additionalProperties"] = false }, 3,
		false},
}

// One LLM that writes beside the schema: where there is none, and where it is open, that is as good as any path; where
// it is closed, that one Call is refused, the LLM is told, and its neighbours are done all the same.
func TestAStateSchemaGuidesAndAClosedOneBinds(t *testing.T) {
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			source := source(t, "weather")
			step.change(source["context"].([]any)[2].(map[string]any))
			idea, problems := ideafile.ReadIdea(source)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			umbrella := `{"_tool":"say","_instance":"Bergen","template":"yes","values":{},"_outputPath":"umbrella"},`
			lines := strings.Replace(string(read(t, "weather", "replies.jsonl")), `"calls":[`, `"calls":[`+umbrella, 1)
			lines = strings.Replace(lines, `"ttft_ms":300,"tps":100,`, "", 1)
			corrected := `{"when":"†state.umbrella stands outside the closed State schema","solution":{"calls":[],"output":{"days":"†state.day"}}}`
			replies, err := rehearsal.Parse([]byte(corrected + "\n" + lines))
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, idea, replies, "").through()
			_, umbrellaThere := jsonval.ValueAt(r.Instances["Bergen"].State, jsonval.Path{"umbrella"})
			if got := string(jsonval.Encode(r.Output)); got != weatherDays || r.RequestCount != step.requests ||
				umbrellaThere != step.umbrella {
				t.Errorf("%s after %d requests, umbrella %v, calls %+v", got, r.RequestCount, umbrellaThere, r.Calls)
			}
		})
	}
}

// What the LLM planned is a Plan: run directly, it needs no LLM and ends alike.
func TestTheWeathersPlanRunsByItself(t *testing.T) {
	want := states(begin(t, "weather").through())
	for _, stage := range []string{ideafile.PlanStageOptimal, ideafile.PlanStageComplete} {
		solution, err := jsonval.DecodeObject([]byte(strings.TrimSpace(string(read(t, "weather", "replies.jsonl")))))
		if err != nil {
			t.Fatal(err)
		}
		solution = solution["solution"].(map[string]any)
		source := source(t, "weather")
		source["context"] = append(source["context"].([]any),
			map[string]any{"type": "plan", "stage": stage, "plan": solution["calls"], "output": solution["output"]})
		idea, problems := ideafile.ReadIdea(source)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		p := start(t, idea, nil, "")
		bind := func(*ideafile.Idea) map[string]ideafile.ToolBinding { return p.bindings }
		if errs := check.Check(idea, p.bindings).Errors(); len(errs) > 0 ||
			(loop.DelegateIdeaFiles{ToolBindingsFor: bind}).IdeaNeedsLLM(idea) {
			t.Errorf("%s: %v", stage, errs)
		}
		p.runPlans()
		r := p.through()
		if got := states(r); got != want || r.RequestCount != 0 || len(p.llm.Requests()) > 0 {
			t.Errorf("%s after %d requests:\n%s\nwant\n%s", stage, r.RequestCount, got, want)
		}
	}
}
