package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools/runner"
)

// Registry holds tools by name. It is filled before it is used; then concurrent reads are safe.
type Registry struct {
	toolByName map[string]*Tool
	onResult   func(in runner.Input, result any, err error) // nil if nobody watches
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{toolByName: map[string]*Tool{}}
}

// Register adds fn as the tool name. In is a struct or a map with string keys; Out is anything that JSON can represent.
// It panics if the name is taken or invalid, or if a type has no schema.
func Register[In, Out any](r *Registry, name string, fn func(context.Context, In) (Out, error), opts ...Option) {
	s := toolSettings{Tool: Tool{Name: name}, schemaByType: maps.Clone(defaultSchemaByType)}
	for _, o := range opts {
		o(&s)
	}
	paramsSchema, resultSchema, err := reflectSchemas[In, Out](s.schemaByType)
	if err != nil {
		panic(fmt.Sprintf("tools: register %q: %v", name, err))
	}
	t := &s.Tool
	t.paramsSchema, t.resultSchema, t.ParametersSchema, t.ResultSchema = paramsSchema, resultSchema,
		encodeSchema(paramsSchema), encodeSchema(resultSchema)
	t.invoke = func(ctx context.Context, raw json.RawMessage) (any, error) {
		var in In
		if err := decodeStrict(raw, &in); err != nil {
			return nil, Final(fmt.Errorf("parameters: %w", plainTypeError(err)))
		}
		return fn(ctx, in)
	}
	r.add(t)
}

func (r *Registry) add(t *Tool) {
	if t.Name == "" || strings.HasPrefix(t.Name, "_") || strings.ContainsAny(t.Name, " \t\r\n†{}") {
		panic(fmt.Sprintf("tools: register %q: no name for a tool", t.Name))
	}
	if _, exists := r.toolByName[t.Name]; exists {
		panic(fmt.Sprintf("tools: register %q: the name is taken", t.Name))
	}
	r.toolByName[t.Name] = t
}

// Include adds the tools of another registry, which may be nil. It panics if a name is taken.
func (r *Registry) Include(other *Registry) {
	if other == nil {
		return
	}
	for _, name := range other.Names() {
		r.add(other.toolByName[name])
	}
}

// IncludeOrReplace is Include, but tools of the other registry replace those of the same name.
func (r *Registry) IncludeOrReplace(other *Registry) {
	for _, name := range other.Names() {
		r.toolByName[name] = other.toolByName[name]
	}
}

// SetOnResult makes the registry call f, concurrently, with the result of each attempt of each Call.
func (r *Registry) SetOnResult(f func(in runner.Input, result any, err error)) { r.onResult = f }

// Lookup finds a tool by its name.
func (r *Registry) Lookup(name string) (*Tool, bool) {
	t, ok := r.toolByName[name]
	return t, ok
}

// Names lists the registered names, sorted.
func (r *Registry) Names() []string {
	return jsonval.SortedKeys(r.toolByName)
}

// Option sets properties of a tool that its function's types do not show.
type Option func(*toolSettings)

type toolSettings struct {
	Tool
	schemaByType map[reflect.Type]*jsonschema.Schema
}

// Pure declares that the function has no effect, does no I/O and is quick: it may be repeated at will, and run as a
// local activity.
func Pure() Option { return func(s *toolSettings) { s.Pure = true } }

// Describe sets the tool's description, for those who choose among tools.
func Describe(text string) Option { return func(s *toolSettings) { s.Description = text } }

// Undo declares that the tool with a name undoes what the function did. paramsJSON is a JSON object with that tool's
// parameters, with References to the Call: {"id": "†result.id"}, also †params and †state. An `_undo` in an Idea file
// takes precedence. It panics on invalid paramsJSON.
func Undo(toolName, paramsJSON string) Option {
	var ps diag.Problems
	undoParams, err := jsonval.DecodeObject([]byte(paramsJSON))
	u := ideafile.ReadUndo(jsonval.Object{"tool": toolName, "params": undoParams}, "$", &ps)
	if errs := ps.Errors(); err != nil || len(errs) > 0 {
		panic(fmt.Sprintf("tools: undo by %q: %v", toolName, errors.Join(err, errs)))
	}
	return func(s *toolSettings) { s.Undo = u }
}

// NothingToUndo declares that the function leaves nothing to undo: it only reads.
func NothingToUndo() Option {
	return func(s *toolSettings) { s.Undo = &ideafile.UndoMethod{Kind: ideafile.UndoNotNeeded} }
}

// TypeSchema sets the JSON Schema of the Go type T, wherever T occurs in the parameters or the result: an enum, a
// range. It panics on an invalid schema, and on a number in it that a float64 does not hold exactly.
func TypeSchema[T any](schema string) Option {
	var typeSchema jsonschema.Schema
	err := json.Unmarshal([]byte(schema), &typeSchema)
	if err == nil {
		err = checkNumbersFitFloat64(schema)
	}
	if err != nil {
		panic(fmt.Sprintf("tools: form of %v: %v", reflect.TypeFor[T](), err))
	}
	return func(s *toolSettings) { s.schemaByType[reflect.TypeFor[T]()] = &typeSchema }
}

// checkNumbersFitFloat64 refuses numbers in a schema that would change, because jsonschema.Schema holds numbers as
// float64.
func checkNumbersFitFloat64(schema string) error {
	v, err := jsonval.Decode([]byte(schema))
	jsonval.ContainsAny(v, func(v any) bool {
		n, isNumber := v.(json.Number)
		if !isNumber {
			return false
		}
		f, _ := n.Float64()
		asFloat, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
		if exactNumber, ok := new(big.Rat).SetString(n.String()); !ok || asFloat == nil ||
			exactNumber.Cmp(asFloat) != 0 {
			err = fmt.Errorf("%s has more digits than a float64 holds: give long numbers the type string", n)
		}
		return err != nil
	})
	return err
}
