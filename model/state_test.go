package model

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// writeFrom makes a Write of Request 1: its place in the Plan, its path, its method, its value.
func writeFrom(index int, path, method, value string) Write {
	p, err := ParsePath(path)
	if err != nil {
		panic(err)
	}
	return Write{Path: p, Method: method, Value: mustDecode(value), By: CallID(1, index, ""), Request: 1, Index: index}
}

func stateFrom(start string, writes ...Write) *State {
	s := NewState(mustDecode(start))
	for _, w := range writes {
		s.Apply(w)
	}
	return s
}

func TestAnUpdate(t *testing.T) {
	for _, c := range []struct{ name, method, old, value, want string }{
		{"write-once puts the value", "", `null`, `{"a":1}`, `{"a":1}`},
		{"assign lays top-level keys over", "assign", `{"a":{"x":1},"b":1}`, `{"a":{"y":2},"c":3}`, `{"a":{"y":2},"b":1,"c":3}`},
		{"assign begins with what comes", "assign", `null`, `{"a":1}`, `{"a":1}`},
		{"assign keeps null as a value", "assign", `{"a":1}`, `{"a":null}`, `{"a":null}`},
		{"merge lays objects over deeply", "merge", `{"a":{"x":1},"l":[1]}`, `{"a":{"y":2},"l":[2]}`, `{"a":{"x":1,"y":2},"l":[2]}`},
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
			old, value := mustDecode(c.old), mustDecode(c.value)
			if got := string(Encode(combine(c.method, old, value))); got != c.want {
				t.Errorf("got %s", got)
			}
			if string(Encode(old)) != c.old || string(Encode(value)) != c.value {
				t.Error("what was given was changed")
			}
		})
	}
}

func TestWritesAreLaidOnInPlanOrder(t *testing.T) {
	for _, c := range []struct {
		name, start string
		writes      []Write
		want        string
	}{
		{"updates of one path, whichever comes first", `{}`,
			[]Write{writeFrom(3, "l", "push", `3`), writeFrom(1, "l", "push", `1`), writeFrom(2, "l", "concat", `[2]`)}, `{"l":[1,2,3]}`},
		{"later Requests behind earlier ones", `{}`,
			[]Write{{Path: Path{"l"}, Method: "push", Value: "b", Request: 2, Index: 1}, {Path: Path{"l"}, Method: "push", Value: "a", Request: 1, Index: 9}}, `{"l":["a","b"]}`},
		{"the whole State replaces what the process started with", `{"a":1,"b":{"x":1}}`,
			[]Write{writeFrom(1, "", "", `{"b":{"y":2},"c":3}`)}, `{"a":1,"b":{"y":2},"c":3}`},
		{"an update behind the whole State changes what it brought", `{}`,
			[]Write{writeFrom(2, "a", "push", `2`), writeFrom(1, "", "", `{"a":[1]}`)}, `{"a":[1,2]}`},
		{"the whole State may be merged", `{"a":{"x":1}}`,
			[]Write{writeFrom(1, "", "merge", `{"a":{"y":2}}`)}, `{"a":{"x":1,"y":2}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := mustDecode(c.start)
			s := NewState(start)
			for _, w := range c.writes {
				s.Apply(w)
			}
			if got := string(Encode(s.Value())); got != c.want {
				t.Errorf("got %s", got)
			}
			if string(Encode(start)) != c.start {
				t.Error("what the process started with was changed")
			}
		})
	}
}

// A process applies the writes that its instances report; it must come to the same State, whatever the order, and whoever
// looks at it on the way. What they saw stays as it was.
func TestAStateDependsOnItsWritesAndTheirPlacesAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		begin := rapid.SampledFrom(playStart).Draw(rt, "start")
		start := mustDecode(begin)
		var writes []Write
		for i := range rapid.IntRange(1, 6).Draw(rt, "writes") {
			path := rapid.SampledFrom(append([]string{""}, playPaths...)).Draw(rt, "path")
			value := rapid.SampledFrom([]string{`{"a":{"b":1},"c":1}`, `{"b":{"d":2}}`, `{"a":"text"}`}).Draw(rt, "value")
			methods := []string{"", "", "assign", "merge"}
			if path != "" {
				methods = append(methods, "push", "concat")
			}
			writes = append(writes, writeFrom(i+1, path, rapid.SampledFrom(methods).Draw(rt, "method"), value))
		}
		a, b := NewState(start), NewState(start)
		for _, w := range writes {
			a.Apply(w)
		}
		seen, then := []any{start}, []string{begin}
		for _, w := range rapid.Permutation(writes).Draw(rt, "order") {
			b.Apply(w)
			switch rapid.SampledFrom([]string{"value", "whole", "key", "", ""}).Draw(rt, "look") {
			case "value":
				seen = append(seen, b.Value())
			case "whole":
				seen = append(seen, b.before(2, 1, nil).now)
			case "key":
				v, _ := Lookup(b.before(2, 1, w.Path).now, w.Path)
				seen = append(seen, v)
			default:
				continue
			}
			then = append(then, string(Encode(seen[len(seen)-1])))
		}
		for n, v := range seen {
			if !Equal(v, mustDecode(then[n])) {
				rt.Fatalf("what was seen as %s is %s now", then[n], Encode(v))
			}
		}
		if !Equal(a.Value(), b.Value()) {
			rt.Fatalf("in one order %s, in another %s", Encode(a.Value()), Encode(b.Value()))
		}
		if fmt.Sprint(a.Writes()) != fmt.Sprint(b.Writes()) {
			rt.Fatal("the writes are not listed in Plan order")
		}
	})
}

func TestAPathIsClosedWhen(t *testing.T) {
	handle := string(Encode(Handle{Digest: "d", Size: 99, Type: "object"}.Value()))
	for _, c := range []struct {
		name, start string
		writes      []Write
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
		{"a Call wrote it", `{}`, []Write{writeFrom(1, "a", "", `1`)}, "a", "1.1"},
		{"a Call wrote below it", `{}`, []Write{writeFrom(1, "a.b", "", `1`)}, "a", "1.1"},
		{"a Call wrote an ancestor whole", `{}`, []Write{writeFrom(1, "a", "", `{"b":1}`)}, "a.c.d", "1.1"},
		{"never, beside what a Call wrote", `{}`, []Write{writeFrom(1, "a.b", "", `1`)}, "a.c", ""},
		{"a Call brought it with the whole State", `{}`, []Write{writeFrom(1, "", "", `{"a":{}}`)}, "a.b", "1.1"},
		{"never, where the whole State did not bring it", `{}`, []Write{writeFrom(1, "", "", `{"a":{}}`)}, "b", ""},
		{"an update put a value there", `{}`, []Write{writeFrom(1, "a", "push", `1`)}, "a", "1.1"},
		{"never, beside a key that an update brought", `{}`, []Write{writeFrom(1, "a", "merge", `{"x":1}`)}, "a.y", ""},
		{"never by who wrote a like-named key elsewhere", `{"a":1}`, []Write{writeFrom(1, "b", "", `{"a":1}`)}, "a", "start"},
		{"two wrote there, by the first in Plan order", `{}`, []Write{writeFrom(2, "a.c", "", `1`), writeFrom(1, "a.b", "", `1`)}, "a", "1.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			if by, closed := stateFrom(c.start, c.writes...).Closed(p); by != c.by || closed != (c.by != "") {
				t.Errorf("closed %v by %q, want %q", closed, by, c.by)
			}
		})
	}
}

func TestAResultForTheWholeStateGivesWayToWhatACallWrote(t *testing.T) {
	for _, c := range []struct {
		name, start string
		writes      []Write
		value, want string
	}{
		{"not to what the process started with", `{"a":1}`, nil, `{"a":2,"b":2}`, `{"a":2,"b":2}`},
		{"at a key", `{}`, []Write{writeFrom(1, "a", "", `1`)}, `{"a":2,"b":2}`, `{"b":2}`},
		{"not at a like-named key elsewhere", `{}`, []Write{writeFrom(1, "b", "", `{"a":1}`)}, `{"a":2}`, `{"a":2}`},
		{"below a key", `{"a":{"s":0}}`, []Write{writeFrom(1, "a.x", "", `1`)}, `{"a":"gone","b":2}`, `{"b":2}`},
		{"behind it in the Plan too", `{}`, []Write{writeFrom(9, "a.x", "", `1`)}, `{"a":"gone","b":2}`, `{"b":2}`},
		{"as an update", `{}`, []Write{writeFrom(1, "a", "push", `1`)}, `{"a":2,"b":2}`, `{"b":2}`},
		{"as the whole State", `{}`, []Write{writeFrom(1, "", "", `{"a":1}`)}, `{"a":2,"b":2}`, `{"b":2}`},
		{"merged into the whole State", `{}`, []Write{writeFrom(1, "", "merge", `{"a":1}`)}, `{"a":2,"b":2}`, `{"b":2}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(Encode(stateFrom(c.start, c.writes...).givingWay(mustDecode(c.value)))); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestAProcessMayStartWithNothing(t *testing.T) {
	if got := string(Encode(NewState(nil).Value())); got != `{}` {
		t.Errorf("got %s", got)
	}
}

func TestAReaderSeesTheUpdatesBeforeItAndEveryWriteOnceValue(t *testing.T) {
	s := stateFrom(`{"l":[0]}`, writeFrom(1, "l", "push", `1`), writeFrom(3, "l", "push", `3`), writeFrom(4, "w", "", `4`))
	for index, want := range map[int]string{1: `[0]`, 2: `[0,1]`, 3: `[0,1]`, 4: `[0,1,3]`} {
		if got, _ := Lookup(s.seenFrom(1, index, Path{"l"}).now, Path{"l"}); string(Encode(got)) != want {
			t.Errorf("from place %d the list is %s, want %s", index, Encode(got), want)
		}
		if _, ok := Lookup(s.seenFrom(1, index, Path{"w"}).now, Path{"w"}); !ok {
			t.Errorf("from place %d the write-once value is not seen", index)
		}
		if _, ok := Lookup(s.before(1, index, Path{"w"}).now, Path{"w"}); ok != (index > 4) {
			t.Errorf("before place %d the write-once value is there: %v", index, ok)
		}
	}
}
