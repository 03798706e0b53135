package jsonval_test

import (
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestAHandleIsReadBackFromState(t *testing.T) {
	t.Parallel()
	for _, h := range []jsonval.BlobHandle{{Digest: "ab12", Size: 70_000, ValueType: "object"},
		{Digest: "ff", Size: 1, ValueType: "string", PathInValue: "a[0]"}} {
		v, err := jsonval.Decode(jsonval.Encode(h.AsJSONValue())) // as it comes back from history
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := jsonval.AsBlobHandle(v); !ok || got != h {
			t.Errorf("%+v came back as %+v, %v", h, got, ok)
		}
	}
}

func TestWhatIsNoHandle(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"text":                               `"†blob"`,
		"an object with another key beside":  `{"†blob":{"digest":"x"},"a":1}`,
		"an object whose value is text":      `{"†blob":"x"}`,
		"an object whose value is null":      `{"†blob":null}`,
		"an object whose key has one dagger": `{"blob":{"digest":"x"}}`,
		"an escaped look-alike":              `{"††blob":{"digest":"x"}}`,
		"a list with one":                    `[{"†blob":{}}]`,
		"null":                               `null`,
	} {
		if h, ok := jsonval.AsBlobHandle(modeltest.MustDecodeJSON(text)); ok {
			t.Errorf("%s is read as %+v", name, h)
		}
	}
}

func TestAHandleIsFoundAtAnyDepth(t *testing.T) {
	t.Parallel()
	h := jsonval.BlobHandle{Digest: "x", ValueType: "array"}.AsJSONValue()
	for name, c := range map[string]struct {
		v    any
		want bool
	}{
		"itself":       {h, true},
		"in an object": {map[string]any{"a": 1, "b": map[string]any{"c": h}}, true},
		"in a list":    {[]any{nil, []any{h}}, true},
		"nowhere":      {map[string]any{"†blob": "x", "a": []any{"†blob"}}, false},
		"in nothing":   {nil, false},
	} {
		if jsonval.ContainsBlobHandle(c.v) != c.want {
			t.Errorf("%s: not %v", name, c.want)
		}
	}
}

func TestEscapedDataIsNeverAHandle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"†blob":{"digest":"x"}}`:         `{"††blob":{"digest":"x"}}`,
		`{"††blob":1}`:                     `{"†††blob":1}`,
		`{"†blob":{"†blob":{}}}`:           `{"††blob":{"††blob":{}}}`,
		`[{"a":{"†blob":"x"}}]`:            `[{"a":{"††blob":"x"}}]`,
		`{"a":2,"†blob":1}`:                `{"a":2,"†blob":1}`,
		`{"blob":1}`:                       `{"blob":1}`,
		`{"x†blob":1}`:                     `{"x†blob":1}`,
		`{"†state.a":"†state.a","b":"††"}`: `{"b":"††","†state.a":"†state.a"}`,
	} {
		got := jsonval.EscapeBlobHandles(modeltest.MustDecodeJSON(in))
		if string(jsonval.Encode(got)) != want {
			t.Errorf("%s became %s, want %s", in, jsonval.Encode(got), want)
		}
		if back := jsonval.UnescapeBlobHandles(got); !jsonval.Equal(back, modeltest.MustDecodeJSON(in)) {
			t.Errorf("%s came back as %s", in, jsonval.Encode(back))
		}
	}
}

func TestEscapingIsUndoneWhateverTheData(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := modeltest.AnyJSON(4).Draw(rt, "value")
		before := string(jsonval.Encode(v))
		safe := jsonval.EscapeBlobHandles(v)
		if jsonval.ContainsBlobHandle(safe) {
			rt.Fatalf("%s holds a handle", jsonval.Encode(safe))
		}
		if back := jsonval.UnescapeBlobHandles(safe); !jsonval.Equal(back, v) {
			rt.Fatalf("%s came back as %s", before, jsonval.Encode(back))
		}
		if string(jsonval.Encode(v)) != before {
			rt.Fatal("Escape changed the value it was given")
		}
	})
}
