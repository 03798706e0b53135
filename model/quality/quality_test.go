package quality_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/quality"
	"processidea/model/turn"
)

const tools = `{
	"judge": {"type": "object", "properties": {"text": {"type": "string"}},
		"_output": {"type": "object", "properties": {"mood": {"type": "string", "enum": ["good", "bad"]},
			"score": {"type": "number"}, "why": {"type": "string"}}}},
	"pay": {"type": "object", "properties": {"to": {"type": "string"}, "orderId": {"type": "string"}, "amount": {"type": "number"},
		"sure": {"type": "boolean"}, "day": {"type": "string", "format": "date"}, "note": {"type": "string"},
		"order": {"type": "object"}, "deep": {"$ref": "#/$defs/deep"}, "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}, "words": {"type": "array", "items": {"type": "string"}}},
		"$defs": {"tag": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}, "way": {"$ref": "#/$defs/tag"},
			"deep": {"anyOf": [{"type": "null"}, {"allOf": [{"properties": {"one": {"$ref": "#/$defs/way"}}}]},
				{"oneOf": [{"properties": {"next": {"$ref": "#/$defs/deep"}, "also": {"anyOf": [{"$ref": "#/$defs/way"}, {"$ref": "#/$defs/deep"}]}}}]}],
				"if": {"properties": {"free": {"enum": ["a"]}}}, "then": {"properties": {"then": {"enum": ["a", "b"]}}},
				"properties": {"pair": {"prefixItems": [{"type": "string"}, {"enum": ["a", "b"]}], "items": {"const": "a"}},
					"map": {"patternProperties": {"^k": {"enum": ["a", "b"]}, "^t": {"type": "string"}}, "additionalProperties": {"const": "a"}}}}}}
}`

// TestTwoAnswersAreComparedByWhatTheyDecide holds the one table of what counts as the same decision.
func TestTwoAnswersAreComparedByWhatTheyDecide(t *testing.T) {
	t.Parallel()
	idea := modeltest.IdeaFrom(t, `{"schema": {"tools": `+tools+`}, "context": [
		{"type": "input", "shop": "north", "other": "south"},
		{"type": "state", "_instance": "1", "state": {"order": "A-1", "again": "A-1", "sum": 5, "bill": {"cents": 5}},
			"schema": {"properties": {"mood": {"$ref": "#/$defs/mood"}}, "$defs": {"mood": {"properties": {"now": {}, "then": {}}}}}}]}`)
	palette := &ideafile.Palette{Tools: idea.Tools, InstanceTokens: []string{"1", "2"},
		BindingByTool: map[string]ideafile.ToolBinding{"judge": {Kind: ideafile.KindLatent}, "pay": {Kind: ideafile.KindHTTP}}}
	view := ideafile.InstanceViewOf(idea.Context, "1")
	const pay, judge = `{"_tool":"pay","_instance":"1",`, `{"_tool":"judge","_instance":"1","text":"x","_output":`
	judged := func(text, mood, path string) string {
		return fmt.Sprintf(`{"_tool":"judge","_instance":"1","text":%q,"_output":{"mood":%q},"_outputPath":%q},`, text, mood, path)
	}
	for name, c := range map[string]struct {
		first, second string
		differ        bool
	}{
		"1 and 1.0":                      {pay + `"amount":1}`, pay + `"amount":1.0}`, false},
		"an amount":                      {pay + `"amount":1}`, pay + `"amount":1.01}`, true},
		"more digits than a float has":   {pay + `"amount":0.10000000000000000001}`, pay + `"amount":0.1}`, true},
		"a yes":                          {pay + `"sure":true}`, pay + `"sure":false}`, true},
		"free text":                      {pay + `"note":"a"}`, pay + `"note":"b"}`, false},
		"free text, or none":             {pay + `"note":"a"}`, pay + `"sure":null}`, false},
		"words in a list":                {pay + `"words":["a"]}`, pay + `"words":["b","c"]}`, false},
		"a choice in a list":             {pay + `"tags":["a"]}`, pay + `"tags":["b"]}`, true},
		"an alternative's choice":        {pay + `"deep":{"one":"a"}}`, pay + `"deep":{"one":"b"}}`, true},
		"a choice in a circle":           {pay + `"deep":{"next":{"next":{"also":"a"}}}}`, pay + `"deep":{"next":{"next":{"also":"b"}}}}`, true},
		"a choice under a condition":     {pay + `"deep":{"then":"a"}}`, pay + `"deep":{"then":"b"}}`, true},
		"the condition itself":           {pay + `"deep":{"free":"a"}}`, pay + `"deep":{"free":"b"}}`, false},
		"a choice in a tuple":            {pay + `"deep":{"pair":["x","a"]}}`, pay + `"deep":{"pair":["x","b"]}}`, true},
		"a text in a tuple":              {pay + `"deep":{"pair":["x","a"]}}`, pay + `"deep":{"pair":["y","a"]}}`, false},
		"a const behind a tuple":         {pay + `"deep":{"pair":["x","a","a"]}}`, pay + `"deep":{"pair":["x","a","b"]}}`, true},
		"a choice by pattern":            {pay + `"deep":{"map":{"k":"a"}}}`, pay + `"deep":{"map":{"k":"b"}}}`, true},
		"a text by pattern":              {pay + `"deep":{"map":{"t":"a"}}}`, pay + `"deep":{"map":{"t":"b"}}}`, false},
		"a const for other keys":         {pay + `"deep":{"map":{"x":"a"}}}`, pay + `"deep":{"map":{"x":"b"}}}`, true},
		"a date":                         {pay + `"day":"2026-01-01"}`, pay + `"day":"2026-01-02"}`, true},
		"an id written out":              {pay + `"orderId":"A-1"}`, pay + `"orderId":"A-2"}`, true},
		"an id, and a Reference to it":   {pay + `"to":"†state.order"}`, pay + `"to":"A-1"}`, false},
		"a Reference to another value":   {pay + `"to":"†input.shop"}`, pay + `"to":"†input.other"}`, true},
		"two References to one value":    {pay + `"to":"†state.order"}`, pay + `"to":"†state.again"}`, false},
		"a Reference to the same number": {pay + `"amount":"†state.sum"}`, pay + `"amount":5.0}`, false},
		"a Reference to an object":       {pay + `"order":"†state.bill"}`, pay + `"order":{"cents":5.0}}`, false},
		"a Reference to another object":  {pay + `"order":"†state.bill"}`, pay + `"order":{"cents":5.1}}`, true},
		"a value that one leaves out":    {pay + `"amount":1}`, pay + `"note":"a"}`, true},
		"an enum in a latent result":     {judge + `{"mood":"good"}}`, judge + `{"mood":"bad"}}`, true},
		"a number in a latent result":    {judge + `{"score":1}}`, judge + `{"score":1.0}}`, false},
		"prose in a latent result":       {judge + `{"mood":"bad","why":"x"}}`, judge + `{"mood":"bad","why":"y"}}`, false},
		"a result, or a question for it": {judge + `{"mood":"bad"}}`, `{"_tool":"judge","_instance":"1","text":"x"}`, true},
		"another Tool":                   {pay + `"note":"a"}`, judge + `{"why":"a"}}`, true},
		"alternatives in other order":    {pay + `"amount":1},` + pay + `"amount":2}`, pay + `"amount":2},` + pay + `"amount":1}`, false},
		"a Reference beside a text":      {pay + `"to":"hello"},` + pay + `"to":"†state.order"}`, pay + `"to":"A-1"},` + pay + `"to":"hi"}`, false},
		"two References, or one":         {pay + `"to":"†state.order"},` + pay + `"to":"†state.again"}`, pay + `"to":"A-1"},` + pay + `"to":"hi"}`, true},
		"one Call more":                  {pay + `"amount":1}`, pay + `"amount":1},` + pay + `"amount":1}`, true},
		"a Call for all, or for one":     {`{"_tool":"pay","_instance":"*","amount":1}`, pay + `"amount":1}`, false},
		"a Call for another":             {pay + `"amount":1}`, pay + `"amount":1},{"_tool":"pay","_instance":"2"}`, false},
		"nothing, twice":                 {``, ``, false},
		"nothing, or a Call":             {``, pay + `"note":"a"}`, true},
		"what another Call writes": {pay + `"amount":1,"_outputPath":"x"},` + pay + `"to":"†state.x"}`,
			pay + `"amount":1,"_outputPath":"y"},` + pay + `"to":"†state.y"}`, false},
		"a part of what another Call writes": {pay + `"amount":1,"_outputPath":"x"},` + pay + `"to":"†state.x.id"}`,
			pay + `"amount":1,"_outputPath":"y"},` + pay + `"to":"†state.y.id"}`, false},
		"another part of what another Call writes": {pay + `"amount":1,"_outputPath":"x"},` + pay + `"to":"†state.x.id"}`,
			pay + `"amount":1,"_outputPath":"x"},` + pay + `"to":"†state.x.other"}`, true},
		"all that other Calls write": {pay + `"amount":1,"_outputPath":"x.a"},` + pay + `"to":"†state.x"}`,
			pay + `"to":"†state.y"},` + pay + `"amount":1,"_outputPath":"y.a"}`, false},
		"what another Tool writes": {pay + `"amount":1,"_outputPath":"x"},` + judge + `{"mood":"bad"},"_outputPath":"z"},` + pay + `"to":"†state.x.id"}`,
			pay + `"amount":1,"_outputPath":"z"},` + judge + `{"mood":"bad"},"_outputPath":"x"},` + pay + `"to":"†state.x.id"}`, true},
		"results swapped between two questions": {judged("a", "good", "x") + judged("b", "bad", "y"),
			judged("a", "bad", "x") + judged("b", "good", "y"), true},
		"results swapped between two References": {judged("†input.shop", "good", "x") + judged("†input.other", "bad", "y"),
			judged("†input.shop", "bad", "x") + judged("†input.other", "good", "y"), true},
		"two questions in other order and words": {judged("a", "good", "x") + judged("b", "bad", "y"),
			judged("c", "bad", "x") + judged("d", "good", "y"), false},
		"one question twice, in other order": {judged("a", "good", "x") + judged("a", "bad", "x"),
			judged("a", "bad", "x") + judged("a", "good", "x"), false},
		"one question twice, or once in other words": {judged("a", "good", "x") + judged("a", "bad", "x"),
			judged("b", "bad", "x") + judged("a", "good", "x"), false},
		"results swapped between places that the schema names": {judged("a", "good", "mood.now") + judged("b", "bad", "mood.then"),
			judged("c", "good", "mood.then") + judged("d", "bad", "mood.now"), true},
		"places that the schema names, in other order": {judged("a", "good", "mood.now") + judged("b", "bad", "mood.then"),
			judged("c", "bad", "mood.then") + judged("d", "good", "mood.now"), false},
		"results swapped between two that use them": {
			pay + `"amount":1,"_outputPath":"x"},` + pay + `"amount":2,"_outputPath":"y"},` + pay + `"to":"†state.x.id"}`,
			pay + `"amount":2,"_outputPath":"x"},` + pay + `"amount":1,"_outputPath":"y"},` + pay + `"to":"†state.x.id"}`, true},
		"the same result, by another name": {
			pay + `"amount":1,"_outputPath":"x"},` + pay + `"amount":2,"_outputPath":"y"},` + pay + `"to":"†state.x.id"}`,
			pay + `"amount":2,"_outputPath":"x"},` + pay + `"amount":1,"_outputPath":"y"},` + pay + `"to":"†state.y.id"}`, false},
		"results swapped behind a Call between": {
			pay + `"amount":1,"_outputPath":"x"},` + pay + `"amount":2,"_outputPath":"y"},` + judged("†state.x.id", "good", "z") + pay + `"to":"†state.z.id"}`,
			pay + `"amount":1,"_outputPath":"x"},` + pay + `"amount":2,"_outputPath":"y"},` + judged("†state.y.id", "good", "z") + pay + `"to":"†state.z.id"}`, true},
		"prose about a result, or about another": {
			pay + `"amount":1,"_outputPath":"x"},` + pay + `"amount":2,"_outputPath":"y"},` + pay + "\"note\":\"†`About ${state.x.id}`\"}",
			pay + `"amount":1,"_outputPath":"x"},` + pay + `"amount":2,"_outputPath":"y"},` + pay + "\"note\":\"†`About ${state.y.id}`\"}", false},
		"a broken Call": {pay + `"nothing":"a"}`, pay + `"amount":1}`, true},
	} {
		calls := func(text string) []ideafile.WrittenCall {
			list, err := jsonval.Decode([]byte(`[` + strings.TrimSuffix(text, ",") + `]`))
			if err != nil {
				t.Fatal(name, err)
			}
			return ideafile.ParseWrittenCalls(list.([]any))
		}
		for _, pair := range [][2]string{{c.first, c.second}, {c.second, c.first}} {
			if got := quality.AnswersDiffer(palette, view, "1", calls(pair[0]), calls(pair[1])); got != c.differ {
				t.Errorf("%s: they differ: %v", name, got)
			}
		}
	}
}

func TestTheIntervalIsWilsonsAndFewAreTooFewToSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, differed int
		want        string
	}{
		{500, 11, "of 500 asked twice 11 were decided otherwise: 2.2 %, between 1.2 and 3.9 %"},
		{100, 0, "of 100 asked twice 0 were decided otherwise: 0.0 %, between 0.0 and 3.7 %"},
		{29, 1, "of 29 asked twice 1 was decided otherwise: too few to say"},
	} {
		if got := (quality.RecheckCount{RecheckedCount: c.n, DifferedCount: c.differed}).String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestTalliesOfPartsAddUpByPlaceInThePrompt(t *testing.T) {
	t.Parallel()
	var whole quality.Tally
	for range 2 {
		var part quality.Tally
		part.Usage.PromptTokens = 10
		part.AddComparison(turn.AnswerComparison{InstancePositionInPrompt: 1, FirstLLM: "a", SecondLLM: "b"})
		part.AddComparison(turn.AnswerComparison{InstancePositionInPrompt: 25, FirstLLM: "a", SecondLLM: "b",
			HasDiffered: true})
		part.AddComparison(turn.AnswerComparison{InstancePositionInPrompt: 101, FirstLLM: "b", SecondLLM: "b"})
		whole.Merge(part)
	}
	got := string(jsonval.Encode(jsonval.ToJSONValue(whole.Report(quality.RequestSize{Initial: 100, Current: 50,
		Reason: "x"}, -1))))
	want := `{"byLLM":[{"again":"b","differed":2,"llm":"a","rechecked":4},{"again":"b","differed":0,"llm":"b","rechecked":2}],` +
		`"byPosition":[{"differed":2,"from":1,"rechecked":4,"to":25},{"differed":0,"from":101,"rechecked":2,"to":125}],` +
		`"differed":2,"interval":[0.097,0.7],"rechecked":6,"share":0.333,"size":{"because":"x","first":100,"now":50},` +
		`"usage":{"completionTokens":0,"promptTokens":20}}`
	if got != want {
		t.Error(got)
	}
	if got := whole.Report(quality.RequestSize{}, -1).Lines(); len(got) != 6 ||
		got[3] != "answered by a, then by b: of 4 asked twice 2 were decided otherwise: too few to say" {
		t.Errorf("%q", got)
	}
	if new(quality.Tally).Report(quality.RequestSize{}, -1) != nil {
		t.Error("nothing was asked twice, and there is a report")
	}
}

// Whoever is only told of the limit is told that it is passed, once that is certain.
func TestAReportSaysThatTheLimitIsPassed(t *testing.T) {
	t.Parallel()
	tally := quality.Tally{RecheckCount: quality.RecheckCount{RecheckedCount: 100, DifferedCount: 10}}
	for limit, want := range map[float64]bool{0.02: true, 0: true, 0.08: false, -1: false} {
		r := tally.Report(quality.RequestSize{}, limit)
		if got := strings.HasSuffix(r.Lines()[0], fmt.Sprintf(", above the limit of %g %%", 100*limit)); got != want ||
			(r.DisagreementLimit != nil) != (limit >= 0) {
			t.Errorf("with a limit of %v: %s", limit, r.Lines()[0])
		}
	}
}

// TestSizesChangeByTheIntervalAndNotByThePoint: chance alone changes nothing.
func TestSizesChangeByTheIntervalAndNotByThePoint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		now, most, n, differed int
		limit                  float64
		want                   int
	}{
		{100, 100, 30, 1, 0.02, 100},
		{100, 100, 29, 29, 0.02, 100}, // too few
		{100, 100, 200, 12, 0.02, 50},
		{1, 100, 200, 200, 0.02, 1},
		{50, 100, 400, 1, 0.02, 62},
		{90, 100, 400, 1, 0.02, 100},
		{2, 100, 400, 1, 0.02, 3},
		{50, 50, 400, 1, 0.02, 50},
		{50, 100, 400, 200, -1, 50}, // no limit
		{50, 100, 400, 200, 0, 25},
	} {
		count := quality.RecheckCount{RecheckedCount: c.n, DifferedCount: c.differed}
		got, because := quality.NextRequestSize(c.now, c.most, count, c.limit)
		if got != c.want || (got != c.now) != strings.Contains(because, "of "+fmt.Sprint(c.n)+" asked twice") {
			t.Errorf("%+v: %d, since %q", c, got, because)
		}
	}
}

func TestAnOrderIsTheSameForTheSameSeedAndAnotherWhenAskedAgain(t *testing.T) {
	t.Parallel()
	first := quality.ShuffledOrder("s", 1, quality.ShufflePurposeRequest, 100)
	sorted := slices.Sorted(slices.Values(first))
	if !slices.Equal(sorted, quality.ShuffledOrder("", 1, 0, 100)) || slices.Equal(first, sorted) {
		t.Errorf("no permutation: %v", first)
	}
	if !slices.Equal(first, quality.ShuffledOrder("s", 1, quality.ShufflePurposeRequest, 100)) {
		t.Error("the same seed gave another order")
	}
	for _, other := range [][]int{quality.ShuffledOrder("s", 2, 0, 100),
		quality.ShuffledOrder("s", 1, quality.ShufflePurposeRecheck, 100),
		quality.ShuffledOrder("t", 1, 0, 100)} {
		if slices.Equal(first, other) {
			t.Error("another order is the same")
		}
	}
}

// Two would stand in the same order half of the time.
func TestInstancesThatAreAskedAboutAgainNeverStandInTheSameOrder(t *testing.T) {
	t.Parallel()
	for n := 2; n < 5; n++ {
		for request := range 100 {
			first := make([]int, n)
			for place, of := range quality.ShuffledOrder("s", request, quality.ShufflePurposeRequest, n) {
				first[of] = place + 1
			}
			again := quality.RecheckOrder("s", request, first)
			places := jsonval.Map(again, func(of int) int { return first[of] })
			if slices.IsSorted(places) || len(slices.Compact(slices.Sorted(slices.Values(places)))) != n {
				t.Errorf("request %d: %v", request, places)
			}
		}
	}
}

func TestTheShareThatIsDrawnIsKeptExactlyHoweverSmallTheRequests(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0.05, 0.5, 0.333, 1} {
		var tally quality.Tally
		seen := map[int]int{}
		for request := 1; request <= 400; request++ {
			for _, n := range tally.DrawRecheckSample("seed", request, 10, share, false) {
				seen[n]++
			}
		}
		if math.Abs(float64(tally.SampledInstanceCount)-4000*share) > 1 {
			t.Errorf("%v: %d of 4000 are drawn", share, tally.SampledInstanceCount)
		}
		for n, times := range seen {
			if want := 400 * share; math.Abs(float64(times)-want) > 5*math.Sqrt(want) {
				t.Errorf("%v: place %d is drawn %d times", share, n, times)
			}
		}
	}
	if got := new(quality.Tally).DrawRecheckSample("s", 1, 10, 0, false); got != nil {
		t.Errorf("no share draws %v", got)
	}
}

// TestProcessesOfOneInstanceKeepTheShareTogether: however small it is, some are drawn.
func TestProcessesOfOneInstanceKeepTheShareTogether(t *testing.T) {
	t.Parallel()
	const processes = 40_000
	for _, share := range []float64{0.001, 0.003, 0.01, 0.05} {
		drawn := 0
		for n := range processes {
			drawn += len(new(quality.Tally).DrawRecheckSample(quality.NewSeed(fmt.Sprint(n)), 1, 1, share, false))
		}
		if want := processes * share; math.Abs(float64(drawn)-want) > 4*math.Sqrt(want) {
			t.Errorf("%v: %d of %d are drawn", share, drawn, processes)
		}
	}
}

// TestPartsDrawWholeRequestsAndKeepTheShareTogether: rules and Tools are repeated for no few instances.
func TestPartsDrawWholeRequestsAndKeepTheShareTogether(t *testing.T) {
	t.Parallel()
	for seed := range 50 {
		for _, share := range []float64{0.05, 0.5, 0.333, 1} {
			for parts, requests := range map[int]int{400: 1, 40: 10} {
				drawn := 0
				for part := range parts {
					var tally quality.Tally
					for request := 1; request <= requests; request++ {
						got := len(tally.DrawRecheckSample(fmt.Sprintf("%d/%d", seed, part+1), request, 25, share,
							true))
						if got != 0 && got != 25 {
							t.Fatalf("%v: %d of 25 are drawn", share, got)
						}
						drawn += got / 25
					}
				}
				if math.Abs(float64(drawn)-400*share) > 4 {
					t.Errorf("seed %d, %v, %d parts: %d of 400 Requests are drawn", seed, share, parts, drawn)
				}
			}
		}
	}
}

// TestTheIntervalHoldsTheTrueShareInNineteenOfTwenty tries Wilson's interval as it is used.
func TestTheIntervalHoldsTheTrueShareInNineteenOfTwenty(t *testing.T) {
	t.Parallel()
	random, held := rand.New(rand.NewPCG(1, 2)), 0
	const runs, truth = 4000, 0.05
	for range runs {
		var c quality.RecheckCount
		for c.RecheckedCount < 300 {
			c.RecheckedCount++
			if random.Float64() < truth {
				c.DifferedCount++
			}
		}
		if low, high := c.ConfidenceInterval(); low <= truth && truth <= high {
			held++
		}
	}
	if held < runs*93/100 || held > runs*97/100 {
		t.Errorf("it holds the truth in %d of %d", held, runs)
	}
}

func TestTheSizeFollowsFromWhatTheLLMDoesForEachInstance(t *testing.T) {
	t.Parallel()
	latent := map[string]ideafile.ToolBinding{"mood": {Kind: ideafile.KindLatent}}
	for name, c := range map[string]struct {
		config, schema string
		bindings       map[string]ideafile.ToolBinding
		want           int
		because        string
		certain        bool
	}{
		"HTTP":            {"", `"tools":{"send":{"_activity":{"http":{"url":"http://x"}}}}`, nil, 100, "by Reference", true},
		"latent":          {"", `"tools":{"mood":{"type":"object"}}`, latent, 25, "the LLM writes `mood` for each", true},
		"perhaps latent":  {"", `"tools":{"mood":{"type":"object"}}`, nil, 100, "by Reference", false},
		"Calls differ":    {"", `"tools":{"send":{"_activity":"x","properties":{"to":{"enum":["a","b"]}}}}`, nil, 25, "chooses `to` of `send`", true},
		"one choice only": {"", `"tools":{"send":{"_activity":"x","properties":{"to":{"enum":["a"]}}}}`, nil, 100, "by Reference", true},
		"output for each": {"", `"output":{"type":"array","items":{"type":"string"}}`, nil, 25, "an output for each", true},
		"output for all":  {"", `"output":{"type":"object","properties":{"n":{"type":"integer"}}}`, nil, 100, "by Reference", true},
		"the file's":      {`"batch": 60`, `"tools":{"mood":{"type":"object"}}`, latent, 60, "the file says so", true},
		"auto":            {`"batch": "auto"`, `"tools":{"mood":{"type":"object"}}`, latent, 25, "for each", true},
	} {
		idea := modeltest.IdeaFrom(t, `{"config":{`+c.config+`},"schema":{`+c.schema+`}}`)
		got := quality.RequestSizeFor(idea, c.bindings)
		_, _, certain := quality.RecommendedRequestSize(idea, c.bindings)
		if got.Initial != c.want || got.Current != c.want || !strings.Contains(got.Reason, c.because) || certain != c.certain {
			t.Errorf("%s: %+v, certain: %v", name, got, certain)
		}
	}
}

// The kind is found at every depth: in objects, lists, maps, alternatives and by reference, of parameters and output.
func TestTheSizeFollowsFromEverySchemaAtEveryDepth(t *testing.T) {
	t.Parallel()
	kinds := map[string]struct {
		schema         string
		chosen, isList bool // by the LLM, from several; a list or a map
	}{
		"any value":            {schema: `{}`}, // the schema says nothing of it
		"true":                 {schema: `true`},
		"a text":               {schema: `{"type":"string"}`}, // mostly by Reference
		"a format":             {schema: `{"type":"string","format":"date"}`},
		"a number":             {schema: `{"type":"number","minimum":0}`}, // mostly by Reference
		"an integer":           {schema: `{"type":"integer","minimum":1,"maximum":5}`},
		"null":                 {schema: `{"type":"null"}`},
		"a const":              {schema: `{"const":"a"}`},
		"a wired value":        {schema: `{"const":"†input.yes","type":"boolean"}`}, // the engine fills it
		"one choice":           {schema: `{"enum":["a"]}`},
		"yes alone":            {schema: `{"type":"boolean","enum":[true]}`},
		"an enum":              {schema: `{"enum":["a","b"]}`, chosen: true},
		"a boolean":            {schema: `{"type":"boolean"}`, chosen: true}, // an enum of two
		"a boolean or nothing": {schema: `{"type":["boolean","null"]}`, chosen: true},
		"titled choices":       {schema: `{"oneOf":[{"const":"a","title":"A"},{"const":"b"}]}`, chosen: true},
		"a text or nothing":    {schema: `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
		"an object":            {schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`},
		"a closed object":      {schema: `{"type":"object","additionalProperties":false}`},
		"a tuple":              {schema: `{"prefixItems":[{"type":"string"}],"items":false}`},
		"a list":               {schema: `{"type":"array"}`, isList: true},
		"a list of texts":      {schema: `{"items":{"type":"string"}}`, isList: true},
		"a map":                {schema: `{"additionalProperties":{"type":"string"}}`, isList: true},
		"a map by pattern":     {schema: `{"patternProperties":{"^x":{"type":"string"}}}`, isList: true},
		"a free object":        {schema: `{"type":"object"}`},
		"a list of choices":    {schema: `{"type":"array","items":{"enum":["a","b"]}}`, chosen: true, isList: true},
	}
	depths := map[string]struct {
		around          string
		isList, ignored bool
	}{
		"itself": {around: `%s`}, "a property": {around: `{"properties":{"p":%s}}`},
		"two down": {around: `{"properties":{"o":{"properties":{"p":%s}}}}`},
		"a list":   {around: `{"type":"array","items":%s}`, isList: true}, "a tuple": {around: `{"prefixItems":[%s],"items":false}`},
		"a map":         {around: `{"additionalProperties":%s}`, isList: true},
		"a pattern":     {around: `{"patternProperties":{"^x":%s}}`, isList: true},
		"all of":        {around: `{"allOf":[{},%s]}`},
		"alternatives":  {around: `{"anyOf":[{"type":"null"},%s]}`},
		"one of":        {around: `{"oneOf":[{"type":"null"},{"properties":{"p":%s}}]}`},
		"a reference":   {around: `{"properties":{"p":{"$ref":"#/ROOT/$defs/d"}},"$defs":{"d":%s}}`},
		"in itself":     {around: `{"properties":{"next":{"$ref":"#/ROOT"},"p":%s}}`},
		"not this":      {around: `{"not":%s}`, ignored: true},
		"if this":       {around: `{"if":{"properties":{"p":%s}},"then":{}}`, ignored: true},
		"a definition":  {around: `{"$defs":{"d":%s}}`, ignored: true},
		"named by this": {around: `{"propertyNames":%s}`, ignored: true},
	}
	size := func(t *testing.T, schema, context string, kind ideafile.ToolKind) quality.RequestSize {
		idea := modeltest.IdeaFrom(t, `{"schema":{`+schema+`},"context":[`+context+`]}`)
		return quality.RequestSizeFor(idea, ideafile.ToolBindings{"send": {Kind: kind}})
	}
	for kindName, kind := range kinds {
		for depthName, depth := range depths {
			t.Run(kindName+" in "+depthName, func(t *testing.T) {
				t.Parallel()
				within := fmt.Sprintf(depth.around, kind.schema)
				tool := `"tools":{"send":{"properties":{"to":` + strings.ReplaceAll(within, "ROOT", "properties/to") + `}}}`
				output := `"output":` + strings.ReplaceAll(strings.ReplaceAll(within, "/ROOT", ""), "ROOT", "")
				judged := map[bool]int{true: quality.RequestSizeForJudgedCalls,
					false: quality.RequestSizeForSharedCalls}
				if got := size(t, tool, "", ideafile.KindHTTP); got.Initial != judged[kind.chosen && !depth.ignored] {
					t.Errorf("a parameter: %s", got)
				}
				if got := size(t, output, "", ""); got.Initial != judged[depth.isList || (kind.isList && !depth.ignored)] {
					t.Errorf("the output: %s", got)
				}
				latent := strings.Replace(tool, `{"properties"`, `{"_output":`+kind.schema+`,"properties"`, 1)
				if got := size(t, latent, "", ideafile.KindLatent); got.Initial != quality.RequestSizeForJudgedCalls {
					t.Errorf("a latent result: %s", got)
				}
				for stage, noLLM := range map[string]bool{"complete": true, "optimal": false} {
					plan := `{"type":"plan","stage":"` + stage + `","plan":[]}`
					got := size(t, latent, plan, ideafile.KindLatent)
					if got.Initial != judged[!noLLM] || strings.Contains(got.Reason, "no LLM is asked") != noLLM {
						t.Errorf("a %s Plan: %s", stage, got)
					}
				}
			})
		}
	}
}
