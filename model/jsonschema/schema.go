package jsonschema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"processidea/model/jsonval"
)

// Schema is a compiled JSON Schema behind a guard: it loads nothing, panics never, and words its errors the same way
// each time. It is safe for concurrent use.
type Schema struct {
	// Source is the schema as it was written.
	Source   any
	Compiled *jsonschema.Schema
}

// CompileSchema compiles a JSON Schema (draft 2020-12 unless `$schema` says otherwise). Meta properties, whose names
// begin with `_`, are no business of the validator. References must stay inside the schema (`#…`).
func CompileSchema(source any) (*Schema, error) { return CompileAt(source, "") }

// compileAt compiles the part of a schema at a JSON pointer, with the whole as the home of its references. What was
// compiled once is remembered: a hundred instances share one palette.
func CompileAt(source any, pointer string) (*Schema, error) {
	text := jsonval.Encode(WithoutMeta(source))
	key := string(text) + "#" + pointer
	c, ok := compiledSchemas.Get(key)
	if !ok {
		var err error
		if c, err = Compile(text, pointer); err != nil {
			return nil, fmt.Errorf("model: compile schema: %w", err)
		}
		compiledSchemas.Put(key, c)
	}
	return &Schema{Source: source, Compiled: c}, nil
}

func Compile(text []byte, pointer string) (s *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("the validator gave up: %v", r)
		}
	}()
	source, err := jsonval.Decode(text)
	if err != nil {
		return nil, err
	}
	if err := CheckRefs(source); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("refused to load %s: nothing is ever loaded", url)
	}
	const url = "idea:///schema"
	if err := c.AddResource(url, bytes.NewReader(text)); err != nil {
		return nil, err
	}
	if s, err = c.Compile(url + "#" + pointer); err != nil {
		return nil, errors.New(wording(err))
	}
	return s, nil
}

// cache remembers results of a pure function by their text, and nothing else.
type Cache[V any] struct {
	mu sync.Mutex
	m  map[string]V
}

const cacheSize = 4096 // results, after which it begins anew

var compiledSchemas Cache[*jsonschema.Schema]

func (c *Cache[V]) Get(key string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok = c.m[key]
	return v, ok
}

func (c *Cache[V]) Put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= cacheSize {
		c.m = map[string]V{}
	}
	c.m[key] = v
}

// Validate says how a value does not fit, or nil. Where the value comes from outside, Decode must have read it.
func (s *Schema) Validate(v any) (err error) {
	if s == nil || s.Compiled == nil {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be checked: %v", r)
		}
	}()
	if err := s.Compiled.Validate(v); err != nil {
		return errors.New(wording(err))
	}
	return nil
}

// matches says whether a value fits; an error that nobody can tell.
func (s *Schema) Matches(v any) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("model: validate: cannot be checked: %v", r)
		}
	}()
	return s.Compiled.Validate(v) == nil, nil
}

// wording gives the leaves of a validation error, sorted, at most three: the library's own order is random.
func wording(err error) string {
	var se *jsonschema.SchemaError
	if errors.As(err, &se) && se.Err != nil {
		err = se.Err
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return compilerWording(strings.TrimPrefix(err.Error(), "jsonschema: "))
	}
	seen := map[string]bool{}
	var texts []string
	for _, l := range leaves(ve) {
		text := sortNames(l.Message)
		if l.InstanceLocation != "" {
			text = l.InstanceLocation + ": " + text
		}
		if !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	sort.Strings(texts)
	if len(texts) > 3 {
		texts = append(texts[:3], fmt.Sprintf("and %d more", len(texts)-3))
	}
	return strings.Join(texts, "; ")
}

// compilerWording leaves out what the compiler happened to see first: it walks maps, and their order is random.
func compilerWording(text string) string {
	switch {
	case strings.HasSuffix(text, " not found"), strings.HasPrefix(text, "infinite loop"):
		return "a reference finds nothing in the schema, or only itself"
	case strings.HasSuffix(text, "have same canonical-uri"):
		return "two parts have the same $id or $anchor"
	}
	return text
}

// sortNames sorts the names in "additionalProperties 'b', 'a' not allowed", the one message that lists a map.
func sortNames(message string) string {
	const before, after = "additionalProperties '", "' not allowed"
	if !strings.HasPrefix(message, before) || !strings.HasSuffix(message, after) {
		return message
	}
	names := strings.Split(message[len(before):len(message)-len(after)], "', '") // a ' inside a name is escaped
	sort.Strings(names)
	return before + strings.Join(names, "', '") + after
}

func leaves(ve *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(ve.Causes) == 0 {
		return []*jsonschema.ValidationError{ve}
	}
	var out []*jsonschema.ValidationError
	for _, c := range ve.Causes {
		out = append(out, leaves(c)...)
	}
	return out
}

// checkRefs refuses every reference that leaves the schema, before the compiler can try to follow it, and those that find
// nothing: of several the compiler would name any one.
func CheckRefs(root any) error {
	homes := false // parts with an $id are the homes of their references: finding those is left to the compiler
	_ = everyKey(root, func(k string, v any) error {
		_, text := v.(string)
		homes = homes || text && (k == "$id" || k == "id")
		return nil
	})
	return everyKey(root, func(k string, v any) error {
		ref, ok := v.(string)
		if !ok || k != "$ref" && k != "$dynamicRef" && k != "$recursiveRef" {
			return nil
		}
		if !strings.HasPrefix(ref, "#") {
			return fmt.Errorf("%s %q leaves the schema: nothing is ever loaded", k, ref)
		}
		if _, found := ResolvePointer(root, ref[1:]); !found && strings.HasPrefix(ref, "#/") && !homes {
			return fmt.Errorf("%s %q finds nothing in the schema", k, ref)
		}
		return nil
	})
}

// everyKey visits every key of every object, in order, until one is an error.
func everyKey(v any, visit func(key string, v any) error) error {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(v) {
			if err := visit(k, v[k]); err != nil {
				return err
			}
			if err := everyKey(v[k], visit); err != nil {
				return err
			}
		}
	case []any:
		for _, e := range v {
			if err := everyKey(e, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// withoutMeta drops a schema's top-level keys that begin with `_`.
func WithoutMeta(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	out := make(map[string]any, len(m))
	//workflowcheck:ignore -- a map again
	for k, v := range m {
		if !strings.HasPrefix(k, "_") {
			out[k] = v
		}
	}
	return out
}

// takesNull says whether null is a value here, and not a way to say that there is none.
func (s *Schema) TakesNull() bool { return s != nil && s.Validate(nil) == nil }
