package statelog_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/statelog"
)

// writeFrom makes a Write of Request 1: its place in the Plan, its path, its method, its value.
func writeFrom(index int, path, method, value string) statelog.Write {
	p, err := jsonval.ParsePath(path)
	if err != nil {
		panic(err)
	}
	return statelog.Write{Path: p, OutputMethod: method, Value: modeltest.MustDecodeJSON(value),
		Author: ideafile.FormatCallID(1, index, ""), Request: 1, Index: index}
}

func stateFrom(start string, writes ...statelog.Write) *statelog.State {
	s := statelog.NewState(modeltest.MustDecodeJSON(start))
	for _, w := range writes {
		s.Apply(w)
	}
	return s
}

func TestAnUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, method, old, value, want string }{
		{"write-once puts the value", "", `null`, `{"a":1}`, `{"a":1}`},
		{"assign lays top-level keys over", "assign", `{"a":{"x":1},"b":1}`, `{"a":{"y":2},"c":3}`,
			`{"a":{"y":2},"b":1,"c":3}`},
		{"assign begins with what comes", "assign", `null`, `{"a":1}`, `{"a":1}`},
		{"assign keeps null as a value", "assign", `{"a":1}`, `{"a":null}`, `{"a":null}`},
		{"merge lays objects over deeply", "merge", `{"a":{"x":1},"l":[1]}`, `{"a":{"y":2},"l":[2]}`,
			`{"a":{"x":1,"y":2},"l":[2]}`},
		{"merge begins with what comes", "merge", `null`, `{"a":{}}`, `{"a":{}}`},
		{"push adds one element", "push", `[1]`, `[2,3]`, `[1,[2,3]]`},
		{"push begins a list", "push", `null`, `"x"`, `["x"]`},
		{"push makes what was there the first element", "push", `"a"`, `"b"`, `["a","b"]`},
		{"push adds null too", "push", `[1]`, `null`, `[1,null]`},
		{"concat joins lists", "concat", `[1]`, `[2,3]`, `[1,2,3]`},
		{"concat joins texts", "concat", `"a"`, `"b"`, `"ab"`},
		{"concat begins with what comes", "concat", `null`, `"a"`, `"a"`},
		{"concat begins a list", "concat", `null`, `[1]`, `[1]`},
		{"concat adds what is no list to a list", "concat", `[1]`, `2`, `[1,2]`},
		{"concat adds a list to what is none", "concat", `"a"`, `[1]`, `["a",1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, value := modeltest.MustDecodeJSON(c.old), modeltest.MustDecodeJSON(c.value)
			if got := string(jsonval.Encode(statelog.Combine(c.method, old, value))); got != c.want {
				t.Errorf("got %s", got)
			}
			if string(jsonval.Encode(old)) != c.old || string(jsonval.Encode(value)) != c.value {
				t.Error("what was given was changed")
			}
		})
	}
}

func TestWritesAreLaidOnInPlanOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, start string
		writes      []statelog.Write
		want        string
	}{
		{"updates of one path, whichever comes first", `{}`,
			[]statelog.Write{writeFrom(3, "l", "push", `3`), writeFrom(1, "l", "push", `1`),
				writeFrom(2, "l", "concat", `[2]`)}, `{"l":[1,2,3]}`},
		{"later Requests behind earlier ones", `{}`,
			[]statelog.Write{{Path: jsonval.Path{"l"}, OutputMethod: "push", Value: "b", Request: 2, Index: 1},
				{Path: jsonval.Path{"l"}, OutputMethod: "push", Value: "a", Request: 1, Index: 9}}, `{"l":["a","b"]}`},
		{"the whole State replaces what the process started with", `{"a":1,"b":{"x":1}}`,
			[]statelog.Write{writeFrom(1, "", "", `{"b":{"y":2},"c":3}`)}, `{"a":1,"b":{"y":2},"c":3}`},
		{"an update behind the whole State changes what it brought", `{}`,
			[]statelog.Write{writeFrom(2, "a", "push", `2`), writeFrom(1, "", "", `{"a":[1]}`)}, `{"a":[1,2]}`},
		{"the whole State may be merged", `{"a":{"x":1}}`,
			[]statelog.Write{writeFrom(1, "", "merge", `{"a":{"y":2}}`)}, `{"a":{"x":1,"y":2}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := modeltest.MustDecodeJSON(c.start)
			s := statelog.NewState(start)
			for _, w := range c.writes {
				s.Apply(w)
			}
			if got := string(jsonval.Encode(s.Snapshot())); got != c.want {
				t.Errorf("got %s", got)
			}
			if string(jsonval.Encode(start)) != c.start {
				t.Error("what the process started with was changed")
			}
		})
	}
}

// A process applies the writes that its instances report; it must come to the same State, whatever the order, and
// whoever looks at it on the way. What they saw stays as it was.
func TestAStateDependsOnItsWritesAndTheirPlacesAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		begin := rapid.SampledFrom(modeltest.RandomStartStates).Draw(rt, "start")
		start := modeltest.MustDecodeJSON(begin)
		var writes []statelog.Write
		for i := range rapid.IntRange(1, 6).Draw(rt, "writes") {
			path := rapid.SampledFrom(append([]string{""}, modeltest.RandomPlanStatePaths...)).Draw(rt, "path")
			value := rapid.SampledFrom([]string{`{"a":{"b":1},"c":1}`, `{"b":{"d":2}}`, `{"a":"text"}`}).Draw(rt,
				"value")
			methods := []string{"", "", "assign", "merge"}
			if path != "" {
				methods = append(methods, "push", "concat")
			}
			writes = append(writes, writeFrom(i+1, path, rapid.SampledFrom(methods).Draw(rt, "method"), value))
		}
		a, b := statelog.NewState(start), statelog.NewState(start)
		for _, w := range writes {
			a.Apply(w)
		}
		seen, then := []any{start}, []string{begin}
		for _, w := range rapid.Permutation(writes).Draw(rt, "order") {
			b.Apply(w)
			switch rapid.SampledFrom([]string{"value", "whole", "key", "", ""}).Draw(rt, "look") {
			case "value":
				seen = append(seen, b.Snapshot())
			case "whole":
				seen = append(seen, b.StateBeforeCall(2, 1, nil).CurrentValue)
			case "key":
				v, _ := jsonval.ValueAt(b.StateBeforeCall(2, 1, w.Path).CurrentValue, w.Path)
				seen = append(seen, v)
			default:
				continue
			}
			then = append(then, string(jsonval.Encode(seen[len(seen)-1])))
		}
		for n, v := range seen {
			if !jsonval.Equal(v, modeltest.MustDecodeJSON(then[n])) {
				rt.Fatalf("what was seen as %s is %s now", then[n], jsonval.Encode(v))
			}
		}
		if !jsonval.Equal(a.Snapshot(), b.Snapshot()) {
			rt.Fatalf("in one order %s, in another %s", jsonval.Encode(a.Snapshot()), jsonval.Encode(b.Snapshot()))
		}
		if fmt.Sprint(a.Writes()) != fmt.Sprint(b.Writes()) {
			rt.Fatal("the writes are not listed in Plan order")
		}
	})
}

func TestAPathIsClosedWhen(t *testing.T) {
	t.Parallel()
	handle := string(jsonval.Encode(jsonval.BlobHandle{Digest: "d", Size: 99, ValueType: "object"}.AsJSONValue()))
	for _, c := range []struct {
		name, start string
		writes      []statelog.Write
		path, by    string // by: empty where the path is open
	}{
		{"never, where nothing is there", `{}`, nil, "a", ""},
		{"a value is there from the start", `{"a":1}`, nil, "a", "start"},
		{"null is there", `{"a":null}`, nil, "a", "start"},
		{"something is there below it", `{"a":{"b":{"c":1}}}`, nil, "a.b", "start"},
		{"something other than an object stands above it", `{"a":[1]}`, nil, "a.b", "start"},
		{"null stands above it", `{"a":null}`, nil, "a.b", "start"},
		{"a value that is stored stands above it", `{"a":` + handle + `}`, nil, "a.b", "start"},
		{"never, beside what the process started with", `{"a":{"b":1}}`, nil, "a.c", ""},
		{"a Call wrote it", `{}`, []statelog.Write{writeFrom(1, "a", "", `1`)}, "a", "1.1"},
		{"a Call wrote below it", `{}`, []statelog.Write{writeFrom(1, "a.b", "", `1`)}, "a", "1.1"},
		{"a Call wrote an ancestor whole", `{}`, []statelog.Write{writeFrom(1, "a", "", `{"b":1}`)}, "a.c.d", "1.1"},
		{"never, beside what a Call wrote", `{}`, []statelog.Write{writeFrom(1, "a.b", "", `1`)}, "a.c", ""},
		{"a Call brought it with the whole State", `{}`, []statelog.Write{writeFrom(1, "", "", `{"a":{}}`)},
			"a.b", "1.1"},
		{"never, where the whole State did not bring it", `{}`, []statelog.Write{writeFrom(1, "", "", `{"a":{}}`)}, "b",
			""},
		{"an update put a value there", `{}`, []statelog.Write{writeFrom(1, "a", "push", `1`)}, "a", "1.1"},
		{"never, beside a key that an update brought", `{}`, []statelog.Write{writeFrom(1, "a", "merge", `{"x":1}`)},
			"a.y", ""},
		{"never by who wrote a like-named key elsewhere", `{"a":1}`, []statelog.Write{writeFrom(1, "b", "", `{"a":1}`)},
			"a", "start"},
		{"two wrote there, by the first in Plan order", `{}`,
			[]statelog.Write{writeFrom(2, "a.c", "", `1`), writeFrom(1, "a.b", "", `1`)}, "a", "1.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := jsonval.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if by, closed := stateFrom(c.start, c.writes...).AuthorWhoClosedPath(p); by != c.by ||
				closed != (c.by != "") {
				t.Errorf("closed %v by %q, want %q", closed, by, c.by)
			}
		})
	}
}

func TestAResultForTheWholeStateGivesWayToWhatACallWrote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, start string
		writes      []statelog.Write
		value, want string
	}{
		{"not to what the process started with", `{"a":1}`, nil, `{"a":2,"b":2}`, `{"a":2,"b":2}`},
		{"at a key", `{}`, []statelog.Write{writeFrom(1, "a", "", `1`)}, `{"a":2,"b":2}`, `{"b":2}`},
		{"not at a like-named key elsewhere", `{}`, []statelog.Write{writeFrom(1, "b", "", `{"a":1}`)},
			`{"a":2}`, `{"a":2}`},
		{"below a key", `{"a":{"s":0}}`, []statelog.Write{writeFrom(1, "a.x", "", `1`)},
			`{"a":"gone","b":2}`, `{"b":2}`},
		{"behind it in the Plan too", `{}`, []statelog.Write{writeFrom(9, "a.x", "", `1`)},
			`{"a":"gone","b":2}`, `{"b":2}`},
		{"as an update", `{}`, []statelog.Write{writeFrom(1, "a", "push", `1`)}, `{"a":2,"b":2}`, `{"b":2}`},
		{"as the whole State", `{}`, []statelog.Write{writeFrom(1, "", "", `{"a":1}`)}, `{"a":2,"b":2}`, `{"b":2}`},
		{"merged into the whole State", `{}`, []statelog.Write{writeFrom(1, "", "merge", `{"a":1}`)},
			`{"a":2,"b":2}`, `{"b":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(
				jsonval.Encode(stateFrom(c.start,
					c.writes...).WithoutWrittenKeys(modeltest.MustDecodeJSON(c.value)))); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestAProcessMayStartWithNothing(t *testing.T) {
	t.Parallel()
	if got := string(jsonval.Encode(statelog.NewState(nil).Snapshot())); got != `{}` {
		t.Errorf("got %s", got)
	}
}

func TestAReaderSeesTheUpdatesBeforeItAndEveryWriteOnceValue(t *testing.T) {
	t.Parallel()
	s := stateFrom(`{"l":[0]}`, writeFrom(1, "l", "push", `1`), writeFrom(3, "l", "push", `3`),
		writeFrom(4, "w", "", `4`))
	for index, want := range map[int]string{1: `[0]`, 2: `[0,1]`, 3: `[0,1]`, 4: `[0,1,3]`} {
		if got, _ := jsonval.ValueAt(s.StateSeenByCall(1, index, jsonval.Path{"l"}).CurrentValue,
			jsonval.Path{"l"}); string(jsonval.Encode(got)) != want {
			t.Errorf("from place %d the list is %s, want %s", index, jsonval.Encode(got), want)
		}
		if _, ok := jsonval.ValueAt(s.StateSeenByCall(1, index, jsonval.Path{"w"}).CurrentValue,
			jsonval.Path{"w"}); !ok {
			t.Errorf("from place %d the write-once value is not seen", index)
		}
		if _, ok := jsonval.ValueAt(s.StateBeforeCall(1, index, jsonval.Path{"w"}).CurrentValue,
			jsonval.Path{"w"}); ok != (index > 4) {
			t.Errorf("before place %d the write-once value is there: %v", index, ok)
		}
	}
}
