package harden

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/learn/past"
	"processidea/model/check"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// decidingTools is the palette of processes whose Plans depend on what is there.
const decidingTools = `"look": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
	"tell": {"type": "object", "properties": {"to": {"type": "string"}, "about": {}}},
	"grant": {"type": "object", "properties": {"id": {}}}, "deny": {"type": "object", "properties": {"id": {}}},
	"file": {"type": "object", "properties": {"what": {}}}`

// looked is what look gives: some facts that follow from the id alone.
func looked(tool string, params map[string]any) (any, *diag.Fault) {
	if tool != "look" {
		return map[string]any{"by": tool}, nil
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(jsonval.AsText(params["id"])))
	facts := rand.New(rand.NewSource(int64(h.Sum32())))
	out := map[string]any{"score": jsonval.ToJSONValue(facts.Intn(100)),
		"level": []string{"low", "middle", "high"}[facts.Intn(3)]}
	if facts.Intn(2) == 0 {
		out["warning"] = fmt.Sprintf("w%d", facts.Intn(1000))
	}
	return out, nil
}

// world is where cases come from: in some, answers are not equally frequent, and what is there goes together.
type world struct {
	random        *rand.Rand
	amounts, ages float64 // exponents: above 1, small numbers are more frequent
	vips, notes   float64
	together      bool // vips have high amounts
}

func drawWorld(random *rand.Rand) world {
	if random.Intn(2) == 0 {
		return evenWorld(random)
	}
	return world{random, 0.5 + 1.2*random.Float64(), 0.5 + 1.2*random.Float64(), 0.25 + 0.5*random.Float64(),
		0.25 + 0.5*random.Float64(), random.Intn(2) == 0}
}

func evenWorld(random *rand.Rand) world { return world{random, 1, 1, 0.5, 0.5, false} }

func (w world) number(low, high int, exponent float64) any {
	return jsonval.ToJSONValue(low + int(math.Pow(w.random.Float64(), exponent)*float64(high-low)))
}

// drawnCase is what an instance begins with.
func (w world) drawnCase(n int) map[string]any {
	c := map[string]any{"id": fmt.Sprintf("case-%d-%d", n, w.random.Intn(100000)),
		"amount": w.number(0, 2000, w.amounts),
		"region": []string{"north", "south", "east"}[w.random.Intn(3)], "vip": w.random.Float64() < w.vips,
		"age": w.number(18, 78, w.ages)}
	if w.together && c["vip"] == true {
		c["amount"] = w.number(700, 2000, 1)
	}
	if w.random.Float64() < w.notes {
		c["note"] = fmt.Sprintf("note %d", w.random.Intn(1000))
	}
	return c
}

func (w world) drawnCases(from, count int) (cases []map[string]any) {
	for n := range count {
		cases = append(cases, w.drawnCase(from+n))
	}
	return cases
}

// part is a test of what an instance began with, or of what look gave.
type part struct {
	text    string
	ofFacts bool
	holds   func(state map[string]any) bool
}

func drawParts(random *rand.Rand, count int) (parts []part) {
	number := func(v any) float64 { f, _ := jsonval.ToFloat(v); return f }
	facts := func(s map[string]any) map[string]any { return jsonval.AsObject(s["facts"]) }
	amount, score, age := 700+random.Intn(600), 35+random.Intn(30), 38+random.Intn(20)
	region, level := []string{"north", "south", "east"}[random.Intn(3)],
		[]string{"low", "middle", "high"}[random.Intn(3)]
	all := []part{
		{fmt.Sprintf("amount > %d", amount), false,
			func(s map[string]any) bool { return number(s["amount"]) > float64(amount) }},
		{fmt.Sprintf("age < %d", age), false, func(s map[string]any) bool { return number(s["age"]) < float64(age) }},
		{"vip", false, func(s map[string]any) bool { return s["vip"] == true }},
		{"region " + region, false, func(s map[string]any) bool { return s["region"] == region }},
		{"note", false, func(s map[string]any) bool { return s["note"] != nil }},
		{fmt.Sprintf("score > %d", score), true,
			func(s map[string]any) bool { return number(facts(s)["score"]) > float64(score) }},
		{"level " + level, true, func(s map[string]any) bool { return facts(s)["level"] == level }},
		{"warning", true, func(s map[string]any) bool { return facts(s)["warning"] != nil }},
	}
	for _, n := range random.Perm(len(all))[:count] {
		parts = append(parts, all[n])
	}
	return parts
}

// truth is what decides in a made-up process: one to three parts, of which all must hold, or one.
type truth struct {
	parts []part
	all   bool
}

func drawTruth(random *rand.Rand, ofOnePart bool) truth {
	parts := []int{1, 1, 1, 2, 2, 3}[random.Intn(6)]
	if ofOnePart {
		parts = 1
	}
	return truth{drawParts(random, parts), random.Intn(2) == 0}
}

func (t truth) holds(state map[string]any) bool {
	for _, p := range t.parts {
		if p.holds(state) != t.all {
			return !t.all
		}
	}
	return t.all
}

func (t truth) ofFacts() bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.ofFacts })
}

func (t truth) String() string {
	var texts []string
	for _, p := range t.parts {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, map[bool]string{true: " and ", false: " or "}[t.all])
}

// isShownBy reports whether cases show both answers of a truth. With wholly, they show what is to be learned of it: of
// several parts, enough of both answers, and each part deciding.
func (t truth) isShownBy(states []map[string]any, wholly bool) bool {
	least, apart := []int{1, 8, 9}[len(t.parts)-1], 4
	if !wholly {
		least, apart = 1, 0
	}
	yes, decides := 0, make([]int, len(t.parts))
	for _, state := range states {
		if t.holds(state) {
			yes++
		}
		for n := range t.parts {
			if without := (truth{slices.Delete(slices.Clone(t.parts), n, n+1), t.all}); without.holds(
				state) != t.holds(state) {
				decides[n]++
			}
		}
	}
	return min(yes, len(states)-yes) >= least && (len(t.parts) == 1 || slices.Min(decides) >= apart)
}

// madeUp is a process of which the Plan depends on one to three truths: each decides whether there is a Call, which of
// two, or with which parameter.
type madeUp struct {
	truths []truth
	kinds  []int
}

func drawProcessWithConditions(random *rand.Rand, ofOnePart bool) madeUp {
	var p madeUp
	kinds := random.Perm(4)
	for n := range 1 + random.Intn(3) {
		p.truths, p.kinds = append(p.truths, drawTruth(random, ofOnePart)), append(p.kinds, kinds[n])
	}
	return p
}

// calls are those that an instance has in a Request: the first looks.
func (p madeUp) calls(state map[string]any, request int) (calls []string) {
	if request == 1 {
		calls = append(calls, `{"_tool": "look", "id": "†state.id", "_outputPath": "facts"}`)
	}
	for n, by := range p.truths {
		if by.ofFacts() != (request == 2) || request > 2 {
			continue
		}
		holds := by.holds(state)
		switch p.kinds[n] {
		case 0: // a Call, and one that reads what it gives, or none
			if holds {
				calls = append(calls, `{"_tool": "tell", "to": "desk", "about": "†state.id", "_outputPath": "told"}`,
					`{"_tool": "file", "what": "†state.told", "_outputPath": "filed"}`)
			}
		case 1: // one of two, for one value
			calls = append(calls, fmt.Sprintf(`{"_tool": %q, "id": "†state.id", "_outputPath": "verdict"}`,
				map[bool]string{true: "grant", false: "deny"}[holds]))
		case 2: // one Call with another parameter
			calls = append(calls, fmt.Sprintf(`{"_tool": "tell", "to": %q, "_outputPath": "notice"}`,
				map[bool]string{true: "the boss", false: "the team"}[holds]))
		case 3: // a Call for its effect alone
			if holds {
				calls = append(calls, `{"_tool": "file", "what": "†state.id"}`)
			}
		}
	}
	return calls
}

func (p madeUp) String() string {
	var parts []string
	for n, by := range p.truths {
		parts = append(parts, fmt.Sprintf("%d by %s", p.kinds[n], by))
	}
	return strings.Join(parts, "; ")
}

// expected lists the Calls that an instance has in all, by what runs.
func (p madeUp) expected(start map[string]any) []string {
	state := map[string]any{}
	for k, v := range start {
		state[k] = v
	}
	state["facts"], _ = looked("look", start)
	var list []string
	for request := 1; request <= 2; request++ {
		for _, call := range p.calls(state, request) {
			c, _ := jsonval.DecodeObject([]byte(call))
			list = append(list, fmt.Sprintf("%s to=%v → %v", c["_tool"], c["to"], c["_outputPath"]))
		}
	}
	sort.Strings(list)
	return list
}

// isShownBy reports whether the cases show enough of every truth.
func (p madeUp) isShownBy(cases []map[string]any, wholly bool) bool {
	var states []map[string]any
	for _, c := range cases {
		facts, _ := looked("look", c)
		state := map[string]any{"facts": facts}
		for k, v := range c {
			state[k] = v
		}
		states = append(states, state)
	}
	return !slices.ContainsFunc(p.truths, func(by truth) bool { return !by.isShownBy(states, wholly) })
}

func caseContext(cases []map[string]any) []any {
	context := []any{}
	for n, c := range cases {
		context = append(context, map[string]any{"type": "state", "_instance": fmt.Sprintf("i%d", n), "state": c})
	}
	return context
}

// runMadeUp runs the process with an LLM that plans by the truths.
func runMadeUp(t *testing.T, p madeUp, cases []map[string]any) (past.RecordedProcess, *modeltest.Scenario) {
	t.Helper()
	s := modeltest.NewScenarioWithTools(t, decidingTools, "", `"context": `+string(jsonval.Encode(caseContext(cases))))
	s.RunTool = looked
	run := past.RecordedProcess{ProcessID: "p"}
	for range 4 {
		step, in := s.Loop.Advance(s.Now)
		if step != loop.StepRequest {
			break
		}
		var calls []string
		for _, token := range in.InstanceTokens() {
			for _, call := range p.calls(jsonval.AsObject(s.InstanceByToken[token].State()), in.RequestNumber) {
				calls = append(calls, strings.Replace(call, "{", fmt.Sprintf(`{"_instance": %q, `, token), 1))
			}
		}
		c := s.ReplyWith(`{"calls": [` + strings.Join(calls, ", ") + `], "output": null}`)
		idea := modeltest.SnapshotAndReparse(t, s.Idea, c.AllInstancesInput, c.Calls, c.Reply.Output).Source
		idea["meta"] = map[string]any{"request": jsonval.ToJSONValue(in.RequestNumber)}
		run.Ideas, run.Log = append(run.Ideas, idea), append(run.Log, c.LogBeforeRequest...)
	}
	run.Log = append(run.Log, s.Loop.TakeUnsealedLog()...)
	run.Ideas = append(run.Ideas, modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil).Source)
	if !s.Loop.IsFinished() {
		step, in := s.Loop.Advance(s.Now)
		t.Fatalf("the made-up process %s does not end: %s %v", p, step, in)
	}
	return run, s
}

// runHardened runs a hardened Idea over cases with no LLM, and returns the instances that are left to it, and its Ideas
// too.
func runHardened(t *testing.T, h *Result, cases []map[string]any) (s *modeltest.Scenario, left map[string]bool,
	run past.RecordedProcess) {
	t.Helper()
	var context []any
	for _, raw := range h.Idea["context"].([]any) {
		if m := raw.(map[string]any); m["_instance"] == nil {
			context = append(context, m)
		}
	}
	source := string(jsonval.Encode(append(context, caseContext(cases)...)))
	s = modeltest.NewScenarioWithTools(t, decidingTools, "", `"context": `+source)
	s.RunTool = looked
	run = past.RecordedProcess{ProcessID: "h",
		Ideas: []map[string]any{modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil).Source}}
	s.RunDirectPlans()
	left = map[string]bool{}
	if step, in := s.Loop.Advance(s.Now); step == loop.StepRequest {
		for _, token := range in.InstanceTokens() {
			left[token] = true
		}
	}
	run.Log = s.Loop.TakeUnsealedLog()
	run.Ideas = append(run.Ideas, modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil).Source)
	return s, left, run
}

// ranCalls lists the Calls of an instance that ran.
func ranCalls(s *modeltest.Scenario, token string) []string {
	var list []string
	for _, rec := range s.InstanceByToken[token].CallRecords() {
		if rec.Status == ideafile.CallDone {
			path := any(nil)
			if len(rec.OutputPath) > 0 {
				path = rec.OutputPath[0][0].String()
			}
			list = append(list, fmt.Sprintf("%s to=%v → %v", rec.Tool, rec.Params["to"], path))
		}
	}
	sort.Strings(list)
	return list
}

// played is what came of one made-up process.
type played struct {
	whole, wrong bool
	differences  []Difference
	fresh, left  int
	process      madeUp
	cases        int
}

// play hardens a made-up process, and runs the Plan on cases that no run has seen: some as frequent as those of the
// runs, some evenly drawn. Cases are drawn until the runs show both answers to each condition; with wholly, until they
// show what is to be learned.
func play(t *testing.T, seed int64, wholly, ofOnePart bool) (out played) {
	t.Helper()
	random := rand.New(rand.NewSource(seed))
	p := drawProcessWithConditions(random, ofOnePart)
	var w world
	var cases []map[string]any
	for n := 0; n == 0 || !p.isShownBy(cases, wholly); n++ { // what no run shows at all cannot be learned
		if w = drawWorld(random); n > 300 {
			p, n = drawProcessWithConditions(random, ofOnePart), 0
		}
		cases = w.drawnCases(0, 8+random.Intn(53))
	}
	out.process, out.cases = p, len(cases)
	run, s := runMadeUp(t, p, cases)
	h, err := Harden([]past.RecordedProcess{run}, s.Bindings, false)
	if err != nil {
		t.Fatal(err)
	}
	idea, problems := ideafile.ReadIdea(h.Idea)
	if errs := append(problems.Errors(), check.Check(idea, s.Bindings).Errors()...); len(errs) > 0 {
		t.Fatalf("seed %d: it does not pass the check: %s\n%s", seed, errs, jsonval.Encode(h.Idea["context"]))
	}
	if out.differences = h.Differences; len(h.Differences) > 0 {
		return out
	}
	out.whole = true
	others := append(w.drawnCases(1000, 10), evenWorld(random).drawnCases(2000, 10)...)
	again, needLLM, _ := runHardened(t, h, others)
	for n, c := range others {
		token := fmt.Sprintf("i%d", n)
		got, want := ranCalls(again, token), p.expected(c)
		out.fresh++
		if needLLM[token] {
			out.left++
			want = slices.DeleteFunc(want, func(s string) bool { return !slices.Contains(got, s) })
		}
		if !slices.Equal(got, want) {
			out.wrong = true
			t.Errorf("seed %d, %s: %s has %q, want %q\n%s\n%v", seed, p, jsonval.Encode(c), got, want,
				jsonval.Encode(h.Idea["context"]), h.Notes)
			break
		}
	}
	return out
}

// playAll plays so many processes in the long run, ordinarily a fifth, and says how many were hardened wholly.
// HARDEN_SEED is the first seed, HARDEN_PROCESSES how many there are.
func playAll(t *testing.T, processes int, wholly, ofOnePart bool) (whole, total int) {
	t.Helper()
	processes = longrun.RepeatCount(processes/5, processes)
	first := 0
	for name, n := range map[string]*int{"HARDEN_SEED": &first, "HARDEN_PROCESSES": &processes} {
		if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
			*n = v
		}
	}
	wrong, fresh, left := 0, 0, 0
	for n := range processes {
		out := play(t, int64(first+n), wholly, ofOnePart)
		fresh, left = fresh+out.fresh, left+out.left
		if out.wrong {
			wrong++
		}
		if out.whole {
			whole++
		} else if testing.Verbose() {
			t.Logf("seed %d, %d cases, %s: %v", first+n, out.cases, out.process, out.differences)
		}
	}
	t.Logf("%d of %d hardened wholly, %d wrongly; of %d fresh cases %d were left to the LLM", whole, processes,
		wrong, fresh, left)
	return whole, processes
}

// Of made-up processes whose Plans depend on conditions of one to three parts, nearly all are hardened wholly, if the
// runs show what is to be learned. On cases that no run has seen, an instance has the Calls that the process would have
// given it, or is left to the LLM, with none that it would not have had.
func TestPlansThatDependOnConditionsAreHardenedAndNeverWrongly(t *testing.T) {
	t.Parallel()
	if whole, total := playAll(t, 200, true, false); whole < total*9/10 {
		t.Errorf("%d of %d are hardened wholly", whole, total)
	}
}

// Plans that depend on one to three conditions of one part each are hardened from whatever runs show both answers, even
// once.
func TestPlansThatDependOnSingleTestsAreHardenedFromWhatThereIs(t *testing.T) {
	t.Parallel()
	if whole, total := playAll(t, 100, false, true); whole < total*9/10 {
		t.Errorf("%d of %d are hardened wholly", whole, total)
	}
}

// Where the runs may show too little, as one part of a condition without the other, less is hardened, and nothing
// wrongly.
func TestWhatNoRunShowsIsNotHardenedWrongly(t *testing.T) {
	t.Parallel()
	if whole, _ := playAll(t, 60, false, false); whole == 0 {
		t.Error("none is hardened wholly: this says nothing")
	}
}

// A process that ran by Plans with conditions is hardened further: what it cannot find again, as too few instances show
// it, it keeps.
func TestAProcessThatRanByConditionsIsHardenedFurther(t *testing.T) {
	t.Parallel()
	for seed := range int64(longrun.RepeatCount(4, 12)) {
		random := rand.New(rand.NewSource(1000 + seed))
		p := drawProcessWithConditions(random, false)
		cases, others := evenWorld(random).drawnCases(0, 60), evenWorld(random).drawnCases(1000, 20)
		run, s := runMadeUp(t, p, cases)
		first, err := Harden([]past.RecordedProcess{run}, s.Bindings, false)
		if err != nil || len(first.Differences) > 0 {
			continue
		}
		for _, some := range [][]map[string]any{cases, cases[:6]} {
			_, _, again := runHardened(t, first, some)
			second, err := Harden([]past.RecordedProcess{again}, s.Bindings, false)
			if err != nil {
				t.Fatalf("seed %d, %d cases, %s: %s", seed, len(some), p, err)
			}
			if len(second.Differences) > 0 {
				t.Errorf("seed %d, %d cases, %s: %v", seed, len(some), p, second.Differences)
				continue
			}
			last, left, _ := runHardened(t, second, others)
			for n, c := range others {
				token := fmt.Sprintf("i%d", n)
				if got, want := ranCalls(last, token), p.expected(c); !slices.Equal(got, want) && !left[token] {
					t.Fatalf("seed %d, %d cases, %s: %s has %q, want %q\n%s\n%v", seed, len(some), p,
						jsonval.Encode(c), got, want,
						jsonval.Encode(second.Idea["context"].([]any)[len(second.Idea["context"].([]any))-1]),
						second.Notes)
				}
			}
		}
	}
}
