package jsonval_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"a key that stands twice", `{"a":1,"b":{"c":1,"c":2}}`, "$.b.c: the key stands twice"},
		{"a key that stands twice, once escaped", `{"a":1,"\u0061":2}`, "$.a: the key stands twice"},
		{"the same key twice in an object inside a list", `[1,{"x y":1,"x y":1}]`, `$[1]["x y"]: the key stands twice`},
		{"bytes that are no UTF-8", "\"\xff\"", "UTF-8"},
		{"text behind the value", `{} x`, "text after the value, at byte"},
		{"a second value", `1 2`, "text after the value"},
		{"a number whose exponent is absurd", `[1e10000000]`, "$[0]: the number 1e10000000 is out of range"},
		{"a number whose exponent is merely too large", `{"n":1e1000000}`, "$.n: the number 1e1000000 is out of range"},
		{"a number whose exponent is no int", `1e99999999999999999999`, "out of range"},
		{"a number that is next to nothing", `1e-1000000`, "out of range"},
		{"a number over float64, though its exponent is not", `10e308`, "out of range"},
		{"a number of a thousand and one characters", strings.Repeat("9", jsonval.DefaultLimits.MaxNumberBytes+1),
			"a number of 1001 characters"},
		{"objects nested too deep", strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200),
			"nested deeper than 128"},
		{"lists nested too deep", strings.Repeat(`[`, 100_000), "nested deeper than 128"},
		{"a text that ends inside an object", `{"a":1`, "the text ends at byte 6"},
		{"a text that ends inside a string", `{"a`, "unexpected EOF"},
		{"an empty text", ``, "the text ends at byte 0"},
		{"a bare word", `nan`, "invalid character"},
		{"a comma too many", `[1,]`, "invalid character"},
		{"a key that is no string", `{1:2}`, "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := jsonval.Decode([]byte(c.text))
			if err == nil {
				t.Fatalf("got %s", jsonval.Encode(v))
			}
			if !strings.HasPrefix(err.Error(), "model: decode JSON: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestDecodeKeepsNumbersAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"0", "-0", "1.0", "1.10", "12345678901234567890123", "1E+5", "1e308",
		"-1e-308", "0.1000"} {
		v, err := jsonval.Decode([]byte(n))
		if err != nil || v != json.Number(n) || string(jsonval.Encode(v)) != n {
			t.Errorf("%s came back as %v, %v", n, v, err)
		}
	}
}

func TestDecodeTakesWhatIsAtItsBounds(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, jsonval.DefaultLimits.MaxDepth) + "1" +
		strings.Repeat(`]`, jsonval.DefaultLimits.MaxDepth)
	for _, text := range []string{deep, strings.Repeat("9", jsonval.DefaultLimits.MaxNumberBytes), " null\n"} {
		if _, err := jsonval.Decode([]byte(text)); err != nil {
			t.Errorf("%.20s…: %s", text, err)
		}
	}
}

func TestOtherBoundsHoldForDecodeWithin(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, 200) + "1" + strings.Repeat(`]`, 200)
	long := strings.Repeat("9", 350) // an integer beyond float64
	for _, c := range []struct {
		text   string
		bounds jsonval.DecodeLimits
		want   string
	}{
		{deep, jsonval.DecodeLimits{}, ""}, {deep, jsonval.DecodeLimits{MaxDepth: 200}, ""},
		{deep, jsonval.DecodeLimits{MaxDepth: 199}, "nested deeper than 199"},
		{long, jsonval.DecodeLimits{MaxNumberBytes: 350}, ""},
		{long, jsonval.DecodeLimits{MaxNumberBytes: 349}, "a number of 350 characters"},
		{long, jsonval.DecodeLimits{MaxNumberBytes: 350, IntegersFitFloat64: true}, "out of range"},
		{`{"a":[1e999]}`, jsonval.DecodeLimits{MaxNumberBytes: 5}, "$.a[0]: the number 1e999 is out of range"},
		{"1e10000000", jsonval.DecodeLimits{}, ""}, {`{"a":1,"a":2}`, jsonval.DecodeLimits{}, "stands twice"},
	} {
		v, err := jsonval.DecodeWithLimits([]byte(c.text), c.bounds)
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.20s within %+v: %v", c.text, c.bounds, err)
		}
		if err == nil && c.bounds.CheckNumbers(v) != nil {
			t.Errorf("%.20s: its numbers are refused afterwards", c.text)
		}
	}
	if err := (jsonval.DecodeLimits{MaxNumberBytes: 5}).CheckNumbers(
		[]any{map[string]any{"a": json.Number("1e999")}}); err == nil {
		t.Error("a number within a list is not checked")
	}
}

func TestHalfACharacterIsFoundInATextAndNotBehindABackslash(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{`"\ud83d\ude00"`: true, `"\\ud800"`: true, `"a\n\u00e4"`: true, `"\\\\"`: true,
		`"\ud800"`: false, `"\udc00\ud800"`: false, `"\uD83D\u0041"`: false, `{"\\\ud83d": 1}`: false, `"\ud83d\n"`: false} {
		_, err := jsonval.DecodeWithLimits([]byte(text), jsonval.DecodeLimits{RefusesLoneSurrogates: true})
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := jsonval.Decode([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDecodeObjectWantsAnObject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`[]`: "array", `"a"`: "string", `null`: "null", `1`: "number",
		`true`: "boolean"} {
		if _, err := jsonval.DecodeObject([]byte(text)); err == nil || !strings.Contains(err.Error(), "got "+want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if m, err := jsonval.DecodeObject([]byte(`{"a":null}`)); err != nil || len(m) != 1 {
		t.Errorf("an object came back as %v, %v", m, err)
	}
	if _, err := jsonval.DecodeObject([]byte(`{`)); err == nil {
		t.Error("half an object was taken")
	}
}

func TestACutTextIsNeverAValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		whole := jsonval.Encode(map[string]any{"v": modeltest.AnyJSON(3).Draw(rt, "value")})
		cut := rapid.IntRange(0, len(whole)-1).Draw(rt, "cut")
		if v, err := jsonval.Decode(whole[:cut]); err == nil {
			rt.Fatalf("%s was read as %s", whole[:cut], jsonval.Encode(v))
		}
	})
}

func TestEncodeGivesCanonicalBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"keys are sorted, by bytes", `{"b":1,"a":2,"B":3,"ä":4,"":5}`, `{"":5,"B":3,"a":2,"b":1,"ä":4}`},
		{"there is no white space", "[ 1 , { } ,\n[ ] ]", `[1,{},[]]`},
		{"HTML is not escaped", `"<a href='x'>&</a>"`, `"<a href='x'>&</a>"`},
		{"line separators are not escaped", `"\u2028\u2029\u007f"`, "\"\u2028\u2029\u007f\""},
		{"control characters are", `"\u0000\b\f\n\r\t\u001f\"\\\/"`, `"\u0000\b\f\n\r\t\u001f\"\\/"`},
		{"letters are never escaped", `"\u00e9\ud83d\ude00†"`, `"é😀†"`},
		{"null, true and false stand for themselves", `[null,true,false]`, `[null,true,false]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(jsonval.Encode(modeltest.MustDecodeJSON(c.text))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestEveryByteIsEncodedWhereverItStands(t *testing.T) {
	t.Parallel()
	around := strings.Repeat("x", 20)
	for c := range 256 {
		for at := range len(around) + 1 {
			text := around[:at] + string([]byte{byte(c)}) + around[at:]
			got := string(jsonval.Encode(text))
			var back string
			if err := json.Unmarshal([]byte(got), &back); err != nil || !utf8.ValidString(got) ||
				back != strings.ToValidUTF8(text, "\ufffd") {
				t.Fatalf("%q became %s, which is %q: %v", text, got, back, err)
			}
			if byItself := c >= ' ' && c < 0x80 && c != '"' && c != '\\'; byItself && got != `"`+text+`"` {
				t.Fatalf("%q became %s", text, got)
			}
		}
	}
}

func TestWhatWasLentIsWrittenAnewForTheNext(t *testing.T) {
	t.Parallel()
	for _, v := range []any{"a long text", "short", nil} {
		jsonval.EncodeToPooledBuffer(v, func(data []byte) {
			if !bytes.Equal(data, jsonval.Encode(v)) {
				t.Errorf("%v was lent as %s", v, data)
			}
		})
	}
}

func TestAJSONValueIsToldFromGoValues(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		v  any
		is bool
	}{
		"a decoded value": {jsonval.Object{"a": []any{nil, true, "ä", json.Number("1.50"), jsonval.Object{}}}, true},
		"an int in it":    {[]any{jsonval.Object{"a": 1}}, false},
		"a typed list":    {jsonval.Object{"a": []string{"x"}}, false},
		"no map":          {jsonval.Object(nil), false},
		"a broken text":   {jsonval.Object{"a": "\xff"}, false},
		"no number":       {json.Number("1x"), false},
	} {
		if jsonval.IsJSONValue(c.v) != c.is {
			t.Errorf("%s: that it is a JSON value is not %v", what, c.is)
		}
	}
}

func TestEncodeTakesGoValues(t *testing.T) {
	t.Parallel()
	v := map[string]any{"h": jsonval.BlobHandle{Digest: "d", Size: 3, ValueType: "object"}, "n": 7,
		"list": []string{"<"}}
	if got, want := string(jsonval.Encode(v)),
		`{"h":{"digest":"d","size":3,"type":"object"},"list":["<"],"n":7}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if jsonval.ToJSONValue(func() {}) != nil {
		t.Error("what is no JSON is null")
	}
}

func TestAnOrderedObjectKeepsItsOrder(t *testing.T) {
	t.Parallel()
	o := jsonval.OrderedObject{{Key: "b", Value: 1},
		{Key: "a", Value: jsonval.OrderedObject{{Key: "z", Value: nil}, {Key: "y", Value: "<"}}}}
	const want = `{"b":1,"a":{"z":null,"y":"<"}}`
	if got := string(jsonval.Encode(o)); got != want {
		t.Errorf("got %s", got)
	}
	if got, _ := o.MarshalJSON(); string(got) != want {
		t.Errorf("as a marshaler it gives %s", got)
	}
}

func TestWhatIsEncodedIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := modeltest.AnyJSON(4).Draw(rt, "value")
		data := jsonval.Encode(v)
		back, err := jsonval.Decode(data)
		if err != nil || !reflect.DeepEqual(back, v) {
			rt.Fatalf("%s came back as %#v, %v", data, back, err)
		}
		// Any other reader must see the same.
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		var other any
		if err := d.Decode(&other); err != nil || !reflect.DeepEqual(other, v) {
			rt.Fatalf("encoding/json reads %s as %#v, %v", data, other, err)
		}
	})
}

func TestCanonicalBytesDoNotDependOnTheOrderOfKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		v := modeltest.AnyJSON(4).Draw(rt, "value")
		seed := rapid.Uint64().Draw(rt, "seed")
		text := shuffledJSON(v, rand.New(rand.NewPCG(seed, 0)))
		back, err := jsonval.Decode([]byte(text))
		if err != nil || !bytes.Equal(jsonval.Encode(back), jsonval.Encode(v)) {
			rt.Fatalf("%s became %s, %v", text, jsonval.Encode(back), err)
		}
		if !jsonval.Equal(back, v) {
			rt.Fatal("the two are not Equal")
		}
	})
}

func TestEqualTellsNumbersApartByHowTheyAreWritten(t *testing.T) {
	t.Parallel()
	if jsonval.Equal(json.Number("1"), json.Number("1.0")) || jsonval.Equal("1", json.Number("1")) ||
		jsonval.Equal(nil, false) {
		t.Error("different bytes are equal")
	}
	if !jsonval.Equal(map[string]any{"a": []any{nil}}, modeltest.MustDecodeJSON(`{ "a": [null] }`)) {
		t.Error("the same bytes are not equal")
	}
}

func TestTypeOfNamesEveryType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`{}`: "object", `[]`: "array", `""`: "string", `1`: "number",
		`true`: "boolean", `null`: "null"} {
		if got := jsonval.TypeOf(modeltest.MustDecodeJSON(text)); got != want {
			t.Errorf("%s is called %s", text, got)
		}
	}
}

func TestAJSONPathQuotesKeysThatAreNoNames(t *testing.T) {
	t.Parallel()
	for want, steps := range map[string][]string{
		`$`: nil, `$.a.b`: {"a", "b"}, `$["a.b"]`: {"a.b"}, `$[""]`: {""}, `$.a["x y"]["q\""]`: {"a", "x y", `q"`},
		`$["[0]"]`: {"[0]"},
	} {
		if got := jsonval.JSONPathWithKeys("$", steps...); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[1,2,{"a":null}]`, `1e10000000`, `-1e-1000000`, `{"a":1,"a":1}`, "\"\xff\xfe\"", `"\ud800"`,
		`"\ud800\udc00"`, `[[[[]]]]`,
		strings.Repeat(`[`, 200), strings.Repeat(`{"a":`, 140), `{"†blob":{}}`, `nul`, `"\u0000"`, `0123`, `+1`, `1.`,
		`-`, "\ufeff{}", ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := jsonval.Decode(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON", data)
		}
		once := jsonval.Encode(v)
		again, err := jsonval.Decode(once)
		if err != nil || !bytes.Equal(jsonval.Encode(again), once) {
			t.Fatalf("%q: its canonical bytes %q are read as %v, %v", data, once, again, err)
		}
	})
}

// shuffledJSON writes a value with its keys in any order and white space between.
func shuffledJSON(v any, r *rand.Rand) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for k, e := range v {
			parts = append(parts, fmt.Sprintf("%s : %s", jsonval.Encode(k), shuffledJSON(e, r)))
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return "{ " + strings.Join(parts, "\n, ") + " }"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, shuffledJSON(e, r))
		}
		return "[" + strings.Join(parts, " ,") + "]"
	}
	return string(jsonval.Encode(v))
}

func TestTheOrderOfPropertiesIsToldUnlessTheyAreSorted(t *testing.T) {
	t.Parallel()
	v, order, err := jsonval.DecodeWithKeyOrder([]byte(`{"z": {"c": 1, "a": 2}, "properties": {"c": 1, "properties": {"z": 1, "b": 2},
		"a": {"properties": {"a": 1, "b": 2}}}, "list": [{"properties": [{"b": 1, "a": 2}]}, {"properties": {"é": 1, "d": {}}}]}`),
		jsonval.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	properties := jsonval.Lookup(v, "properties")
	for want, of := range map[string]any{
		"c properties a": properties, "z b": jsonval.Lookup(properties, "properties"),
		"é d": jsonval.Lookup(jsonval.Lookup(v, "list").([]any)[1], "properties"),
	} {
		if got := strings.Join(order.KeysOf(of.(jsonval.Object)), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if len(order) != 3 || order.KeysOf(nil) != nil || jsonval.KeyOrder(nil).KeysOf(jsonval.Object{}) != nil {
		t.Errorf("more is told than asked: %v", order)
	}
}
