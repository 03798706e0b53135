package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"processidea/internal/safego"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/tools"
	"processidea/tools/memory"
	"processidea/tools/runner"
	"processidea/tools/simulated"
)

// ExecuteCall runs one Call's Tool. Large values are read from the store before, and written to the store afterwards:
// workflows see their handles only.
func (a *Activities) ExecuteCall(ctx context.Context, in protocol.ExecuteInput) (any, error) {
	defer StartHeartbeats(ctx)()
	if wasAttemptedBefore(activity.GetInfo(ctx)) {
		return nil, errEndedByOperator
	}
	endTurn, err := a.acquireLimitTurn(ctx, in)
	if err != nil {
		return nil, translateShutdownError(ctx, err)
	}
	defer endTurn()
	ctx, releaseMemory := a.MemoryBudget.WithReservation(ctx)
	defer releaseMemory()
	ctx, endObservation := a.observeCall(ctx, in)
	value, err := a.executeTool(ctx, in)
	if err = translateShutdownError(ctx, err); err != nil && wasEndedByOperator(ctx) {
		err = errEndedByOperator
	}
	endObservation(err)
	return value, err
}

func (a *Activities) executeTool(ctx context.Context, in protocol.ExecuteInput) (any, error) {
	params, scopeValues, err := a.restoreInputs(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := a.checkStoreWritable(ctx, in); err != nil {
		return nil, err
	}
	value, err := a.runTool(ctx, in, params, scopeValues)
	info := activity.GetInfo(ctx)
	retryDelay, doesInstanceRetry := callRetryDelay(info, in, err)
	a.reportToolWait(ctx, in, "Call "+in.CallID+" of "+in.Tool, err, retryDelay)
	switch {
	case doesInstanceRetry:
		return nil, throttledError(info, err, retryDelay)
	case err != nil:
		return nil, toolError(err)
	}
	branch, result, hasBranch, err := a.selectAndCheckBranch(in, value)
	if err != nil {
		return nil, nonRetryableError(ideafile.CodeBadOutput, err)
	}
	result, err = a.offloadLargeValues(ctx, result, in.IsResultForWholeState)
	if err == nil && hasBranch {
		result = in.ResultContract.WrapResultWithBranch(branch, result)
	}
	if err == nil {
		err = a.checkStorable(ctx, result)
	}
	if err != nil {
		return nil, resultNotStoredError(in, err)
	}
	return result, nil
}

// offloadLargeValues puts the large values of a value into the store: workflows see their handles only. keepsTopLevel:
// an object stays an object, however large it is, and only its members are stored.
func (a *Activities) offloadLargeValues(ctx context.Context, value any, keepsTopLevel bool) (any, error) {
	offload := a.Store.Offload
	if keepsTopLevel {
		offload = a.Store.OffloadMembers
	}
	return retryStoreOperation(ctx, func() (any, error) { return offload(ctx, value) })
}

// checkStoreWritable refuses to run a Tool if, as far as is known, the store could not keep its result. A pure Tool may
// run in vain.
func (a *Activities) checkStoreWritable(ctx context.Context, in protocol.ExecuteInput) error {
	if in.Binding.IsPureFunction {
		return nil
	}
	if err := a.Store.CheckWritableAfterFailure(ctx); err != nil {
		return storeUnavailableError(err)
	}
	return nil
}

// resultNotStoredError is the error of a Tool that ran and whose result could not be kept. A Tool that is not pure has
// had its effect all the same.
func resultNotStoredError(in protocol.ExecuteInput, err error) error {
	if in.Binding.IsPureFunction && blobs.IsTransient(err) {
		return storeUnavailableError(err)
	}
	return temporal.NewApplicationErrorWithOptions(jsonval.Clip("the tool ran, and its result could not be kept: "+
		err.Error(), maxErrorChars),
		ideafile.CodeOutcomeUnknown, temporal.ApplicationErrorOptions{})
}

// maxCallInputBytes bounds the parameters and scopes of a Call together, in bytes of JSON.
const maxCallInputBytes = jsonval.MaxResolvedBytes + 1<<10 // with the names around them

var errInputsTooLarge = fmt.Errorf("parameters and scopes: %w", refexpr.ErrResolvedTooLarge)

// restoreInputs returns parameters and scopes with the large values in them. Parameters with large values are checked
// now, since workflows could not check them.
func (a *Activities) restoreInputs(ctx context.Context,
	in protocol.ExecuteInput) (params, scopeValues jsonval.Object, err error) {
	restoredInputs, err := a.restoreWithin(ctx, jsonval.Object{"params": in.Params, "scopes": in.ScopeValues},
		maxCallInputBytes, 1,
		nonRetryableError(ideafile.CodeBadParams, errInputsTooLarge))
	if err != nil {
		return nil, nil, err
	}
	m := restoredInputs.(jsonval.Object)
	params, _ = m["params"].(jsonval.Object)
	scopeValues, _ = m["scopes"].(jsonval.Object)
	if in.ParamsSchema == nil {
		return params, scopeValues, nil
	}
	if err := checkAgainstSchema(in.ParamsSchema, params); err != nil {
		return nil, nil, nonRetryableError(ideafile.CodeBadParams, err)
	}
	return params, scopeValues, nil
}

// restoreWithin returns a value with the large values in it, of at most limit bytes, or else tooLargeErr. The memory of
// as many copies is reserved for it.
func (a *Activities) restoreWithin(ctx context.Context, value any, maxBytes, copyCount int,
	tooLargeErr error) (any, error) {
	size := jsonval.SizeWithBlobsUpToLimit(value, maxBytes)
	if size > maxBytes {
		return nil, tooLargeErr
	}
	if err := memory.Reserve(ctx, copyCount*size); err != nil {
		return nil, err
	}
	restored, err := retryStoreOperation(ctx, func() (any, error) {
		return a.Store.RestoreWithin(ctx, value,
			maxBytes)
	})
	if errors.Is(err, blobs.ErrTooLarge) {
		return nil, tooLargeErr
	}
	return restored, err
}

// checkAgainstSchema returns why a value does not fit a schema.
func checkAgainstSchema(schema, value any) error {
	compiled, err := jsonschema.CompileSchema(schema)
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// runTool runs the Tool, or makes its result up where it is simulated.
func (a *Activities) runTool(ctx context.Context, in protocol.ExecuteInput, params,
	scopeValues jsonval.Object) (any, error) {
	toolRunner, ok := a.Runners.Lookup(in.Binding.Kind)
	if in.Binding.Simulation != nil {
		toolRunner, ok = simulated.Runner{Functions: a.Tools, OutputSchema: in.OutputSchema,
			ResultContract: in.ResultContract}, true
	}
	if !ok {
		// Not final: another worker, of an older or a newer version, may know it.
		return nil, a.Runners.NewUnknownKindError(in.Binding.Kind)
	}
	call := runner.Input{
		ProcessID: in.ProcessID, InstanceToken: in.InstanceToken, CallID: in.CallID, ToolName: in.Tool, Params: params,
		ScopeValues:    scopeValues,
		Spec:           in.RunnerSpec,
		IdempotencyKey: in.IdempotencyKey(), Attempt: int(activity.GetInfo(ctx).Attempt),
		FitsAsResult: func(value any) bool {
			_, _, _, err := a.selectAndCheckBranch(in, value)
			return err == nil
		},
	}
	var value any
	// A function that ends its goroutine would otherwise leave its Call without an end.
	err := safego.GoAndWait("activities.tool", func() (err error) {
		defer func() {
			if p := recover(); p != nil { // not logged: it may quote encrypted data
				err = &tools.PanicError{ValueText: safego.PanicText(p), Stack: safego.Stack()}
			}
		}()
		value, err = toolRunner.Run(ctx, call)
		return err
	})
	return value, err
}

// selectAndCheckBranch returns the branch that a Tool's result takes and the value for that branch, or why the result
// is unfit.
func (a *Activities) selectAndCheckBranch(in protocol.ExecuteInput, value any) (
	branch int, result any, hasBranch bool, err error,
) {
	branch, result, hasBranch, err = in.ResultContract.SelectBranch(value)
	if err == nil {
		err = a.checkResult(in, branch, result)
	}
	return branch, result, hasBranch, err
}

// checkResult returns why a result is unfit: it is too large, or violates the Tool's `_output` or the State schema.
func (a *Activities) checkResult(in protocol.ExecuteInput, branch int, value any) error {
	maxBytes := cmp.Or(a.MaxResultBytes, defaultMaxResultBytes)
	data := jsonval.Encode(value)
	if n := len(data); n > maxBytes {
		return fmt.Errorf("the result has %d bytes; the limit is %d", n, maxBytes)
	}
	// It must be readable again: nested no deeper, and with no larger numbers, than Decode accepts.
	if _, err := jsonval.Decode(data); err != nil {
		return fmt.Errorf("the result cannot be kept: %w", err)
	}
	if in.OutputSchema != nil {
		if err := checkAgainstSchema(in.OutputSchema, value); err != nil {
			return fmt.Errorf("the result does not fit the tool's _output: %w", err)
		}
	}
	return in.ResultContract.Check(branch, value)
}

// ExecuteBatch runs several pure Calls, one per processor at a time, each with its own timeout.
func (a *Activities) ExecuteBatch(ctx context.Context, calls []protocol.BatchCall) ([]protocol.BatchCallResult, error) {
	results := make([]protocol.BatchCallResult, len(calls))
	err := safego.ForEach(ctx, "activities.burst", len(calls), runtime.GOMAXPROCS(0),
		func(ctx context.Context, n int) error {
			results[n] = a.executeWithTimeout(ctx, calls[n])
			return nil
		})
	return results, err
}

// executeWithTimeout runs one Call. It leaves a function behind that goes on running after the end of its context.
func (a *Activities) executeWithTimeout(ctx context.Context, c protocol.BatchCall) protocol.BatchCallResult {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	resultChannel := make(chan protocol.BatchCallResult, 1)
	var value any
	safego.Go("activities.burst.call", func() (err error) {
		value, err = a.ExecuteCall(ctx, c.ExecuteInput)
		return err
	}, func(err error) { resultChannel <- protocol.NewBatchCallResult(value, err) })
	select {
	case e := <-resultChannel:
		return e
	case <-ctx.Done():
		return protocol.NewBatchCallResult(nil, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil))
	}
}
