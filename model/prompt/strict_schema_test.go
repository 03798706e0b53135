package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// ruleChecker checks a schema against the rules of strict structured outputs, written down from their documentation and
// independently of the code under test. It works on the bytes that are sent.
type ruleChecker struct {
	root       map[string]any
	properties int
	enumValues int
	characters int
	broken     []string
}

// violations lists the rules that a schema violates.
func violations(schema []byte) []string {
	v, err := jsonval.Decode(schema)
	if err != nil {
		return []string{err.Error()}
	}
	root, ok := v.(map[string]any)
	if !ok {
		return []string{"the root is no object"}
	}
	r := &ruleChecker{root: root}
	if root["type"] != "object" || root["anyOf"] != nil || root["$ref"] != nil {
		r.violate("$", "the root is not a plain object")
	}
	r.schema(root, "$", true)
	defs, _ := root["$defs"].(map[string]any)
	for name, def := range defs {
		r.characters += utf8.RuneCountInString(name)
		r.schema(def, "$defs."+name, false)
	}
	if levels := r.levels(root, 0); levels > 10 {
		r.violate("$", "%d levels", levels)
	}
	r.limit("properties", r.properties, 5000)
	r.limit("enum values", r.enumValues, 1000)
	r.limit("characters", r.characters, 120_000)
	sort.Strings(r.broken)
	return r.broken
}

func (r *ruleChecker) violate(at, format string, args ...any) {
	r.broken = append(r.broken, at+": "+fmt.Sprintf(format, args...))
}

func (r *ruleChecker) limit(what string, n, most int) {
	if n > most {
		r.violate("$", "%d %s", n, what)
	}
}

var allowedInStrict = strings.Fields(`type description title properties required additionalProperties items enum const anyOf $ref
	pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems`)

func (r *ruleChecker) schema(v any, at string, root bool) {
	s, ok := v.(map[string]any)
	if !ok {
		r.violate(at, "a schema that is no object")
		return
	}
	for k := range s {
		if !slices.Contains(allowedInStrict, k) && !(root && k == "$defs") {
			r.violate(at, "keyword %s", k)
		}
	}
	if ref, ok := s["$ref"]; ok {
		if len(s) > 1 {
			r.violate(at, "$ref beside others")
		}
		if r.definition(ref) == nil {
			r.violate(at, "$ref to nowhere: %v", ref)
		}
		return
	}
	if s["anyOf"] == nil && s["type"] == nil {
		r.violate(at, "says no type")
	}
	r.format(s, at)
	r.enum(s, at)
	r.object(s, at)
	r.parts(s, at)
}

func (r *ruleChecker) definition(ref any) any {
	text, _ := ref.(string)
	name := strings.NewReplacer("%25", "%", "%22", `"`, "%20", " ").Replace(strings.TrimPrefix(text, "#/$defs/"))
	name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	defs, _ := r.root["$defs"].(map[string]any)
	return defs[name]
}

func (r *ruleChecker) format(s map[string]any, at string) {
	f, ok := s["format"]
	if ok && !slices.Contains([]string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6",
		"uuid"}, fmt.Sprint(f)) {
		r.violate(at, "format %v", f)
	}
}

func (r *ruleChecker) enum(s map[string]any, at string) {
	list, _ := s["enum"].([]any)
	characters := 0
	for _, v := range list {
		characters += utf8.RuneCountInString(fmt.Sprint(v))
	}
	if len(list) > 250 && characters > 15_000 {
		r.violate(at, "an enum of %d values with %d characters", len(list), characters)
	}
	r.enumValues += len(list)
	r.characters += characters
	if c, ok := s["const"]; ok {
		r.characters += utf8.RuneCountInString(fmt.Sprint(c))
	}
}

// object requires of everything that may be an object that all its properties are required and no others allowed.
func (r *ruleChecker) object(s map[string]any, at string) {
	types, _ := s["type"].([]any)
	may := s["type"] == "object" || s["properties"] != nil
	for _, t := range types {
		may = may || t == "object"
	}
	if !may {
		return
	}
	props, ok := s["properties"].(map[string]any)
	if !ok {
		r.violate(at, "an object without properties")
	}
	if s["additionalProperties"] != false {
		r.violate(at, "an open object")
	}
	required, _ := s["required"].([]any)
	names := map[string]bool{}
	for _, n := range required {
		names[fmt.Sprint(n)] = true
	}
	for name := range props {
		if !names[name] {
			r.violate(at, "property %s is not required", name)
		}
	}
	if len(names) != len(props) || len(required) != len(props) {
		r.violate(at, "requires what is no property")
	}
}

func (r *ruleChecker) parts(s map[string]any, at string) {
	props, _ := s["properties"].(map[string]any)
	for name, p := range props {
		r.properties++
		r.characters += utf8.RuneCountInString(name)
		r.schema(p, at+"."+name, false)
	}
	if items, ok := s["items"]; ok {
		r.schema(items, at+"[]", false)
	} else if s["type"] == "array" {
		r.violate(at, "a list of anything")
	}
	choices, _ := s["anyOf"].([]any)
	if _, ok := s["anyOf"]; ok && len(choices) == 0 {
		r.violate(at, "anyOf without choices")
	}
	for n, c := range choices {
		r.schema(c, fmt.Sprintf("%s|%d", at, n), false)
	}
}

// levels is how deep objects and arrays nest, through definitions.
func (r *ruleChecker) levels(v any, above int) int {
	s, _ := v.(map[string]any)
	if s == nil || above > 12 {
		return above
	}
	deepest := above + 1
	if ref, ok := s["$ref"]; ok {
		return max(deepest, r.levels(r.definition(ref), above))
	}
	props, _ := s["properties"].(map[string]any)
	for _, p := range props {
		deepest = max(deepest, r.levels(p, above+1))
	}
	deepest = max(deepest, r.levels(s["items"], above+1))
	choices, _ := s["anyOf"].([]any)
	for _, c := range choices {
		deepest = max(deepest, r.levels(c, above))
	}
	return deepest
}

func TestTheValidatorOfStrictRulesKnowsThem(t *testing.T) {
	t.Parallel()
	const ok = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	if b := violations([]byte(ok)); b != nil {
		t.Errorf("a good one: %v", b)
	}
	long := func(n int, text string) string {
		values := make([]string, n)
		for i := range values {
			values[i] = fmt.Sprintf(`"%s%d"`, text, i)
		}
		return strings.Join(values, ",")
	}
	nested := `{"type":"string"}`
	for range 10 {
		nested = `{"type":"object","properties":{"a":` + nested + `},"required":["a"],"additionalProperties":false}`
	}
	with := func(a string) string { return strings.Replace(ok, `{"type":"string"}`, a, 1) }
	for _, schema := range []string{
		`[]`, `{"type":"array","items":{"type":"string"}}`, `{"anyOf":[` + ok + `]}`,
		strings.Replace(ok, `"required":["a"],`, ``, 1), strings.Replace(ok, `false`, `true`, 1),
		strings.Replace(ok, `,"additionalProperties":false`, ``, 1),
		with(`{}`), with(`{"type":"array"}`), with(`{"type":["object","null"]}`), with(`{"oneOf":[{"type":"string"}]}`),
		with(`{"allOf":[],"type":"string"}`),
		with(`{"type":"string","not":{}}`), with(`{"type":"string","if":{}}`),
		with(`{"type":"object","patternProperties":{}}`), with(`{"type":"object","propertyNames":{}}`),
		with(`{"type":"array","items":{"type":"string"},"uniqueItems":true}`), with(`{"type":"string","format":"uri"}`),
		with(`{"$ref":"#/$defs/x"}`),
		with(`{"type":"string","enum":[` + long(1001, "") + `]}`),
		with(`{"type":"string","enum":[` + long(251, strings.Repeat("x", 60)) + `]}`),
		with(`{"type":"string","enum":[` + long(250, strings.Repeat("x", 500)) + `]}`), nested,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"b"}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"type":"string"}}}`,
	} {
		if b := violations([]byte(schema)); b == nil {
			t.Errorf("let pass: %.200s", schema)
		}
	}
}

// toStrictJSON returns the strict version of a schema, or why there is none.
func toStrictJSON(t modeltest.Fataler, schema string) (string, string) {
	v, err := jsonval.Decode([]byte(schema))
	if err != nil {
		t.Fatalf("%s", err)
	}
	form, why := toStrictSchema(jsonschema.InlineRefs(v, v), nil)
	return string(jsonval.Encode(form)), why
}

func TestASchemaIsSaidInTheStrictSubset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, schema, form, why string }{
		{"a leaf", `{"type":"string","description":"d","default":"x","pattern":"^a"}`,
			`{"description":"d","type":"string","pattern":"^a"}`, ``},
		{"what may be left out may be null",
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["b"]}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}`, ``},
		{"a list", `{"type":"array","items":{"type":"number"},"minItems":1,"maxItems":3}`,
			`{"type":"array","items":{"type":"number"},"minItems":1,"maxItems":3}`, ``},
		{"choices", `{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]}`,
			`{"description":"d","anyOf":[{"type":"string"},{"type":"null"}]}`, ``},
		{"several types", `{"type":["string","null"]}`, `{"type":["string","null"]}`, ``},
		{"the type of an enum", `{"enum":["a","b"]}`, `{"type":"string","enum":["a","b"]}`, ``},
		{"the types of an enum", `{"enum":["a",1,null,"b"]}`,
			`{"type":["string","number","null"],"enum":["a",1,null,"b"]}`, ``},
		{"the type of a const", `{"const":true}`, `{"type":"boolean","const":true}`, ``},
		{"a local reference",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"$defs":{"x":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, ``},
		{"a reference with a description of its own",
			`{"type":"array","items":{"$ref":"#/$defs/x","description":"mine"},"$defs":{"x":{"type":"string"}}}`,
			`{"type":"array","items":{"description":"mine","type":"string"}}`, ``},
		{"keywords that do not belong to a leaf",
			`{"type":"string","properties":{"a":true},"items":{"oneOf":[]},"required":["x"],"minItems":3}`,
			`{"type":"string"}`, ``},
		{"an object without properties", `{"type":"object"}`, ``, `an object without named properties`},
		{"an open object", `{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`, ``,
			`an open object`},
		{"an object that requires what it does not describe", `{"type":"object","properties":{},"required":["x"]}`, ``,
			`an object that requires "x" and does not describe it`},
		{"a list of anything", `{"type":"array"}`, ``, `a list that does not say of what`},
		{"anything", `{"description":"x"}`, ``, `a value of any type`},
		{"an enum of objects", `{"enum":[{}]}`, ``, `a value of any type`},
		{"true", `{"type":"array","items":true}`, ``, `a schema that is not an object`},
		{"an object or null", `{"type":["object","null"],"properties":{}}`, ``,
			`one of several types, an object or a list among them`},
		{"anyOf beside a format", `{"anyOf":[{"type":"string"}],"format":"date"}`, ``, `anyOf beside other keywords`},
		{"anyOf beside properties", `{"type":"object","properties":{},"anyOf":[{"required":["a"]}]}`, ``,
			`anyOf beside other keywords`},
		{"a format", `{"type":"string","format":"uri"}`, `{"type":"string"}`, ``},
		{"oneOf", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`,
			`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, ``},
		{"oneOf beside properties", `{"type":"object","properties":{},"oneOf":[{"required":["a"]}]}`, ``,
			`oneOf beside other keywords`},
		{"a schema that holds itself", `{"type":"object","properties":{"a":{"$ref":"#"}}}`, ``,
			`a schema that holds itself`},
		{"one that does by a way round",
			`{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"type":"array","items":{"$ref":"#/$defs/a"}}}}`, ``, `a schema that holds itself`},
		{"a schema that multiplies", exponentialSchema(40), ``, `a schema that its references make too large`},
	} {
		t.Run(c.name, func(t *testing.T) {
			form, why := toStrictJSON(t, c.schema)
			if why != c.why || why == "" && form != c.form {
				t.Errorf("got %s, %q", form, why)
			}
		})
	}
	for _, k := range strings.Fields(
		`not if then else propertyNames uniqueItems minLength maxLength contains dependentRequired minProperties unevaluatedProperties`) {
		if form, why := toStrictJSON(t, fmt.Sprintf(`{"type":"string",%q:{}}`, k)); why != "" ||
			form != `{"type":"string"}` {
			t.Errorf("%s: %s, %q", k, form, why)
		}
	}
	for _, k := range strings.Fields(`allOf patternProperties prefixItems`) {
		if _, why := toStrictJSON(t, fmt.Sprintf(`{"type":"string",%q:{}}`, k)); why != fmt.Sprintf("keyword %q", k) {
			t.Errorf("%s: %q", k, why)
		}
	}
}

// exponentialSchema is a schema in which each definition uses the one before it twice: a few lines that stand for 2ⁿ
// nodes.
func exponentialSchema(n int) string {
	defs := map[string]any{"d0": map[string]any{"type": "string"}}
	for i := 1; i <= n; i++ {
		ref := map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", i-1)}
		defs[fmt.Sprintf("d%d", i)] = map[string]any{"type": "object", "properties": map[string]any{"a": ref, "b": ref}}
	}
	text, _ := json.Marshal(map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", n), "$defs": defs})
	return string(text)
}

func TestTheBoundsOfStrictModeAreKept(t *testing.T) {
	t.Parallel()
	enum := func(n, length int) jsonval.OrderedObject {
		var values []any
		for i := range n {
			values = append(values, fmt.Sprintf("%0*d", length, i))
		}
		return jsonval.OrderedObject{{Key: "type", Value: "string"}, {Key: "enum", Value: values}}
	}
	object := func(n int, of any) jsonval.OrderedObject {
		var fields jsonval.OrderedObject
		for i := range n {
			fields = fields.Append(fmt.Sprintf("p%d", i), of)
		}
		return closedObjectSchema(fields)
	}
	deep := func(levels int) any {
		var v any = jsonval.OrderedObject{{Key: "type", Value: "string"}}
		for range levels - 1 {
			v = closedObjectSchema(jsonval.OrderedObject{{Key: "a", Value: v}})
		}
		return v
	}
	text := jsonval.OrderedObject{{Key: "type", Value: "string"}}
	used := func(times int, def any) any {
		return append(object(times, jsonval.OrderedObject{{Key: "$ref", Value: "#/$defs/d"}}),
			jsonval.OrderedField{Key: "$defs", Value: jsonval.OrderedObject{{Key: "d", Value: def}}})
	}
	for _, c := range []struct {
		name   string
		schema any
		why    string
	}{
		{"5,000 properties", object(5000, text), ``},
		{"and one more", object(5001, text), `5001 properties, over 5000`},
		{"1,000 enum values", object(2, enum(500, 4)), ``},
		{"and one more", object(7, enum(143, 4)), `1001 enum values, over 1000`},
		{"a long enum", enum(300, 50), ``},
		{"a longer one", object(1, enum(300, 51)), `an enum of 300 values with 15300 characters, over 15000`},
		{"250 long values", object(1, enum(250, 400)), ``},
		{"too many names", object(1, enum(250, 480)), `120002 characters of names, over 120000`},
		{"10 levels", deep(10), ``},
		{"and one more", deep(11), `more than 10 levels`},
		{"levels below a list", closedObjectSchema(jsonval.OrderedObject{{Key: "a", Value: arraySchema(deep(9))}}),
			`more than 10 levels`},
		{"choices are no level",
			closedObjectSchema(jsonval.OrderedObject{{Key: "a",
				Value: nullableSchema(nullableSchema(nullableSchema(deep(9))))}}), ``},
		{"a definition counts once, however often it is used", used(100, enum(100, 3)), ``},
		{"its levels count where it is used", used(2, deep(10)), `more than 10 levels`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := exceededStrictLimit(c.schema); got != c.why {
				t.Errorf("got %q", got)
			}
			if c.why == "" && c.name != "a long enum" {
				if b := violations(jsonval.Encode(c.schema)); b != nil {
					t.Errorf("the rules say %v", b)
				}
			}
		})
	}
}
