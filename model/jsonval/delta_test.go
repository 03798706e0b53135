package jsonval_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestADeltaSaysNoMoreThanWhatChanged(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", jsonval.MinAppendLength)
	for _, c := range []struct{ name, from, to, want string }{
		{"a new key", `{"a":1}`, `{"a":1,"b":null}`, `{"~":{"b":{"=":null}}}`},
		{"a key that is gone", `{"a":1,"b":null}`, `{"a":1}`, `{"-":["b"]}`},
		{"a key that became null", `{"a":1}`, `{"a":null}`, `{"~":{"a":{"=":null}}}`},
		{"a change far down", `{"a":{"b":{"c":1}},"d":5}`, `{"a":{"b":{"c":2}},"d":5}`,
			`{"~":{"a":{"~":{"b":{"~":{"c":{"=":2}}}}}}}`},
		{"a list that grew", `[1,2]`, `[1,2,3,4]`, `{"+":[3,4]}`},
		{"a list that shrank to nothing", `[1,2]`, `[]`, `{"-":0}`},
		{"a list that shrank and changed", `[1,2,3]`, `[1,5]`, `{"-":2,"~":{"1":{"=":5}}}`},
		{"a list that changed in the middle", `[1,{"a":1},3]`, `[1,{"a":2},3]`, `{"~":{"1":{"~":{"a":{"=":2}}}}}`},
		{"a text that grew", `"` + long + `"`, `"` + long + `①"`, `{"+":"①"}`},
		{"a short text that grew", `"ab"`, `"abc"`, `{"=":"abc"}`},
		{"a number written otherwise", `1.0`, `1.00`, `{"=":1.00}`},
		{"a number too large for a float", `9007199254740993`, `9007199254740992`, `{"=":9007199254740992}`},
		{"another type", `{"a":1}`, `[1]`, `{"=":[1]}`},
		{"an object instead of nothing", `null`, `{}`, `{"=":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, to := modeltest.DecodeJSON(t, c.from), modeltest.DecodeJSON(t, c.to)
			delta, ok := jsonval.ComputeDelta(from, to)
			if !ok || string(jsonval.Encode(delta)) != c.want {
				t.Fatalf("got %s, %v; want %s", jsonval.Encode(delta), ok, c.want)
			}
			got, err := jsonval.ApplyDelta(from, delta)
			if err != nil || !jsonval.Equal(got, to) {
				t.Errorf("it leads to %s, %v", jsonval.Encode(got), err)
			}
			if string(jsonval.Encode(from)) != c.from {
				t.Errorf("what it was applied to became %s", jsonval.Encode(from))
			}
		})
	}
}

func TestWhatIsTheSameHasNoDelta(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`null`, `true`, `1.50`, `"x"`, `[]`, `{}`, `[1,{"a":[null]}]`} {
		if d, ok := jsonval.ComputeDelta(modeltest.DecodeJSON(t, text), modeltest.DecodeJSON(t, text)); ok {
			t.Errorf("%s differs from itself by %s", text, jsonval.Encode(d))
		}
	}
	if d, ok := jsonval.ComputeDelta(5, json.Number("5")); ok {
		t.Errorf("an int differs from the number that it is written as by %s", jsonval.Encode(d))
	}
}

func TestWhatADeltaLeavesIsSharedAndWhatItChangesIsCopied(t *testing.T) {
	t.Parallel()
	from := modeltest.DecodeJSON(t, `{"a":{"x":1},"b":{"y":[1]}}`).(map[string]any)
	got, err := jsonval.ApplyDelta(from, modeltest.DecodeJSON(t, `{"~":{"b":{"~":{"y":{"+":[2]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got.(map[string]any)["a"].(map[string]any)["x"] = "shared"
	got.(map[string]any)["b"].(map[string]any)["y"].([]any)[0] = "own"
	if string(jsonval.Encode(from)) != `{"a":{"x":"shared"},"b":{"y":[1]}}` {
		t.Errorf("%s", jsonval.Encode(from))
	}
}

func TestWhatIsNoDeltaIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, delta string }{
		{`{}`, `[]`}, {`{}`, `null`}, {`1`, `{"~":{}}`}, {`"x"`, `{"+":5}`}, {`"x"`, `{}`},
		{`{"a":1}`, `{"~":{"a":{"~":{"b":{"=":1}}}}}`},
		{`{"a":1}`, `{"~":{"b":{"~":{}}}}`}, {`{"a":1}`, `{"~":{"a":7}}`}, {`[1]`, `{"~":{"1":{"=":1}}}`},
		{`[1]`, `{"~":{"-1":{"=":1}}}`},
		{`[1]`, `{"~":{"x":{"=":1}}}`}, {`[1]`, `{"-":2}`}, {`[1]`, `{"-":-1}`}, {`[1]`, `{"-":"0"}`},
		{`[1,2]`, `{"-":1,"~":{"1":{"=":3}}}`},
	} {
		if v, err := jsonval.ApplyDelta(modeltest.DecodeJSON(t, c.from),
			modeltest.DecodeJSON(t, c.delta)); !errors.Is(err, jsonval.ErrNoDelta) {
			t.Errorf("%s on %s gives %s, %v", c.delta, c.from, jsonval.Encode(v), err)
		}
	}
}

// drawnJSON draws values with few keys and few leaves, so that two of them have much in common.
func drawnJSON(depth int) *rapid.Generator[any] {
	leaf := rapid.SampledFrom([]any{nil, true, json.Number("1"), json.Number("1.0"), "", "=", strings.Repeat("é", 40),
		strings.Repeat("é", 40) + "~"})
	if depth == 0 {
		return leaf
	}
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return leaf.Draw(t, "leaf")
		case 1:
			return rapid.SliceOfN(drawnJSON(depth-1), 0, 4).Draw(t, "list")
		}
		return rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "=", "~", "+", "-", "0", ""}), drawnJSON(depth-1), 0,
			4).Draw(t, "object")
	})
}

func TestEveryDeltaLeadsFromOneValueToTheOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from, to := drawnJSON(3).Draw(t, "from"), drawnJSON(3).Draw(t, "to")
		before := jsonval.Encode(from)
		delta, ok := jsonval.ComputeDelta(from, to)
		if ok == jsonval.Equal(from, to) {
			t.Fatalf("changed: %v", ok)
		}
		if !ok {
			return
		}
		kept := modeltest.DecodeJSON(t, string(jsonval.Encode(delta)))
		got, err := jsonval.ApplyDelta(from, kept)
		if err != nil || !jsonval.Equal(got, to) {
			t.Fatalf("%s leads to %s, %v", jsonval.Encode(kept), jsonval.Encode(got), err)
		}
		if string(jsonval.Encode(from)) != string(before) {
			t.Fatalf("the value before became %s", jsonval.Encode(from))
		}
	})
}

func TestNoDeltaHoweverOddPanics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := drawnJSON(3).Draw(t, "from")
		before := jsonval.Encode(from)
		_, _ = jsonval.ApplyDelta(from, drawnJSON(4).Draw(t, "delta"))
		if string(jsonval.Encode(from)) != string(before) {
			t.Fatalf("the value before became %s", jsonval.Encode(from))
		}
	})
}
