package refexpr_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
)

func TestAReferenceIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]refexpr.Reference{
		"†state.user.name":        {Kind: "state", Path: jsonval.Path{"user", "name"}},
		"†input.rules[0]":         {Kind: "input", Path: jsonval.Path{"rules", "0"}},
		"†state.items.2.id":       {Kind: "state", Path: jsonval.Path{"items", "2", "id"}},
		"†state":                  {Kind: "state", Path: jsonval.Path{}},
		"†input[0]":               {Kind: "input", Path: jsonval.Path{"0"}},
		`†state["any key"].x`:     {Kind: "state", Path: jsonval.Path{"any key", "x"}},
		"†weather.today":          {Kind: "weather", Path: jsonval.Path{"today"}},
		`†state["†not a dagger"]`: {Kind: "state", Path: jsonval.Path{"†not a dagger"}},
	} {
		if got, err := refexpr.ParseReference(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
}

func TestAReferenceIsRefusedWhen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"it has no dagger", "state.a", "must begin with †"},
		{"it has two", "††state.a", "bad kind"},
		{"it names no kind", "†", "bad kind"},
		{"it names no kind before the path", "†.a", "bad kind"},
		{"its kind has space around it", "† state.a", "bad kind"},
		{"nothing stands behind its dot", "†state.", "nothing behind the dot"},
		{"its path is broken", "†state.a..b", "bad step"},
		{"a bracket is not closed", "†state[0", "unclosed ["},
		{"it has two dots", "†state..a", "bad step"},
		{"it is an expression with ||", "†state.a || †state.b", "one place is wanted"},
		{"it is an expression with &&", "†state.a&&†state.b", "one place is wanted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := refexpr.ParseReference(c.text)
			if err == nil {
				t.Fatalf("it is read as %+v", r)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestAStringIsAReferenceWhenItBeginsWithOneDagger(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"†state.a": true, "†": true, "†nonsense ": true, "††state.a": false, "†††": false, "state.a": false, "": false,
		"a †state.a": false, " †state": false,
	} {
		if refexpr.IsExpressionOrTemplate(text) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

func TestAReferenceIsWrittenSoThatItIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		step := modeltest.AnyText().Filter(func(s string) bool {
			return !strings.Contains(s, "||") && !strings.Contains(s, "&&")
		})
		r := refexpr.Reference{Kind: rapid.SampledFrom([]string{"state", "input", "wetter-ä", "x y"}).Draw(rt, "kind"),
			Path: jsonval.Path(rapid.SliceOfN(step, 0, 4).Draw(rt, "path"))}
		back, err := refexpr.ParseReference(r.String())
		if err != nil || back.Kind != r.Kind || back.Path.String() != r.Path.String() {
			rt.Fatalf("%+v is written %s and read as %+v, %v", r, r, back, err)
		}
	})
}

func TestReferencesAreFoundAtAnyDepthInAFixedOrder(t *testing.T) {
	t.Parallel()
	v := modeltest.MustDecodeJSON(
		`{"z":"†state.z","a":["†input.a",{"y":"†state","x":"††state.no"}],"m":{"†state.key":"plain"},"n":[1,null,true]}`)
	for range 20 {
		refs, err := refexpr.FindReferences(v)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range refs {
			got = append(got, r.String())
		}
		if s := strings.Join(got, " "); s != "†input.a †state †state.z" {
			t.Fatalf("got %s", s)
		}
	}
}

func TestABadReferenceIsAnErrorAtAnyDepth(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"†"`, `["†state..a"]`, `{"a":{"b":["ok","†state.a || b"]}}`} {
		if _, err := refexpr.FindReferences(modeltest.MustDecodeJSON(text)); err == nil {
			t.Errorf("%s holds no bad Reference", text)
		}
		if _, err := refexpr.ResolveReferences(modeltest.MustDecodeJSON(text),
			func(refexpr.Reference) (any, bool) { return "x", true }); err == nil {
			t.Errorf("%s was resolved", text)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	data := map[string]any{
		"null": nil, "text": "plain", "ref": "†state.text", "escaped": "††x", "handle": map[string]any{"††blob": "x"},
		"deep": modeltest.MustDecodeJSON(`{"list":["†state.text",{"†state.text":"†state"}]}`),
	}
	for _, c := range []struct{ name, params, want string }{
		{"a value takes the place of its Reference", `{"p":"†state.text"}`, `{"p":"plain"}`},
		{"at any depth", `{"p":[{"q":["†state.text"]}]}`, `{"p":[{"q":["plain"]}]}`},
		{"null that is there counts as present", `["†state.null"]`, `[null]`},
		{"two daggers stand for one", `["††state.text","†††","††"]`, `["†state.text","††","†"]`},
		{"a dagger in the middle stands for itself", `"a †state.text"`, `"a †state.text"`},
		{"a key is never a Reference", `{"†state.text":1}`, `{"†state.text":1}`},
		{"data that looks like a Reference arrives as that text", `["†state.ref"]`, `["†state.text"]`},
		{"data with two daggers keeps them", `["†state.escaped"]`, `["††x"]`},
		{"data deep down is not read either", `"†state.deep"`, `{"list":["†state.text",{"†state.text":"†state"}]}`},
		{"data that looks like a handle stays as it is", `"†state.handle"`, `{"††blob":"x"}`},
		{"a literal is left alone", `[1,true,null,"x",{}]`, `[1,true,null,"x",{}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			params := modeltest.MustDecodeJSON(c.params)
			got, err := refexpr.ResolveReferences(params,
				func(r refexpr.Reference) (any, bool) { return refexpr.ValueOrBlobHandleAt(data, r.Path) })
			if err != nil || string(jsonval.Encode(got)) != c.want {
				t.Errorf("got %s, %v", jsonval.Encode(got), err)
			}
			if string(jsonval.Encode(params)) != c.params {
				t.Errorf("the parameters were changed to %s", jsonval.Encode(params))
			}
		})
	}
}

func TestAReferenceThatFindsNothingIsNamed(t *testing.T) {
	t.Parallel()
	_, err := refexpr.ResolveReferences(modeltest.MustDecodeJSON(`{"a":["†state.x[1]"]}`),
		func(refexpr.Reference) (any, bool) { return nil, false })
	if err == nil || !strings.Contains(err.Error(), "reference †state.x.1: nothing there") {
		t.Errorf("got %v", err)
	}
}

func TestWhateverTheDataHoldsItArrivesAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		data := modeltest.AnyJSON(4).Draw(rt, "data")
		got, err := refexpr.ResolveReferences(map[string]any{"p": []any{"†state.x"}},
			func(refexpr.Reference) (any, bool) { return data, true })
		if err != nil || !jsonval.Equal(got, map[string]any{"p": []any{data}}) {
			rt.Fatalf("%s arrives as %s, %v", jsonval.Encode(data), jsonval.Encode(got), err)
		}
	})
}

func TestAReferenceMayReachIntoAStoredValue(t *testing.T) {
	t.Parallel()
	object := jsonval.BlobHandle{Digest: "d", Size: 99, ValueType: "object"}
	state := map[string]any{"big": object.AsJSONValue(),
		"text": jsonval.BlobHandle{Digest: "t", Size: 99, ValueType: "string"}.AsJSONValue()}
	inside := jsonval.BlobHandle{Digest: "d", Size: 99, ValueType: "object", PathInValue: "a"}
	state["part"] = inside.AsJSONValue()
	for _, c := range []struct{ name, path, want string }{
		{"the value itself is its handle", "big", string(jsonval.Encode(object.AsJSONValue()))},
		{"what is inside is the handle with the rest of the path", "big.a[0]",
			`{"†blob":{"digest":"d","path":"a.0","size":99,"type":"object"}}`},
		{"of a part, the path goes on", "part.b", `{"†blob":{"digest":"d","path":"a.b","size":99,"type":"object"}}`},
		{"there is nothing inside a text", "text.a", ""},
		{"a handle's own fields are out of reach", `big["†blob"].digest`,
			`{"†blob":{"digest":"d","path":"[\"†blob\"].digest","size":99,"type":"object"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := jsonval.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := refexpr.ValueOrBlobHandleAt(state, p)
			if ok != (c.want != "") || ok && string(jsonval.Encode(got)) != c.want {
				t.Errorf("got %s, %v", jsonval.Encode(got), ok)
			}
		})
	}
}

func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{"†state", "†state.a", "†input[0].b", `†state["x"]`, "†", "††", "†a||†b", "†state.",
		"†state..", "†\xff", "†state[\"\\xff\"]", "† "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := refexpr.ParseReference(text)
		if err != nil {
			return
		}
		if !refexpr.IsExpressionOrTemplate(text) {
			t.Fatalf("%q is read as %+v, but is none", text, r)
		}
		back, err := refexpr.ParseReference(r.String())
		if err != nil || !reflect.DeepEqual(back, r) {
			t.Fatalf("%q is read as %+v, written as %s and read as %+v, %v", text, r, r, back, err)
		}
	})
}
