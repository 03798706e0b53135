// Package simulated replaces the Runner of any kind of Tool when a process is simulated: it makes up the result from
// the Tool's schemas, and contacts nothing outside.
package simulated

import (
	"context"
	"fmt"

	"processidea/model/jsonval"
	"processidea/model/simulate"
	"processidea/model/statelog"
	"processidea/tools"
	"processidea/tools/runner"
)

// Runner makes up the result of one Call. It implements runner.Runner.
type Runner struct {
	// Functions are the Go functions, whose results have a schema even if the Idea gives none; nil: no functions are
	// known.
	Functions *tools.Registry
	// OutputSchema is the Tool's `_output` as written; nil: the Idea gives none.
	OutputSchema any
	// ResultContract says where the result goes, and what it must fit there; nil if it is not written to State.
	ResultContract *statelog.ResultContract
}

// Validate accepts every spec, since a simulation does not use it.
func (Runner) Validate(any) error { return nil }

// Run makes up a result.
func (r Runner) Run(_ context.Context, in runner.Input) (any, error) {
	outputSchema := r.OutputSchema
	if name, ok := in.Spec.(string); ok && outputSchema == nil && r.Functions != nil {
		if f, exists := r.Functions.Lookup(name); exists {
			outputSchema, _ = jsonval.Decode(f.ResultSchema)
		}
	}
	value, err := simulate.FakeResult(in.ToolName, outputSchema, r.ResultContract)
	if err != nil {
		return nil, tools.Final(fmt.Errorf("the tool %s cannot be simulated: %w", in.ToolName, err))
	}
	return value, nil
}
