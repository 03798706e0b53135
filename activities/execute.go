package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"processidea/activities/httptool"
	"processidea/activities/mcptool"
	"processidea/activities/tools"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// Execute runs one Call's Tool. Large values are put back before it and stored after it: workflows see their handles
// alone.
func (a *Activities) Execute(ctx context.Context, in protocol.ExecuteInput) (any, error) {
	defer heartbeat(ctx)()
	ctx, end := a.beginCall(ctx, in)
	value, err := a.execute(ctx, in)
	err = unreported(ctx, err)
	end(err)
	return value, err
}

func (a *Activities) execute(ctx context.Context, in protocol.ExecuteInput) (any, error) {
	params, scopes, err := a.restore(ctx, in)
	if err != nil {
		return nil, err
	}
	value, err := a.run(ctx, in, params, scopes)
	if err != nil {
		return nil, failure(err)
	}
	branch, result, said, err := in.Landing.Take(value)
	if err == nil {
		err = a.check(in, branch, result)
	}
	if err != nil {
		return nil, final(ideafile.CodeBadOutput, err)
	}
	result, err = a.keep(ctx, result)
	if err != nil || !said {
		return result, err
	}
	return in.Landing.Say(branch, result), nil
}

// keep puts what is large of a result into the store. Where it cannot, the tool has run all the same.
func (a *Activities) keep(ctx context.Context, value any) (any, error) {
	light, err := patiently(ctx, func() (any, error) { return a.Store.Offload(ctx, value) })
	if err != nil {
		return nil, temporal.NewApplicationErrorWithOptions(clip("the tool ran, and its result could not be kept: "+err.Error()),
			ideafile.CodeOutcomeUnknown, temporal.ApplicationErrorOptions{})
	}
	return light, nil
}

// restore gives parameters and scopes as the Tool sees them, and checks those that only now are whole.
func (a *Activities) restore(ctx context.Context, in protocol.ExecuteInput) (params, scopes map[string]any, err error) {
	whole, err := patiently(ctx, func() (any, error) {
		return a.Store.Restore(ctx, map[string]any{"params": in.Params, "scopes": in.Scopes})
	})
	if err != nil {
		return nil, nil, err
	}
	m := whole.(map[string]any)
	params, _ = m["params"].(map[string]any)
	scopes, _ = m["scopes"].(map[string]any)
	if in.Form == nil {
		return params, scopes, nil
	}
	form, err := jsonschema.CompileSchema(in.Form)
	if err == nil {
		err = form.Validate(params)
	}
	if err != nil {
		return nil, nil, final(ideafile.CodeBadParams, err)
	}
	return params, scopes, nil
}

func (a *Activities) run(ctx context.Context, in protocol.ExecuteInput, params, scopes map[string]any) (any, error) {
	if in.Binding.Simulated != nil {
		return a.play(in)
	}
	key := protocol.IdempotencyKey(in.Process, in.Token, in.Call)
	if in.Binding.Kind == ideafile.KindHTTP {
		spec, err := httptool.ParseSpec(in.HTTP)
		if err != nil {
			return nil, tools.Final(err)
		}
		return a.HTTP.Do(ctx, spec, params, scopes, key)
	}
	if in.Binding.Kind == ideafile.KindMCP {
		return a.callMCP(ctx, in, params, key)
	}
	tool, ok := a.Tools.Lookup(in.Binding.Name)
	if !ok {
		// Another worker may know it: this one may be older, or newer.
		return nil, fmt.Errorf("this worker knows no tool %q", in.Binding.Name)
	}
	return tool.Call(tools.WithCallInfo(ctx, tools.Info{
		Process: in.Process, Instance: in.Token, CallID: in.Call, IdempotencyKey: key,
		Attempt: int(activity.GetInfo(ctx).Attempt), Scopes: scopes,
	}), params)
}

// check says how a result does not fit: too large, not of the Tool's form, not of the State schema's.
func (a *Activities) check(in protocol.ExecuteInput, branch int, value any) error {
	limit := a.MaxResult
	if limit == 0 {
		limit = defaultMaxResult
	}
	data := jsonval.Encode(value)
	if n := len(data); n > limit {
		return fmt.Errorf("the result has %d bytes; the limit is %d", n, limit)
	}
	// What is kept must be readable again: no deeper, no larger numbers than Decode takes.
	if _, err := jsonval.Decode(data); err != nil {
		return fmt.Errorf("the result cannot be kept: %w", err)
	}
	if in.Output != nil {
		form, err := jsonschema.CompileSchema(in.Output)
		if err == nil {
			err = form.Validate(value)
		}
		if err != nil {
			return fmt.Errorf("the result does not fit the tool's _output: %w", err)
		}
	}
	return in.Landing.Check(branch, value)
}

func final(code string, err error) error {
	return temporal.NewApplicationErrorWithOptions(err.Error(), code, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// failure words a Tool's error for Temporal: whether to try again, and not before when.
func failure(err error) error {
	o := temporal.ApplicationErrorOptions{NonRetryable: tools.IsFinal(err)}
	var h *httptool.Error
	if errors.As(err, &h) {
		o.NonRetryable = !h.Retry
		o.NextRetryDelay = min(h.RetryAfter, time.Hour)
	}
	code := ideafile.CodeToolFailed
	var m *mcptool.Error
	if errors.As(err, &m) {
		code = m.Code
	}
	return temporal.NewApplicationErrorWithOptions(clip(err.Error()), code, o)
}

// maxMessage keeps an error below the 4 KB at which Temporal cuts it.
const maxMessage = 2000

func clip(s string) string {
	if r := []rune(s); len(r) > maxMessage {
		return string(r[:maxMessage]) + "…"
	}
	return s
}
