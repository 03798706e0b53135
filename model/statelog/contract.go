package statelog

import (
	"fmt"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// ResultContract is what a result must fit before it is written to State. An activity checks large values against it,
// because only there are they whole; the instance checks the others. SelectBranch, Check and SchemaAtFirstPath treat
// nil as a contract that allows every result.
type ResultContract struct {
	// StateSchema is the State schema; OutputPath and OutputMethod are those of the Call.
	StateSchema  any                `json:"schema,omitempty"`
	OutputPath   refexpr.OutputPath `json:"path"`
	OutputMethod string             `json:"method,omitempty"`
}

// SelectBranch is OutputPath.SelectBranch for the contract's path.
func (c *ResultContract) SelectBranch(value any) (branchIndex int, result any, isBranchNamed bool, err error) {
	if c == nil {
		return 0, value, false, nil
	}
	return c.OutputPath.SelectBranch(value)
}

// WrapResultWithBranch wraps a result so that SelectBranch reads the branch from it.
func (c *ResultContract) WrapResultWithBranch(branchIndex int, result any) any {
	return jsonval.Object{refexpr.BranchKey: refexpr.OutputPath{c.OutputPath[branchIndex]}.ReferenceText(),
		refexpr.ResultKey: result}
}

// Check gives an error if a write-once result does not fit the State schema at the paths of a branch.
func (c *ResultContract) Check(branchIndex int, value any) error {
	if c == nil || c.OutputMethod != "" {
		return nil
	}
	for _, p := range c.OutputPath[branchIndex] {
		if err := c.CheckAt(p, nil, value); err != nil {
			return err
		}
	}
	return nil
}

// CheckAt returns an error if the value at a path after the write would not fit the State schema; old is the value
// before. For the whole State it checks only the keys that are written: required ones may still come.
func (c *ResultContract) CheckAt(p jsonval.Path, old, value any) error {
	if c.StateSchema == nil {
		return nil
	}
	newValue := combineByMethod(c.OutputMethod, old, value)
	if len(p) > 0 {
		return CheckAgainstSchemaAt(c.StateSchema, p, newValue)
	}
	m := jsonval.AsObject(value)
	for k := range jsonval.Sorted(m) {
		v, _ := jsonval.ChildValue(newValue, k)
		if err := CheckAgainstSchemaAt(c.StateSchema, jsonval.Path{k}, v); err != nil {
			return err
		}
	}
	return nil
}

// CheckAgainstSchemaAt gives an error if a value does not fit a State schema at a path, or the schema allows nothing
// there.
func CheckAgainstSchemaAt(schema any, p jsonval.Path, value any) error {
	subschema := jsonschema.SubschemaAt(schema, p)
	if subschema.IsForbidden {
		return fmt.Errorf("%s stands outside the closed State schema",
			refexpr.Reference{Kind: refexpr.StateReferenceKind, Path: p})
	}
	if !subschema.IsDescribed {
		return nil
	}
	s, err := jsonschema.CompileAt(schema, subschema.Pointer)
	if err != nil {
		return err
	}
	if err := s.Validate(value); err != nil {
		return fmt.Errorf("%s does not fit the State schema: %w",
			refexpr.Reference{Kind: refexpr.StateReferenceKind, Path: p},
			err)
	}
	return nil
}

// SchemaAtFirstPath returns the State schema's part for a write-once result at its first path; nil: any value.
func (c *ResultContract) SchemaAtFirstPath() any {
	if c == nil || c.StateSchema == nil || c.OutputMethod != "" {
		return nil
	}
	subschema := jsonschema.SubschemaAt(c.StateSchema, c.OutputPath[0][0])
	if !subschema.IsDescribed {
		return nil
	}
	part, ok := jsonschema.ResolvePointer(c.StateSchema, subschema.Pointer)
	if !ok {
		return nil
	}
	return jsonschema.InlineRefs(c.StateSchema, part)
}
