package refexpr

import (
	"errors"
	"slices"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// Condition decides, from a view, whether something is done. Both parts are JSON Schemas.
type Condition struct {
	// When must hold for something to be done. Without Unless, nothing is done if When does not hold.
	When any `json:"when"`
	// Unless says when nothing is done. If neither part holds, the Condition is undecided.
	Unless any `json:"unless,omitempty"`
}

// Verdict is the result of a Condition for a view.
type Verdict int

// The results of a Condition.
const (
	Do Verdict = iota
	Omit
	Undecided
)

// Check returns why the Condition cannot be evaluated, or nil.
func (c *Condition) Check() error {
	if c.When == nil {
		return errors.New("the second needs the first")
	}
	for _, source := range []any{c.When, c.Unless} {
		if source == nil {
			continue
		}
		if _, err := jsonschema.CompileSchema(source); err != nil {
			return err
		}
	}
	return nil
}

// Decide evaluates the Condition. A part that cannot be evaluated does not hold. The verdict is Undecided if it depends
// on a value that is in the blob store, and so cannot be looked at.
func (c *Condition) Decide(view any) Verdict {
	holds, known := decideSchema(c.When, view)
	switch {
	case holds && known:
		return Do
	case !known:
		return Undecided
	case c.Unless == nil:
		return Omit
	}
	if holds, known = decideSchema(c.Unless, view); holds && known {
		return Omit
	}
	return Undecided
}

// decideSchema reports whether a view fits a JSON Schema. known is false if that depends on a value in the blob store.
func decideSchema(source, view any) (holds, known bool) {
	holds = FitsSchema(source, view)
	if !jsonval.ContainsBlobHandle(view) {
		return holds, true
	}
	if holds {
		s, err := jsonschema.CompileSchema(source)
		return true, err == nil && s.HoldsWhateverIsLarge(view)
	}
	for kind, payload := range jsonval.Sorted(jsonval.AsObject(view)) {
		if slices.ContainsFunc(schemaReads(source, kind, nil),
			func(p jsonval.Path) bool { return meetsBlobHandle(payload, p) }) {
			return false, false
		}
	}
	return false, true
}

// meetsBlobHandle reports whether a BlobHandle is at a path, above it or below it.
func meetsBlobHandle(v any, p jsonval.Path) bool {
	for _, step := range p {
		if _, is := jsonval.AsBlobHandle(v); is {
			return true
		}
		v, _ = jsonval.ChildValue(v, step)
	}
	return jsonval.ContainsBlobHandle(v)
}

// FitsSchema reports whether a value fits a JSON Schema. No value fits a schema that cannot be evaluated.
func FitsSchema(schema, view any) bool {
	s, err := jsonschema.CompileSchema(schema)
	if err != nil {
		return false
	}
	ok, err := s.Matches(view)
	return ok && err == nil
}

// Reads lists the places below one key of a view that the Condition looks at.
func (c *Condition) Reads(key string) []jsonval.Path {
	all := append(schemaReads(c.When, key, nil), schemaReads(c.Unless, key, nil)...)
	slices.SortFunc(all, slices.Compare[jsonval.Path])
	return slices.CompactFunc(all, slices.Equal[jsonval.Path])
}

// schemaReads lists the places below one key of a view that a JSON Schema reads: at is its position in the view.
func schemaReads(source any, key string, at jsonval.Path) (places []jsonval.Path) {
	schema := jsonval.AsObject(source)
	for k, v := range jsonval.Sorted(schema) {
		var parts []any
		switch {
		case k == "properties":
			for name, value := range jsonval.Sorted(jsonval.AsObject(v)) {
				places = append(places, schemaReads(value, key, at.With(name))...)
			}
		case k == "required":
			for _, name := range jsonschema.Required(schema) {
				if len(at) > 0 && at[0] == key {
					places = append(places, at[1:].With(name))
				}
			}
		case slices.Contains(jsonschema.InPlaceKeywords, k):
			parts = jsonschema.InPlaceParts(schema, k)
		case k == "title" || k == "description" || k == "type" && len(at) <= 1:
		case len(at) == 0:
			places = append(places, jsonval.Path{}) // the keyword may look anywhere
		case at[0] == key:
			places = append(places, slices.Clone(at[1:]))
		}
		for _, part := range parts {
			places = append(places, schemaReads(part, key, at)...)
		}
	}
	return places
}
