package builtin

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"processidea/tools"
	"processidea/tools/jq"
)

const shop = `{"items":[{"name":"a","price":5,"n":2},{"name":"b","price":15.50,"n":9007199254740993}],"s":"x","nested":[[1],[[2]]]}`

func TestAQuerySelectsAndComputes(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		`.`:                                      `[` + encoded(t, tree(t, shop)) + `]`,
		`.items[] | select(.price > 10) | .name`: `["b"]`,
		`.items[].n`:                             `[2,9007199254740993]`,
		`.items[1].price`:                        `[15.50]`,
		`.items | map(.price) | add`:             `[20.5]`,
		`.items | length`:                        `[2]`,
		`[.items[] | {name, twice: (.price * 2)}] | sort_by(-.twice) | .[0]`:  `[{"name":"b","twice":31}]`,
		`.items[] | "\(.name): \(.price)"`:                                    `["a: 5","b: 15.50"]`,
		`del(.items[] | select(.price + 1 > 10)) | .items | map(.name)`:       `[["a"]]`,
		`.items as [$first, {name: $second}] | [$first.n, $second]`:           `[[2,"b"]]`,
		`if .s == "x" then "yes" elif .s then "some" else "no" end`:           `["yes"]`,
		`reduce .items[] as $i (0; . + $i.price)`:                             `[20.5]`,
		`[foreach .items[] as $i (0; . + $i.n; [$i.name, .])] | length`:       `[2]`,
		`try error("e") catch "caught \(.)"`:                                  `["caught e"]`,
		`.missing.deep // "none"`:                                             `["none"]`,
		`.s[]?`:                                                               `[]`,
		`[.items[].name] | join("-")`:                                         `["a-b"]`,
		`"a,b" | split(",")`:                                                  `[["a","b"]]`,
		`"tel 123" | capture("(?<digits>[0-9]+)")`:                            `[{"digits":"123"}]`,
		`.items | map(.name) | contains(["a"])`:                               `[true]`,
		`.s | test("X"; "i")`:                                                 `[true]`,
		`with_entries(select(.key == "s"))`:                                   `[{"s":"x"}]`,
		`.items | group_by(.price > 10) | map(length)`:                        `[[1,1]]`,
		`.items | min_by(.price).name, max_by(.price).name`:                   `["a","b"]`,
		`.nested | flatten`:                                                   `[[1,2]]`,
		`[limit(3; range(10))], first(range(5; 9)), ([.items[].name] | last)`: `[[0,1,2],5,"b"]`,
		`[.. | numbers]`:                                                      `[[2,5,9007199254740993,15.50,1,2]]`,
		`@json "v=\(.nested)"`:                                                `["v=[[1],[[2]]]"]`,
		`.s | @base64`:                                                        `["eA=="]`,
		`"7" | tonumber + 1`:                                                  `[8]`,
		`"[1]" | fromjson`:                                                    `[[1]]`,
		`[paths] | length`:                                                    `[16]`,
		`{} + {a: 1} | keys`:                                                  `[["a"]]`,
		`walk(if type == "string" then ascii_upcase else . end) | .s`:         `["X"]`,
		`nan, infinite`:                                                       `[null,1.7976931348623157e+308]`,
		`empty`:                                                               `[]`,
		`.items[:1] | length`:                                                 `[1]`,
		`.["s"], ."s", .items[0]["na" + "me"]`:                                `["x","x","a"]`,
		`-(.items[0].n)`:                                                      `[-2]`,
		`[.[] | type] | unique`:                                               `[["array","string"]]`,
		`.items | any(.price > 10), all(.price > 10)`:                         `[true,false]`,
	} {
		got, err := call(t, "selectJSON", `{"value":`+shop+`,"query":`+encoded(t, query)+`,"all":true}`)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
	}
}

func TestTheFirstResultIsTakenUnlessAllAreWanted(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{`.items[].name`: `"a"`, `empty`: `null`,
		`.items[0], error("later")`: `{"n":2,"name":"a","price":5}`} {
		if got, err := call(t, "selectJSON", `{"value":`+shop+`,"query":`+encoded(t, query)+`}`); err != nil ||
			got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
	}
	if got, err := call(t, "selectJSON", `{"value":null,"query":"."}`); err != nil || got != "null" {
		t.Errorf("null: %s, %v", got, err)
	}
}

// Not parallel: it sets a variable of the process.
func TestAQueryReachesNothingButItsValue(t *testing.T) {
	t.Setenv("PROCESSIDEA_TEST_SECRET", "t0p-secret")
	for query, want := range map[string]string{
		`env`: "env/0 is not allowed", `$ENV.PATH`: "$ENV/0 is not allowed",
		`env.PROCESSIDEA_TEST_SECRET`: "not allowed",
		`input`:                       "not allowed", `inputs`: "not allowed", `input_filename`: "not allowed",
		`$__prog_args`: "not allowed",
		`debug`:        "not allowed", `stderr`: "not allowed", `halt`: "not allowed", `halt_error`: "not allowed",
		`now`: "not allowed", `localtime`: "not allowed", `get_search_list`: "not allowed", `modulemeta`: "not allowed",
		`import "a" as a; .`: "modules and definitions", `include "a"; .`: "modules and definitions",
		`def f: f; f`:            "modules and definitions",
		`[1] | map(def g: 1; g)`: "modules and definitions",
		`.a = 1`:                 "it reads, it does not assign", `.a |= 1`: "does not assign",
		`.a += 1`: "does not assign", `.a //= 1`: "does not assign",
		`label $x | 1`: "not allowed", `repeat(1)`: "not allowed", `setpath(["a"]; 1)`: "not allowed",
		`[splits("a")]`: "not allowed",
		`gsub("";"x")`:  "not allowed", `_charge`: "not allowed", `_size`: "not allowed",
		`$nobody`:  "variable not defined",
		`{a: env}`: "not allowed", `"\(env)"`: "not allowed", `.[env]`: "not allowed",
		`if env then 1 else 2 end`: "not allowed",
		`if 1 then env else 2 end`: "not allowed", `if 1 then 2 elif env then 1 else 2 end`: "not allowed",
		`try env`:                 "not allowed",
		`reduce env as $x (1; 2)`: "not allowed", `foreach . as $x (1; env; 2)`: "not allowed",
		`. as {(env): $x} | 1`:      "not allowed",
		`. as [{"\(env)": $x}] | 1`: "not allowed", `{(env): 1}`: "not allowed", `{"\(env)": 1}`: "not allowed",
		`-env`:           "not allowed",
		`@json "\(env)"`: "not allowed", `.a[env:]`: "not allowed", `(env)`: "not allowed", `[env]`: "not allowed",
		`1 as $x | env`:          "not allowed",
		`. as [$a] ?// $a | env`: "not allowed",
		`.[`:                     "unexpected", ``: "it is empty",
		`"` + strings.Repeat("x", maxQueryBytes) + `"`: "it is over 4000 bytes",
	} {
		got, err := call(t, "selectJSON", `{"value":{},"query":`+encoded(t, query)+`}`)
		if err == nil || !tools.IsFinal(err) || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error()+got, "t0p-secret") {
			t.Errorf("%s: %s, %v, want %q", query, got, err, want)
		}
	}
}

// few are limits that a growing query meets soon.
var few = jq.Limits{Timeout: time.Minute, MaxValueBytes: 2 << 20, MaxTotalBytes: 8 << 20}

func TestAQueryThatGrowsIsStopped(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		`reduce range(60) as $i ("x"; . + .)`:                  "too large",
		`reduce range(60) as $i ([1]; . + .)`:                  "too large",
		`reduce range(60) as $i (1; [., .]) | tojson`:          "too large",
		`reduce range(60) as $i (1; {a: ., b: .}) | tostring`:  "too large",
		`reduce range(60) as $i ("x"; "\(.)\(.)")`:             "too large",
		`reduce range(60) as $i ("\""; tojson)`:                "too large",
		`reduce range(60) as $i ("x"; @base64)`:                "",
		`reduce range(60) as $i ([1]; map(., .))`:              "too many values",
		`reduce range(60) as $i ([1]; . as $x | map($x))`:      "",
		`reduce range(60) as $i (3; . * .)`:                    "too large",
		`"x" * 2000000000`:                                     "only numbers can be computed with",
		`[range(9)] - [1]`:                                     "only numbers can be computed with",
		`"a,b" / ","`:                                          "only numbers can be computed with",
		`[range(1000)] | map("xxxxxxxxxx") | join(. | tojson)`: "too large",
		`[range(20000)] | contains([range(20000)])`:            "too large",
		`"ab" | capture(["(?<x>)", "g"])`:                      "a pattern is a string",
		`("9" * 1)`:                                            "only numbers",
		`reduce range(500) as $i ("9"; . + "9") | tonumber`:    "it is no number",
		`reduce range(21) as $i ("x"; . + .) | split("")`:      "too large",
		`reduce range(21) as $i ("x"; . + .) | fromjson`:       "too large",
		`[recurse(.; true)]`:                                   "too many values",
		`del(.[range(1000000000)])`:                            "too many values",
		`1 | error`:                                            "1",
		`error("` + strings.Repeat("x", 1000) + `")`:           strings.Repeat("x", 300) + "…",
	} {
		got, err := selectWithLimits(bg, selectParams{Value: []any{}, Query: query, All: true}, few)
		if want == "" {
			if err != nil && !strings.Contains(err.Error(), "too") {
				t.Errorf("%s: %v", query, err)
			}
		} else if err == nil || !tools.IsFinal(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", query, got, err, want)
		}
	}
}

func TestResultsTogetherAreLimitedToo(t *testing.T) {
	t.Parallel()
	_, err := selectWithLimits(bg, selectParams{Value: strings.Repeat("x", 1<<16), Query: `range(100) as $i | .`,
		All: true}, few)
	if err == nil || !tools.IsFinal(err) || !strings.Contains(err.Error(), "its results are too large") {
		t.Errorf("%v", err)
	}
}

func TestAQueryThatDoesNotEndIsStopped(t *testing.T) {
	t.Parallel()
	for _, query := range []string{`last(range(1000000000000))`, `until(false; .)`, `[recurse(.; true) | empty]`} {
		if _, err := selectWithLimits(bg, selectParams{Query: query},
			jq.Limits{Timeout: time.Millisecond, MaxValueBytes: 1 << 20, MaxTotalBytes: 1 << 40}); err == nil ||
			!tools.IsFinal(err) ||
			!strings.Contains(err.Error(), "it took more than 1ms") {
			t.Errorf("%s: %v", query, err)
		}
		ctx, cancel := context.WithCancel(bg)
		cancel()
		if _, err := selectWithLimits(ctx, selectParams{Query: query}, few); err == nil || tools.IsFinal(err) {
			t.Errorf("%s: its Call's end is no fault of the query: %v", query, err)
		}
	}
}

func TestQueriesRunBesideEachOther(t *testing.T) {
	t.Parallel()
	value := tree(t, shop)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			got, err := selectJSON(bg,
				selectParams{Value: value,
					Query: `[.items[] | .name + "!"] | join(",") | split(",") | map(ascii_upcase)`})
			if err != nil || encoded(t, got) != `["A!","B!"]` {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	wg.Wait()
	if encoded(t, value) != encoded(t, tree(t, shop)) {
		t.Error("a query changed its value")
	}
}

func TestNoQueryPanicsOrReachesOut(t *testing.T) {
	t.Parallel()
	pieces := rapid.SampledFrom([]string{".", ".a", "[", "]", "{", "}", "(", ")", "|", ",", "+", "*", "-", "//", "1",
		`"x"`, `"\(`, `)"`,
		"map(", "select(", "env", "input", "$ENV", "as $x", "$x", "reduce", "if", "then", "else", "end", "try", "..",
		"[]", "?", "@json", ":", ";", "range(9)", "del(", "path("})
	rapid.Check(t, func(t *rapid.T) {
		query := strings.Join(rapid.SliceOfN(pieces, 1, 12).Draw(t, "query"), " ")
		tool := tools.NewRegistry()
		Register(tool, nil)
		s, _ := tool.Lookup("selectJSON")
		_, err := s.Call(bg, map[string]any{"value": map[string]any{"a": []any{"x"}}, "query": query})
		if err != nil && strings.Contains(err.Error(), "panicked") {
			t.Fatalf("%s: %v", query, err)
		}
	})
}
