package dataflow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// ResolvedParams returns the parameters with which a Call started, or with which it would start now.
func (i *Instance) ResolvedParams(rec *CallRecord) (map[string]any, error) {
	if rec.readyCall != nil {
		return rec.readyCall.Params, nil
	}
	return i.resolveParams(rec)
}

func (i *Instance) resolveParams(rec *CallRecord) (map[string]any, error) {
	v, err := refexpr.ResolveReferences(rec.Params, i.stateLookupForCall(rec))
	if err != nil {
		return nil, err
	}
	params, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("parameters are an object")
	}
	scopes := i.scopeValues(rec)
	if n := jsonval.SizeWithBlobsUpToLimit(params, jsonval.MaxWhole); n+jsonval.SizeWithBlobsUpToLimit(scopes, jsonval.MaxWhole) > jsonval.MaxWhole {
		return nil, fmt.Errorf("parameters and scopes: %w", refexpr.ErrTooLarge)
	}
	return params, nil
}

// stateLookupForCall returns the lookup of References as a Call sees them from its place in the Plan.
func (i *Instance) stateLookupForCall(rec *CallRecord) func(refexpr.Reference) (any, bool) {
	return func(ref refexpr.Reference) (any, bool) {
		if ref.Kind == ideafile.TypeState {
			v, visible := i.visibleValue(rec, ref.Path)
			return v, visible != absent
		}
		return i.lookupOutsideState(ref)
	}
}

func (i *Instance) lookupOutsideState(ref refexpr.Reference) (any, bool) {
	payload, known := i.contextView.PayloadByKind[ref.Kind]
	if !known {
		return nil, false
	}
	return refexpr.ValueOrBlobHandleAt(payload, ref.Path)
}

// scopeValues resolves the scopes of a Call, which it gets beside its parameters. Of State they hold what earlier Calls have
// written so far: a Call does not wait for its scopes to fill.
func (i *Instance) scopeValues(rec *CallRecord) map[string]any {
	if len(rec.ReadableScopes) == 0 {
		return nil
	}
	values := map[string]any{}
	for _, scope := range rec.ReadableScopes {
		ref, err := refexpr.ParseScope(scope)
		if err != nil {
			continue
		}
		from, ok := i.contextView.PayloadByKind[ref.Kind]
		if ref.Kind == ideafile.TypeState {
			from, ok = i.state.BeforeCall(rec.Request, rec.Index, ref.Path).CurrentValue, true
		}
		if v, found := refexpr.ValueOrBlobHandleAt(from, ref.Path); ok && found {
			values[strings.TrimPrefix(scope, refexpr.Dagger)] = v
		}
	}
	return values
}

// withTextTypeHint adds to the error of parameters that do not fit their Tool which of them came as a text and reads as what is
// wanted: the columns of a CSV file are texts, and nobody sees it.
func (i *Instance) withTextTypeHint(err error, tool *ideafile.Tool, raw, params map[string]any) error {
	if err == nil {
		return nil
	}
	for _, k := range jsonval.SortedKeys(raw) {
		if cause := i.textTypeHint(tool, jsonval.Path{k}, raw[k], params[k]); cause != "" {
			return fmt.Errorf("%w; %s", err, cause)
		}
	}
	return err
}

func (i *Instance) textTypeHint(tool *ideafile.Tool, at jsonval.Path, raw, value any) string {
	switch raw := raw.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(raw) {
			if cause := i.textTypeHint(tool, append(at[:len(at):len(at)], k), raw[k], jsonval.AsObject(value)[k]); cause != "" {
				return cause
			}
		}
	case string:
		text, isText := value.(string)
		ref, err := refexpr.ParseReference(raw)
		if !isText || err != nil || len(ref.Path) != 1 {
			return ""
		}
		start, _ := jsonval.ValueAt(i.contextView.PayloadByKind[ref.Kind], ref.Path)
		is := typeOfUnquotedText(text, jsonschema.TypesAt(tool.ParamsSchemaSource(), at))
		if start == any(text) && is != "" {
			return fmt.Sprintf(`%s is the text %q: if it comes from a CSV file, give the column its type in the Idea's context: `+
				`{"type": %q, "schema": {"properties": {%q: {"type": %q}}}}`,
				ref, jsonval.Clip(text, 40), ref.Kind, ref.Path[0], is)
		}
	}
	return ""
}

// typeOfUnquotedText is which of the wanted types a text would have without its quotes; "" for none.
func typeOfUnquotedText(text string, wanted []string) string {
	v, err := jsonval.Decode([]byte(strings.ToLower(text)))
	if err != nil {
		return ""
	}
	for _, t := range []string{jsonschema.SchemaTypeOf(v), jsonval.TypeOf(v)} {
		if slices.Contains(wanted, t) {
			return t
		}
	}
	return ""
}
