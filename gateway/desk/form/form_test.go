package form_test

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/gateway/desk/form"
	"processidea/gateway/desk/wording"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// sent is what a browser sends of a form that nobody touched.
func sent(f *form.Field) url.Values {
	values := url.Values{}
	collect(f, values)
	return values
}

func collect(f *form.Field, to url.Values) {
	if f == nil {
		return
	}
	to.Set(f.Name+"~kind", string(f.Kind))
	if f.Presences != nil {
		to.Set(f.Name+"~state", f.Presence)
		to.Set(f.Name+"~was", f.Presence)
	}
	switch f.Kind {
	case form.Fixed:
		return
	case form.Object:
		for _, k := range f.Keys {
			to.Add(f.Name+"~key", k)
		}
		if f.OtherMembers != nil {
			to.Set(f.OtherMembers.Name, f.OtherMembers.Value)
		}
	case form.List:
		to.Set(f.Name+"~count", strconv.Itoa(len(f.Fields)))
	case form.Choice:
		for _, o := range f.Options {
			if o.Selected {
				to.Set(f.Name, o.JSON)
			}
		}
	default: // browsers end lines by CR and LF
		to.Set(f.Name, strings.ReplaceAll(strings.ReplaceAll(f.Value, "\r\n", "\n"), "\n", "\r\n"))
	}
	for _, one := range f.Fields {
		collect(one, to)
	}
}

// find gives a field by the end of its name.
func find(t *testing.T, f *form.Field, name string) *form.Field {
	t.Helper()
	var found *form.Field
	var look func(*form.Field)
	look = func(f *form.Field) {
		if strings.HasSuffix(f.Name, name) {
			found = f
		}
		for _, one := range f.Fields {
			look(one)
		}
	}
	look(f)
	if found == nil {
		t.Fatalf("there is no field %s", name)
	}
	return found
}

func asJSON(v any) string { return string(jsonval.Encode(v)) }

const order = `{"type": "object", "required": ["id", "lines", "to"], "additionalProperties": false, "properties": {
	"id": {"type": "string", "description": "The order."}, "cents": {"type": "integer", "minimum": 1}, "rate": {"type": ["number", "null"]},
	"how": {"enum": ["refund", "exchange", null]}, "express": {"type": "boolean"}, "note": {"anyOf": [{"type": "string", "maxLength": 900}, {"type": "null"}]},
	"to": {"$ref": "#/$defs/address"}, "any": {}, "several": {"type": ["string", "object"]}, "tags": {"type": "object", "additionalProperties": {"type": "string"}},
	"lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "number"}}, "required": ["sku"]}},
	"same": {"const": 7}}, "$defs": {"address": {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/address"}}, "required": ["name"]}}}`

func TestAFormShowsWhatASchemaAllows(t *testing.T) {
	t.Parallel()
	f := form.Form{Schema: modeltest.MustDecodeJSON(order), ControlPrefix: "p"}.NewField(modeltest.MustDecodeJSON(
		`{"id": "A 1", "cents": 1250, "note": null, "to": {"name": "Ann"}, "lines": [{"sku": "x", "n": 1.50}], "several": {"a": 1}}`), true)
	for name, kind := range map[string]form.ControlKind{
		"p": form.Object, "p/id": form.Text, "p/cents": form.Number, "p/rate": form.Number, "p/how": form.Choice,
		"p/express": form.Choice, "p/note": form.LongText,
		"p/to": form.Object, "p/to/name": form.Text, "p/any": form.JSON, "p/several": form.JSON, "p/lines": form.List,
		"p/lines/0/n": form.Number,
		"p/tags":      form.Object, "p/same": form.Choice,
	} {
		if got := find(t, f, name); got.Kind != kind {
			t.Errorf("%s is a %s", name, got.Kind)
		}
	}
	for name, states := range map[string]string{
		"p/id": "", "p/cents": "given: given out", "p/rate": "out: given out null", "p/note": "null: given out null",
		"p/express": "out: given out", "p/any": "out: given out",
	} {
		one := find(t, f, name)
		if got := one.Presence + ": " + strings.Join(one.Presences, " "); got != states &&
			(states != "" || one.Presences != nil) {
			t.Errorf("%s is %s", name, got)
		}
	}
	if id := find(t, f, "p/id"); id.Help != "The order." || !id.Required {
		t.Errorf("%+v", id)
	}
	if cents := find(t, f, "p/cents"); !slices.Equal(cents.Hints, []string{"a whole number", "at least 1"}) {
		t.Errorf("%+v", cents)
	}
}

func TestWhatNobodyTouchedIsReadAsItWas(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{order, `null`, `{}`, `{"type": "object"}`,
		`{"type": "object", "additionalProperties": {"type": "number"}}`} {
		for _, text := range []string{
			`{"id":"A","lines":[],"to":{"name":"Ann"}}`,
			`{"cents":1.0,"rate":12345678901234567890.10,"how":null,"express":false,"same":8}`,
			`{"id":"two\nlines","note":"wind\r\nows","any":{"deep":[1,{"x":1e400}]},"lines":[{"sku":"a","more":true},{"sku":"\u0007"}]}`,
			`{"":1,"a/b":{"c~d":"x","%2F":[]},"~kind":"y","tags":{"k":"v"},"several":"s","to":null}`,
			`{"id":5,"lines":"none","to":{"name":"A","next":{"name":"B"}}}`,
		} {
			f := form.Form{ControlPrefix: "p"}
			if schema != "null" {
				f.Schema = modeltest.MustDecodeJSON(schema)
			}
			v := modeltest.MustDecodeJSON(strings.ReplaceAll(text, "1e400", "1e300"))
			got, errs := f.Read(v, sent(f.NewField(v, true)))
			if asJSON(got) != asJSON(v) || len(errs) > 0 {
				t.Errorf("%s\n%s is read as\n%s %v", schema, asJSON(v), asJSON(got), errs)
			}
		}
	}
}

func TestAnyValueIsReadAsItWas(t *testing.T) {
	t.Parallel()
	schemas := []any{nil, modeltest.MustDecodeJSON(order), map[string]any{}}
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{}
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"id", "cents", "note", "lines", "to", "a/b",
			"~state", "", "x~count"}), 0, 5).Draw(t, "keys") {
			v[k] = value(t, 3)
		}
		f := form.Form{ControlPrefix: "p", Schema: rapid.SampledFrom(schemas).Draw(t, "schema")}
		got, errs := f.Read(v, sent(f.NewField(v, true)))
		if asJSON(got) != asJSON(v) || len(errs) > 0 {
			t.Fatalf("%s is read as\n%s %v", asJSON(v), asJSON(got), errs)
		}
	})
}

func value(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 6+depth).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return modeltest.MustDecodeJSON(
			rapid.SampledFrom([]string{"1", "1.0", "-0", "1E5", "0.10", "12345678901234567890"}).Draw(t, "number"))
	case 3, 4, 5, 6:
		return rapid.StringOf(rapid.RuneFrom([]rune("a \n\r\t\"\u0000\u202e⑬'<>"))).Draw(t, "text")
	case 7:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, value(t, depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		m[rapid.SampledFrom([]string{"name", "next", "sku", "n", "~was", "/"}).Draw(t, "key")] = value(t,
			max(depth-1, 0))
	}
	return m
}

func TestWhatIsEnteredIsRead(t *testing.T) {
	t.Parallel()
	f := form.Form{Schema: modeltest.MustDecodeJSON(order), ControlPrefix: "p", FixedKeys: []string{"same"}}
	shown := modeltest.MustDecodeJSON(
		`{"id": "A", "cents": 1, "note": "n", "to": {"name": "Ann"}, "lines": [{"sku": "x"}, {"sku": "y"}], "same": 7}`)
	for _, c := range []struct {
		name  string
		enter map[string]string
		want  string // "" where errors names
		wrong string // a field
	}{
		{"nothing", nil,
			`{"cents":1,"id":"A","lines":[{"sku":"x"},{"sku":"y"}],"note":"n","same":7,"to":{"name":"Ann"}}`, ""},
		{"digits", map[string]string{"p/cents": " 12345678901234567890 "},
			`{"cents":12345678901234567890,"id":"A","lines":[{"sku":"x"},{"sku":"y"}],"note":"n","same":7,"to":{"name":"Ann"}}`, ""},
		{"no number", map[string]string{"p/cents": "1,5"}, "", "p/cents"},
		{"a text for a number", map[string]string{"p/cents": `"1"`}, "", "p/cents"},
		{"left out, null, and given although nobody said so",
			map[string]string{"p/cents~state": "out", "p/note~state": "null", "p/rate": "2.50"},
			`{"id":"A","lines":[{"sku":"x"},{"sku":"y"}],"note":null,"rate":2.50,"same":7,"to":{"name":"Ann"}}`, ""},
		{"an object that was not there", map[string]string{"p/to/next/name": "Bob"},
			`{"cents":1,"id":"A","lines":[{"sku":"x"},{"sku":"y"}],"note":"n","same":7,"to":{"name":"Ann","next":{"name":"Bob"}}}`, ""},
		{"an item less", map[string]string{"p/lines/0~gone": "on"},
			`{"cents":1,"id":"A","lines":[{"sku":"y"}],"note":"n","same":7,"to":{"name":"Ann"}}`, ""},
		{"a choice", map[string]string{"p/how~state": "given", "p/how": "null", "p/express": "true"},
			`{"cents":1,"express":true,"how":null,"id":"A","lines":[{"sku":"x"},{"sku":"y"}],"note":"n","same":7,"to":{"name":"Ann"}}`, ""},
		{"JSON", map[string]string{"p/any": `{"a": [1.0]}`},
			`{"any":{"a":[1.0]},"cents":1,"id":"A","lines":[{"sku":"x"},{"sku":"y"}],"note":"n","same":7,"to":{"name":"Ann"}}`, ""},
		{"no JSON", map[string]string{"p/any": `{"a": 1, "a": 2}`}, "", "p/any"},
		{"other members", map[string]string{"p/tags~more": `{"k": "v"}`, "p/tags~state": "given"},
			`{"cents":1,"id":"A","lines":[{"sku":"x"},{"sku":"y"}],"note":"n","same":7,"tags":{"k":"v"},"to":{"name":"Ann"}}`, ""},
		{"no members", map[string]string{"p/tags~more": `[1]`, "p/tags~state": "given"}, "", "p/tags~more"},
		{"what nobody changes", map[string]string{"p/same": "8"},
			`{"cents":1,"id":"A","lines":[{"sku":"x"},{"sku":"y"}],"note":"n","same":7,"to":{"name":"Ann"}}`, ""},
	} {
		values := sent(f.NewField(shown, true))
		for k, v := range c.enter {
			values.Set(k, v)
		}
		got, errs := f.Read(shown, values)
		if c.wrong == "" && (asJSON(got) != c.want || len(errs) > 0) || c.wrong != "" &&
			(len(errs) != 1 || errs[c.wrong] == "") {
			t.Errorf("%s: %s %v, want\n%s%s", c.name, asJSON(got), errs, c.want, c.wrong)
		}
		again := f.NewFieldFromEntered(shown, true, values, errs)
		for k, v := range c.enter {
			if !strings.Contains(k, "~") && k != "p/same" && find(t, again, k).Kind != form.Choice &&
				find(t, again, k).Value != v {
				t.Errorf("%s: shown again, %s is %q", c.name, k, find(t, again, k).Value)
			}
		}
		if c.wrong != "" && !strings.Contains(c.wrong, "~") && find(t, again, c.wrong).Error == "" {
			t.Errorf("%s: nothing tells what is wrong", c.name)
		}
	}
}

func TestAnItemIsAddedToAList(t *testing.T) {
	t.Parallel()
	f := form.Form{Schema: modeltest.MustDecodeJSON(order), ControlPrefix: "p"}
	shown := modeltest.MustDecodeJSON(`{"lines": [{"sku": "x"}]}`)
	values := sent(f.NewField(shown, true))
	values.Set("p/lines/0/sku", "changed")
	values.Set(form.AddItemButtonName, "p/lines")
	if !form.IsAddItemRequest(values) {
		t.Error("it is not seen")
	}
	again := f.NewFieldFromEntered(shown, true, values, nil)
	if lines := find(t, again, "p/lines"); len(lines.Fields) != 2 ||
		find(t, again, "p/lines/0/sku").Value != "changed" {
		t.Errorf("%+v", lines)
	}
	values = sent(again)
	values.Set("p/lines/1/sku", "new")
	if got, errs := f.Read(shown, values); asJSON(got) != `{"lines":[{"sku":"changed"},{"sku":"new"}]}` &&
		len(errs) == 0 {
		t.Errorf("%s %v", asJSON(got), errs)
	}
}

func TestASchemaThatHoldsItselfMakesAFormThatEnds(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}, "b": {"$ref": "#/$defs/t"}}},
		"loop": {"$ref": "#/$defs/loop"}}, "properties": {"x": {"$ref": "#/$defs/loop"}}}`)
	f := form.Form{Schema: schema, ControlPrefix: "p"}.NewField(map[string]any{}, true)
	if n := count(f); n < 3 || n > 2000 {
		t.Errorf("it has %d fields", n)
	}
}

func count(f *form.Field) (n int) {
	for _, one := range f.Fields {
		n += count(one)
	}
	return n + 1
}

func TestAFieldIsLabelledAsPeopleCallIt(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"type": "object", "additionalProperties": {"title": "Any"}, "properties": {
		"orderNumber": {"description": "On the invoice."}, "fixed": {"title": "Always", "type": "string"},
		"lines": {"type": "array", "title": "Lines", "items": {"title": "Line", "properties": {"p": {"title": "Price"}}}}}}`)
	value := modeltest.MustDecodeJSON(`{"orderNumber": "7", "fixed": "x", "a_key": "y", "lines": [{"p": 1}]}`)
	fields := form.Form{Schema: schema, ControlPrefix: "p", FixedKeys: []string{"fixed"}}.NewField(value, true)
	for name, want := range map[string]string{"p/orderNumber": "Order number|On the invoice.", "p/fixed": "Always|",
		"p/a_key": "a_key|Any", "p/lines": "Lines|", "p/lines/0": "1|Line", "p/lines/0/p": "Price|"} {
		if f := find(t, fields, name); f.Label+"|"+f.Help != want {
			t.Errorf("%s is %s|%s, want %s", name, f.Label, f.Help, want)
		}
	}
}

func TestWhatASchemaAsksForIsSaidInWordsAndNeverAsAPattern(t *testing.T) {
	t.Parallel()
	german, err := wording.CatalogueFor(shown.German)
	if err != nil {
		t.Fatal(err)
	}
	const wrong = "this does not fit; it must be: "
	for _, c := range []struct{ schema, hint, german, entered, misfit string }{
		{`"pattern": "^[0-9]+$"`, "only digits", "nur Ziffern", "12a", wrong + "only digits"},
		{`"pattern": "^\\d{4}$"`, "4 digits", "4 Ziffern", "123", wrong + "4 digits"},
		{`"pattern": "^[A-Z]{2}-(?:[0-9]{2,4})$"`, "2 capital letters, and then “-”, and then 2 to 4 digits",
			"2 Großbuchstaben, dann “-”, dann 2 bis 4 Ziffern", "AB-1",
			wrong + "2 capital letters, and then “-”, and then 2 to 4 digits"},
		{`"pattern": "^[A-Z][0-9a-z]{3,}x+$"`, "", "", "A123", "this does not have the form that is asked for"},
		{`"pattern": "^[a-z]+/[0-9]{2,}$"`, "at least 1 small letter, and then “/”, and then at least 2 digits",
			"mindestens 1 Kleinbuchstabe, dann “/”, dann mindestens 2 Ziffern", "a/",
			wrong + "at least 1 small letter, and then “/”, and then at least 2 digits"},
		{`"pattern": "^\\d{4}-\\d{2}-\\d{2}$"`, "a date such as 2026-12-04", "ein Datum wie 2026-12-04", "today",
			wrong + "a date such as 2026-12-04"},
		{`"pattern": "^(EUR|USD)$"`, "one of EUR, USD", "eines von EUR, USD", "DM", wrong + "one of EUR, USD"},
		{`"pattern": "^(?!x)[^a]+$"`, "", "", "", ""}, // Go cannot read it
		{`"pattern": "^[^@]*@x?$"`, "", "", "none", "this does not have the form that is asked for"},
		{`"pattern": "^[^@]*@x?$", "examples": ["me@x"]`, "such as me@x", "zum Beispiel me@x", "none",
			"this does not have the form that is asked for"},
		{`"format": "date"`, "a date such as 2026-12-04", "ein Datum wie 2026-12-04", "4.12.", wrong + "a date such as 2026-12-04"},
		{`"format": "email"`, "an email address", "eine E-Mail-Adresse", "me", wrong + "an email address"},
		{`"format": "uuid"`, "", "", "7", "this does not have the form that is asked for"},
		{`"minLength": 1, "maxLength": 3`, "at least 1 character, at most 3 characters", "mindestens 1 Zeichen, höchstens 3 Zeichen",
			"long", wrong + "at most 3 characters"},
		{`"pattern": "^[0-9]+$"`, "only digits", "nur Ziffern", "†state.order", ""}, // it is put in when the step runs
	} {
		f := form.Form{ControlPrefix: "p", Schema: modeltest.MustDecodeJSON(
			`{"type": "object", "properties": {"v": {"type": "string", ` + c.schema + `}}}`)}
		before := modeltest.MustDecodeJSON(`{"v": "the broken one"}`)
		fields := f.NewField(before, true)
		hints := find(t, fields, "p/v").Hints
		if got := strings.Join(hints, ", "); got != c.hint {
			t.Errorf("%s is %q, want %q", c.schema, got, c.hint)
		}
		for n, one := range hints {
			hints[n] = german.TranslateAs("hint", one)
		}
		if got := strings.Join(hints, ", "); got != c.german {
			t.Errorf("%s is %q, want %q", c.schema, got, c.german)
		}
		values := sent(fields)
		if _, errs := f.Read(before, values); len(errs) > 0 {
			t.Errorf("%s: what nobody touched is refused: %v", c.schema, errs)
		}
		values.Set("p/v", c.entered)
		if _, errs := f.Read(before, values); c.entered != "" && errs["p/v"] != c.misfit {
			t.Errorf("%s: %q is told %q, want %q", c.schema, c.entered, errs["p/v"], c.misfit)
		}
	}
	if got := german.Translate(wrong + "at least 2 digits"); got != "das passt nicht; verlangt ist: mindestens 2 Ziffern" {
		t.Error(got)
	}
}

func TestNumbersAndListsAreCheckedWhereTheyAreEntered(t *testing.T) {
	t.Parallel()
	f := form.Form{ControlPrefix: "p", Schema: modeltest.MustDecodeJSON(`{"type": "object", "properties": {
		"n": {"type": "integer", "minimum": 2}, "cents": {"type": "integer", "maximum": 500, "_display": "money", "currency": "EUR", "minorUnits": true},
		"list": {"type": "array", "minItems": 1, "items": {"type": "string", "maxLength": 3}}}}`)}
	before := modeltest.MustDecodeJSON(`{"n": 3, "cents": 100, "list": ["a"]}`)
	for entered, want := range map[string]string{"p/n 1": "at least 2", "p/n 2.5": "a whole number", "p/n 2": "",
		"p/cents 5.01": "at most 5.00 EUR", "p/cents 5": "", "p/list/0 long": "at most 3 characters",
		"p/list/0~gone on": "at least 1 item"} {
		values := sent(f.NewField(before, true))
		name, value, _ := strings.Cut(entered, " ")
		values.Set(name, value)
		_, errs := f.Read(before, values)
		name = strings.TrimSuffix(name, "/0~gone")
		if got := strings.TrimPrefix(errs[name], "this does not fit; it must be: "); got != want {
			t.Errorf("%s: %q, want %q", entered, got, want)
		}
	}
}

func TestAShareIsTypedInPercent(t *testing.T) {
	schema := modeltest.MustDecodeJSON(`{"type": "object", "properties": {"discount": {"type": "number", "maximum": 0.5,
		"_display": "percent"}}}`)
	f := form.Form{Schema: schema, ControlPrefix: "p"}
	before := modeltest.MustDecodeJSON(`{"discount": 0.10}`)
	field := f.NewField(before, true).Fields[0]
	if field.Value != "10" || field.Unit != "%" || strings.Join(field.Hints, ", ") != "at most 50%" {
		t.Errorf("%+v", field)
	}
	for text, want := range map[string]string{"10": `{"discount":0.10}`, "15": `{"discount":0.15}`,
		"12.5 %": `{"discount":0.125}`} {
		values := url.Values{"p~kind": {"object"}, "p~key": {"discount"}, "p/discount~kind": {"number"},
			"p/discount": {text}}
		if v, wrong := f.Read(before, values); jsonval.EncodeToString(v) != want || len(wrong) > 0 {
			t.Errorf("%s: %s %v", text, jsonval.EncodeToString(v), wrong)
		}
	}
	if _, wrong := f.Read(before, url.Values{"p~kind": {"object"}, "p~key": {"discount"},
		"p/discount~kind": {"number"}, "p/discount": {"60"}}); !strings.Contains(wrong["p/discount"], "at most 50%") {
		t.Error(wrong)
	}
}

func TestMoneyIsTypedInItsCurrencyAndBecomesItsSmallestUnit(t *testing.T) {
	t.Parallel()
	schema := modeltest.MustDecodeJSON(`{"type": "object", "properties": {
		"amount": {"type": "integer", "minimum": 100, "_display": "money", "currency": "EUR", "minorUnits": true},
		"wired": {"type": "integer", "_display": "money", "currency": "EUR", "minorUnits": true},
		"one": {"enum": [100, 250], "_display": "money", "currency": "EUR", "minorUnits": true},
		"list": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "number", "_display": "money", "currency": "USD"}]}}}}`)
	value := modeltest.MustDecodeJSON(`{"amount": 123459, "wired": 100, "one": 250, "list": [1.50, 1e3, 0.001]}`)
	f := form.Form{Schema: schema, ControlPrefix: "p", FixedKeys: []string{"wired"}, Language: shown.German}
	fields := f.NewField(value, true)
	amount := find(t, fields, "p/amount")
	if amount.Value != "1234,59" || amount.Unit != "EUR" || strings.Join(amount.Hints, ", ") != "at least 1,00 EUR" ||
		find(t, fields, "p/wired").Value != "1,00 EUR" || find(t, fields, "p/one").Options[1].Label != "2,50 EUR" {
		t.Errorf("%+v", amount)
	}
	values := sent(fields)
	if got, wrong := f.Read(value, values); len(wrong) > 0 || asJSON(got) != asJSON(value) {
		t.Errorf("untouched it is %s, %v", asJSON(got), wrong)
	}
	values.Set("p/amount", "1.000,5")
	values.Set("p/list/0", "2,25")
	const want = `{"amount":100050,"list":[2.25,1e3,0.001],"one":250,"wired":100}`
	if got, wrong := f.Read(value, values); len(wrong) > 0 || asJSON(got) != want {
		t.Errorf("it is read as %s, %v", asJSON(got), wrong)
	}
	values.Set("p/amount", "1,005")
	if _, wrong := f.Read(value, values); wrong["p/amount"] != "EUR has at most 2 digits after the point" {
		t.Errorf("%v", wrong)
	}
}
