package tools

import (
	"context"
	"fmt"

	"processidea/tools/runner"
)

// Validate returns the error in the spec of a Go function, which is the function's name. With Run it makes a Registry
// the runner.Runner of ideafile.KindGo.
func (r *Registry) Validate(spec any) error {
	name, _ := spec.(string)
	if _, ok := r.Lookup(name); !ok {
		return fmt.Errorf("no activity %q is registered", name)
	}
	return nil
}

// Run runs a Call of a Go function.
func (r *Registry) Run(ctx context.Context, in runner.Input) (any, error) {
	name, _ := in.Spec.(string)
	tool, ok := r.Lookup(name)
	if !ok {
		// Not final: another worker, of an older or a newer version, may have it.
		return nil, fmt.Errorf("this worker knows no tool %q", name)
	}
	result, err := tool.Call(WithCallInfo(ctx, Info{
		ProcessID: in.ProcessID, InstanceToken: in.InstanceToken, CallID: in.CallID, IdempotencyKey: in.IdempotencyKey,
		Attempt: in.Attempt, ScopeValues: in.ScopeValues,
	}), in.Params)
	if r.onResult != nil {
		r.onResult(in, result, err)
	}
	return result, err
}
