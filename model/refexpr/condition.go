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
	VerdictOmit
	VerdictUndecided
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

// Decide evaluates the Condition. A part that cannot be evaluated does not hold. The verdict is VerdictUndecided if it
// depends on a value that is in the blob store, and so cannot be looked at.
func (c *Condition) Decide(view any) Verdict {
	holds, isKnown := decideIfFitsSchema(c.When, view)
	switch {
	case holds && isKnown:
		return Do
	case !isKnown:
		return VerdictUndecided
	case c.Unless == nil:
		return VerdictOmit
	}
	if holds, isKnown = decideIfFitsSchema(c.Unless, view); holds && isKnown {
		return VerdictOmit
	}
	return VerdictUndecided
}

// decideIfFitsSchema reports whether a view fits a JSON Schema. isKnown is false if that depends on a value in the blob
// store.
func decideIfFitsSchema(schemaSource, view any) (holds, isKnown bool) {
	holds = FitsSchema(schemaSource, view)
	if !jsonval.ContainsBlobHandle(view) {
		return holds, true
	}
	if holds {
		s, err := jsonschema.CompileSchema(schemaSource)
		return true, err == nil && s.MatchesForAnyBlobs(view)
	}
	for kind, payload := range jsonval.Sorted(jsonval.AsObject(view)) {
		if slices.ContainsFunc(pathsReadBySchema(schemaSource, kind, nil),
			func(p jsonval.Path) bool { return touchesBlobHandle(payload, p) }) {
			return false, false
		}
	}
	return false, true
}

// touchesBlobHandle reports whether a BlobHandle is at a path, above it or below it.
func touchesBlobHandle(v any, p jsonval.Path) bool {
	for _, step := range p {
		if _, isBlob := jsonval.AsBlobHandle(v); isBlob {
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

// PathsRead lists the places below one key of a view that the Condition looks at.
func (c *Condition) PathsRead(viewKey string) []jsonval.Path {
	paths := append(pathsReadBySchema(c.When, viewKey, nil), pathsReadBySchema(c.Unless, viewKey, nil)...)
	slices.SortFunc(paths, slices.Compare[jsonval.Path])
	return slices.CompactFunc(paths, slices.Equal[jsonval.Path])
}

// pathsReadBySchema lists the places below one key of a view that a JSON Schema reads: prefix is its position in the
// view.
func pathsReadBySchema(source any, viewKey string, prefix jsonval.Path) (paths []jsonval.Path) {
	schema := jsonval.AsObject(source)
	for k, v := range jsonval.Sorted(schema) {
		var parts []any
		switch {
		case k == "properties":
			for name, value := range jsonval.Sorted(jsonval.AsObject(v)) {
				paths = append(paths, pathsReadBySchema(value, viewKey, prefix.WithStep(name))...)
			}
		case k == "required":
			for _, name := range jsonschema.Required(schema) {
				if len(prefix) > 0 && prefix[0] == viewKey {
					paths = append(paths, prefix[1:].WithStep(name))
				}
			}
		case slices.Contains(jsonschema.InPlaceKeywords, k):
			parts = jsonschema.PartsOfKeyword(schema, k)
		case k == "title" || k == "description" || k == "type" && len(prefix) <= 1:
		case len(prefix) == 0:
			paths = append(paths, jsonval.Path{}) // the keyword may look anywhere
		case prefix[0] == viewKey:
			paths = append(paths, slices.Clone(prefix[1:]))
		}
		for _, part := range parts {
			paths = append(paths, pathsReadBySchema(part, viewKey, prefix)...)
		}
	}
	return paths
}
