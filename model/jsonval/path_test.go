package jsonval_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
)

func TestAPathIsReadInAnyOfItsForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]jsonval.Path{
		"":                     {},
		"a":                    {"a"},
		"a.b":                  {"a", "b"},
		"a[0].b":               {"a", "0", "b"},
		"a.0.b":                {"a", "0", "b"},
		"[2]":                  {"2"},
		`a["any key"]`:         {"a", "any key"},
		`["x.y"].z`:            {"x.y", "z"},
		`a[""]`:                {"a", ""},
		`a["\"\\\u2020\n"]`:    {"a", "\"\\†\n"},
		`["]"]["["]`:           {"]", "["},
		"user name.first-name": {"user name", "first-name"},
		"ä.é":                  {"ä", "é"},
	} {
		if got, err := jsonval.ParsePath(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	}
}

func TestAPathIsRefusedWhen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"it begins with a dot", ".a", "bad step"},
		{"it ends with a dot", "a.", "bad step"},
		{"a step is empty", "a..b", "bad step"},
		{"a step is only space", "a. .b", "bad step"},
		{"a step ends in space", "a .b", "bad step"},
		{"a step holds a dagger", "a.†b", "bad step"},
		{"a step holds a quote", `a"b`, "bad step"},
		{"a bracket is not closed", "a[0", "unclosed ["},
		{"a quote is not closed", `a["x]`, "unclosed ["},
		{"a quoted key is not closed", `a["x"`, "unclosed ["},
		{"a bracket closes that was not opened", "a]", "bad step"},
		{"an index is negative", "a[-1]", "want an index"},
		{"an index is empty", "a[]", "want an index"},
		{"an index is a word", "a[b]", "want an index"},
		{"an index is beyond any list", "a[99999999999]", "want an index"},
		{"something stands behind a bracket", "a[0]b", "want . or ["},
		{"it has too many steps", strings.Repeat("a.", jsonval.MaxPathSteps) + "a", "more than 64 steps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := jsonval.ParsePath(c.text)
			if err == nil {
				t.Fatalf("it is read as %q", p)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error %q does not say %q", err, c.want)
			}
		})
	}
	if _, err := jsonval.ParsePath(strings.Repeat("[", 10_000)); err == nil || len(err.Error()) > 300 {
		t.Error("a long path is not clipped in its error")
	}
}

func TestAPathIsWrittenSoThatItIsReadBack(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]jsonval.Path{
		"a.b.0": {"a", "b", "0"}, `["a.b"].c`: {"a.b", "c"}, `a["x y"]`: {"a", "x y"}, `[""]`: {""},
		`a["†"]`:      {"a", "†"},
		`["\u00a0x"]`: {"\u00a0x"}, `["it's"]`: {"it's"},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAnyPathIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := jsonval.Path(rapid.SliceOfN(modeltest.AnyText(), 0, 5).Draw(rt, "path"))
		back, err := jsonval.ParsePath(p.String())
		if err != nil || len(back) != len(p) || !back.IsAtOrBelow(p) {
			rt.Fatalf("%q is written %s and read as %q, %v", p, p, back, err)
		}
		var inJSON jsonval.Path
		data, err := json.Marshal(p)
		if err == nil {
			err = json.Unmarshal(data, &inJSON)
		}
		if err != nil || inJSON.String() != p.String() {
			rt.Fatalf("%q is %s in JSON and read as %q, %v", p, data, inJSON, err)
		}
	})
}

func TestAPathInJSONIsAString(t *testing.T) {
	t.Parallel()
	var p jsonval.Path
	for _, text := range []string{`7`, `{}`, `"a..b"`} {
		if json.Unmarshal([]byte(text), &p) == nil {
			t.Errorf("%s was read as %q", text, p)
		}
	}
	call := ideafile.Call{OutputPath: refexpr.NewOutputPath(jsonval.Path{})} // the whole State is not no path
	data, err := json.Marshal(call)
	var back ideafile.Call
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil || !back.OutputPath.WritesWholeState() {
		t.Errorf("the whole State came back as %v, %v", back.OutputPath, err)
	}
}

func TestTwoPathsOverlapWhenOneLiesWithinTheOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p, q             string
		within, overlaps bool
	}{
		{"a", "a", true, true}, {"a.b", "a", true, true}, {"a", "a.b", false, true}, {"a", "b", false, false},
		{"a.b", "a.c", false, false}, {"ab", "a", false, false}, {"a", "", true, true}, {"", "a", false, true},
		{"", "", true, true},
		{"a[0]", "a.0", true, true},
	} {
		p, _ := jsonval.ParsePath(c.p)
		q, _ := jsonval.ParsePath(c.q)
		if p.IsAtOrBelow(q) != c.within || p.Overlaps(q) != c.overlaps || q.Overlaps(p) != c.overlaps {
			t.Errorf("%q and %q: within %v, overlaps %v and %v", c.p, c.q, p.IsAtOrBelow(q), p.Overlaps(q),
				q.Overlaps(p))
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	v := modeltest.MustDecodeJSON(`{"a":{"b":null,"c":[10,{"d":false}]},"":1,"0":"key"}`)
	for _, c := range []struct{ name, path, want string }{
		{"the whole is there", "", string(jsonval.Encode(v))},
		{"null that is there is found", "a.b", "null"},
		{"nothing is below null", "a.b.x", ""},
		{"an element is found by its index", "a.c[1].d", "false"},
		{"an index too large finds nothing", "a.c[2]", ""},
		{"a list has no keys", "a.c.d", ""},
		{"an index with a zero in front is none", "a.c.00", ""},
		{"an index with a sign is none", "a.c.+1", ""},
		{"an index may be a key", "0", `"key"`},
		{"a key may be empty", `[""]`, "1"},
		{"a key that is not there is not found", "x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := jsonval.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := jsonval.ValueAt(v, p)
			if ok != (c.want != "") || ok && string(jsonval.Encode(got)) != c.want {
				t.Errorf("got %s, %v", jsonval.Encode(got), ok)
			}
		})
	}
}

func TestPut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, into, path, want string }{
		{"the whole is replaced", `{"a":1}`, "", `"x"`},
		{"a key is added", `{"a":1}`, "b", `{"a":1,"b":"x"}`},
		{"a value is replaced", `{"a":1}`, "a", `{"a":"x"}`},
		{"objects are made on the way", `{}`, "a.b.c", `{"a":{"b":{"c":"x"}}}`},
		{"what stands beside is kept", `{"a":{"b":1},"c":[2]}`, "a.d", `{"a":{"b":1,"d":"x"},"c":[2]}`},
		{"text is in the way", `{"a":"text"}`, "a.b", ``},
		{"a list is in the way", `{"a":[1]}`, "a[0]", ``},
		{"a number far above is in the way", `{"a":1}`, "a.b.c.d", ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := modeltest.MustDecodeJSON(c.into)
			p, err := jsonval.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := jsonval.SetAt(before, p, "x")
			if ok != (c.want != "") || ok && string(jsonval.Encode(got)) != c.want {
				t.Errorf("got %s, %v", jsonval.Encode(got), ok)
			}
			if string(jsonval.Encode(before)) != c.into {
				t.Errorf("what was there was changed to %s", jsonval.Encode(before))
			}
		})
	}
}

func TestWhatWasPutIsFoundAndNothingElseIsChanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := map[string]any{"a": modeltest.AnyJSON(3).Draw(rt, "a"), "b": modeltest.AnyJSON(3).Draw(rt, "b")}
		before := string(jsonval.Encode(v))
		p := jsonval.Path(append([]string{"a"}, rapid.SliceOfN(modeltest.AnyText(), 0, 3).Draw(rt, "path")...))
		out, ok := jsonval.SetAt(v, p, "new")
		if string(jsonval.Encode(v)) != before {
			rt.Fatal("put changed the value it was given")
		}
		if !ok {
			return
		}
		if got, found := jsonval.ValueAt(out, p); !found || got != "new" {
			rt.Fatalf("at %s there is %v", p, got)
		}
		if !jsonval.Equal(out.(map[string]any)["b"], v["b"]) {
			rt.Fatal("what stands beside the path was changed")
		}
	})
}

func TestClipKeepsWholeLetters(t *testing.T) {
	t.Parallel()
	if got := jsonval.Clip("äöüß", 3); got != "äöü…" {
		t.Errorf("got %q", got)
	}
	if got := jsonval.Clip("äöü", 3); got != "äöü" {
		t.Errorf("got %q", got)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"", "a.b", "a[0].b", `a["x"]`, `["\xff"]`, `["\u2020"]`, "a..b", "[", `["`, "a[0]b",
		"\u00a0", "†", strings.Repeat("a.", 100), `["` + "`" + `"]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := jsonval.ParsePath(text)
		if err != nil {
			return
		}
		back, err := jsonval.ParsePath(p.String())
		if err != nil || !reflect.DeepEqual(back, p) {
			t.Fatalf("%q is read as %q, written as %s and read as %q, %v", text, p, p, back, err)
		}
	})
}
