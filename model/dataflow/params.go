package dataflow

import (
	"errors"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/refexpr"
)

// ResolvedParams returns the parameters with which a Call started, or with which it would start now.
func (i *Instance) ResolvedParams(rec *Record) (map[string]any, error) {
	if rec.ready != nil {
		return rec.ready.Params, nil
	}
	return i.resolveParams(rec)
}

func (i *Instance) resolveParams(rec *Record) (map[string]any, error) {
	v, err := refexpr.Resolve(rec.Params, i.lookupFor(rec))
	if err != nil {
		return nil, err
	}
	params, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("parameters are an object")
	}
	return params, nil
}

// lookupFor returns the lookup of References as a Call sees them from its place in the Plan.
func (i *Instance) lookupFor(rec *Record) func(refexpr.Reference) (any, bool) {
	return func(ref refexpr.Reference) (any, bool) {
		if ref.Kind == ideafile.TypeState {
			v, visible := i.visibleValue(rec, ref.Path)
			return v, visible != absent
		}
		return i.lookupOutsideState(ref)
	}
}

func (i *Instance) lookupOutsideState(ref refexpr.Reference) (any, bool) {
	payload, known := i.view.Payload[ref.Kind]
	if !known {
		return nil, false
	}
	return refexpr.LookupIn(payload, ref.Path)
}

// scopeValues resolves the scopes of a Call, which it gets beside its parameters. Of State they hold what earlier Calls have
// written so far: a Call does not wait for its scopes to fill.
func (i *Instance) scopeValues(rec *Record) map[string]any {
	if len(rec.Scopes) == 0 {
		return nil
	}
	values := map[string]any{}
	for _, scope := range rec.Scopes {
		ref, err := refexpr.ParseScope(scope)
		if err != nil {
			continue
		}
		from, ok := i.view.Payload[ref.Kind]
		if ref.Kind == ideafile.TypeState {
			from, ok = i.state.Before(rec.Request, rec.Index, ref.Path).Current, true
		}
		if v, found := refexpr.LookupIn(from, ref.Path); ok && found {
			values[strings.TrimPrefix(scope, refexpr.Dagger)] = v
		}
	}
	return values
}
