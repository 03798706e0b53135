package statelog

import (
	"fmt"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// Landing is what a result must fit before it lands: the State schema, and the paths in it. Activities check large
// values against it, where they are whole; the instance checks the others.
type ResultContract struct {
	Schema any                `json:"schema,omitempty"`
	Path   refexpr.OutputPath `json:"path"`
	Method string             `json:"method,omitempty"`
}

// Take reads a result that may say which branch it took, as said tells: {"_outputPath": "†state.failed", "_result": …}.
func (l *ResultContract) Take(value any) (branch int, result any, said bool, err error) {
	if l == nil {
		return 0, value, false, nil
	}
	return l.Path.TakeBranch(value)
}

// Say is Take the other way round.
func (l *ResultContract) Say(branch int, result any) any {
	return map[string]any{refexpr.BranchKey: refexpr.OutputPath{l.Path[branch]}.Reference(), refexpr.ResultKey: result}
}

// Check says how a write-once result does not fit the State schema at the paths of a branch.
func (l *ResultContract) Check(branch int, value any) error {
	if l == nil || l.Method != "" {
		return nil
	}
	for _, p := range l.Path[branch] {
		if err := l.CheckAt(p, nil, value); err != nil {
			return err
		}
	}
	return nil
}

// check says how a value does not fit the State schema at a path; old is what stands there before an update. Of the whole
// State only what is written is looked at: the rest may be still to come.
func (l *ResultContract) CheckAt(p jsonval.Path, old, value any) error {
	if l.Schema == nil {
		return nil
	}
	after := combine(l.Method, old, value)
	if len(p) > 0 {
		return CheckPlace(l.Schema, p, after)
	}
	m, _ := value.(map[string]any)
	for _, k := range jsonval.SortedKeys(m) {
		v, _ := jsonval.StepInto(after, k)
		if err := CheckPlace(l.Schema, jsonval.Path{k}, v); err != nil {
			return err
		}
	}
	return nil
}

func CheckPlace(schema any, p jsonval.Path, value any) error {
	at := jsonschema.PlaceOf(schema, p)
	if at.Closed {
		return fmt.Errorf("%s stands outside the closed State schema", refexpr.Reference{Kind: refexpr.StateKind, Path: p})
	}
	if !at.Known {
		return nil
	}
	s, err := jsonschema.CompileAt(schema, at.Pointer)
	if err != nil {
		return err
	}
	if err := s.Validate(value); err != nil {
		return fmt.Errorf("%s does not fit the State schema: %w", refexpr.Reference{Kind: refexpr.StateKind, Path: p}, err)
	}
	return nil
}

// MissingRequired lists the paths that a State schema requires and a State does not have.
func MissingRequired(schema, state any) []string {
	return missing(schema, schema, state, nil)
}

func missing(root, node, value any, at jsonval.Path) []string {
	node, _ = jsonschema.Follow(root, node, "")
	m, ok := node.(map[string]any)
	object, isObject := value.(map[string]any)
	if _, handle := jsonval.AsHandle(value); !ok || !isObject || handle {
		return nil
	}
	var out []string
	required, _ := jsonval.StringList(m["required"])
	for _, name := range required {
		if _, ok := object[name]; !ok {
			out = append(out, append(append(jsonval.Path{}, at...), name).String())
		}
	}
	props, _ := m["properties"].(map[string]any)
	for _, name := range jsonval.SortedKeys(props) {
		if below, ok := object[name]; ok {
			out = append(out, missing(root, props[name], below, append(append(jsonval.Path{}, at...), name))...)
		}
	}
	return out
}

// wanted is the State schema at the path of a result; nil where it says nothing.
func (l *ResultContract) Schemas() any {
	if l == nil || l.Schema == nil || l.Method != "" {
		return nil
	}
	at := jsonschema.PlaceOf(l.Schema, l.Path[0][0])
	if !at.Known {
		return nil
	}
	part, ok := jsonschema.ResolvePointer(l.Schema, at.Pointer)
	if !ok {
		return nil
	}
	return jsonschema.InlineRefs(l.Schema, part)
}
