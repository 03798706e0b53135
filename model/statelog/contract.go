package statelog

import (
	"fmt"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// ResultContract is what a result must fit before it is written to State. An activity checks a large value against it, because
// only there is the value whole; the instance checks the others. For TakeBranch, Check and PathSchema
// nil is a contract that allows every result.
type ResultContract struct {
	// Schema is the State schema, and Path and Method are those of the Call.
	Schema any                `json:"schema,omitempty"`
	Path   refexpr.OutputPath `json:"path"`
	Method string             `json:"method,omitempty"`
}

// TakeBranch is OutputPath.TakeBranch for the contract's path.
func (c *ResultContract) TakeBranch(value any) (branch int, result any, named bool, err error) {
	if c == nil {
		return 0, value, false, nil
	}
	return c.Path.TakeBranch(value)
}

// NameBranch gives a result in the form from which TakeBranch reads the branch.
func (c *ResultContract) NameBranch(branch int, result any) any {
	return map[string]any{refexpr.BranchKey: refexpr.OutputPath{c.Path[branch]}.Reference(), refexpr.ResultKey: result}
}

// Check gives an error if a write-once result does not fit the State schema at the paths of a branch.
func (c *ResultContract) Check(branch int, value any) error {
	if c == nil || c.Method != "" {
		return nil
	}
	for _, p := range c.Path[branch] {
		if err := c.CheckAt(p, nil, value); err != nil {
			return err
		}
	}
	return nil
}

// CheckAt gives an error if what stands at a path after the write would not fit the State schema; old is what stands there
// before. Of the whole State it looks only at what is written: the rest may still be to come.
func (c *ResultContract) CheckAt(p jsonval.Path, old, value any) error {
	if c.Schema == nil {
		return nil
	}
	after := combine(c.Method, old, value)
	if len(p) > 0 {
		return CheckPlace(c.Schema, p, after)
	}
	m, _ := value.(map[string]any)
	for _, k := range jsonval.SortedKeys(m) {
		v, _ := jsonval.StepInto(after, k)
		if err := CheckPlace(c.Schema, jsonval.Path{k}, v); err != nil {
			return err
		}
	}
	return nil
}

// CheckPlace gives an error if a value does not fit a State schema at a path, or the schema allows nothing there.
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

// PathSchema gives what the State schema says of a write-once result at its first path, and nil if it says nothing.
func (c *ResultContract) PathSchema() any {
	if c == nil || c.Schema == nil || c.Method != "" {
		return nil
	}
	at := jsonschema.PlaceOf(c.Schema, c.Path[0][0])
	if !at.Known {
		return nil
	}
	part, ok := jsonschema.ResolvePointer(c.Schema, at.Pointer)
	if !ok {
		return nil
	}
	return jsonschema.InlineRefs(c.Schema, part)
}
