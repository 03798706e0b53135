package dataflow

import (
	"errors"
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// ResolvedParams returns the parameters with which a Call started, or with which it would start now.
func (i *Instance) ResolvedParams(rec *CallRecord) (jsonval.Object, error) {
	if rec.readyCall != nil {
		return rec.readyCall.Params, nil
	}
	return i.resolveParams(rec)
}

func (i *Instance) resolveParams(rec *CallRecord) (jsonval.Object, error) {
	lookup := i.referenceLookupForCall(rec)
	v, err := rec.parsedParams.Resolve(func(e refexpr.Expression) (any, bool) { return e.Evaluate(lookup) })
	if err != nil {
		return nil, err
	}
	params, ok := v.(jsonval.Object)
	if !ok {
		return nil, errors.New("parameters are an object")
	}
	scopeValues := i.scopeValues(rec)
	if n := jsonval.SizeWithBlobsUpToLimit(params,
		jsonval.MaxResolvedBytes); n+jsonval.SizeWithBlobsUpToLimit(scopeValues,
		jsonval.MaxResolvedBytes) > jsonval.MaxResolvedBytes {
		return nil, fmt.Errorf("parameters and scopes: %w", refexpr.ErrResolvedTooLarge)
	}
	return params, nil
}

// referenceLookupForCall returns the lookup of References as a Call sees them from its place in the Plan.
func (i *Instance) referenceLookupForCall(rec *CallRecord) func(refexpr.Reference) (any, bool) {
	return func(ref refexpr.Reference) (any, bool) {
		if ref.Kind == ideafile.TypeState {
			v, visibility := i.visibleValue(rec, ref.Path)
			return v, visibility != visibilityAbsent
		}
		return i.lookupOutsideState(ref)
	}
}

func (i *Instance) lookupOutsideState(ref refexpr.Reference) (any, bool) {
	payload, isKnown := i.contextView.PayloadByKind[ref.Kind]
	if !isKnown {
		return nil, false
	}
	return refexpr.ValueOrBlobHandleAt(payload, ref.Path)
}

// scopeValues resolves the scopes of a Call, which it gets beside its parameters. Scopes in State have what earlier
// Calls have written so far: a Call does not wait for its scopes to fill.
func (i *Instance) scopeValues(rec *CallRecord) jsonval.Object {
	if len(rec.ReadableScopes) == 0 {
		return nil
	}
	values := jsonval.Object{}
	for _, scope := range rec.ReadableScopes {
		ref, err := refexpr.ParseScope(scope)
		if err != nil {
			continue
		}
		payload, ok := i.contextView.PayloadByKind[ref.Kind]
		if ref.Kind == ideafile.TypeState {
			payload, ok = i.state.StateBeforeCall(rec.Request, rec.Index, ref.Path).CurrentValue, true
		}
		if v, isFound := refexpr.ValueOrBlobHandleAt(payload, ref.Path); ok && isFound {
			values[strings.TrimPrefix(scope, refexpr.Dagger)] = v
		}
	}
	return values
}
