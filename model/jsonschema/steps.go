package jsonschema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The validator looks at a value once for every way that leads to it through a schema, and cannot be stopped: references that multiply
// would keep it at work for years. So the ways are counted before, by a count that itself takes no longer than the schema and the value
// are large.

const (
	// maxSteps is how many parts of a schema one value, with all that it holds, may be held against.
	maxSteps = 2_000_000
	// maxInPlace is how many parts of a schema may be held against one and the same value.
	maxInPlace = 10_000
)

// stepCounter bounds the work of validating by the parts of one schema. The zero stepCounter bounds nothing.
type stepCounter struct{ *stepMemo }

type stepMemo struct {
	mu             sync.Mutex
	weightBySchema map[*jsonschema.Schema]float64 // guarded by mu
}

func newStepCounter() stepCounter {
	return stepCounter{&stepMemo{weightBySchema: map[*jsonschema.Schema]float64{}}}
}

// checkStepLimit gives an error if holding a value against a schema would take too many steps.
func (c stepCounter) checkStepLimit(s *jsonschema.Schema, v any) error {
	if c.countSteps(s, v, maxSteps) > maxSteps {
		return fmt.Errorf("it would be held against parts of the schema more than %d times: the value is too large, or the schema's references multiply", maxSteps)
	}
	return nil
}

// countSteps gives how many steps it takes at most to hold a value against a schema, and more than the limit if it may take more.
func (c stepCounter) countSteps(s *jsonschema.Schema, v any, limit float64) float64 {
	if c.stepMemo == nil {
		return 1
	}
	c.mu.Lock()
	weight := countSubschemaPaths(s, c.weightBySchema, allSubschemas)
	c.mu.Unlock()
	nodes := float64(countValueNodes(v, maxSteps))
	if nodes > limit || weight*nodes <= limit {
		return max(1, weight*nodes, nodes)
	}
	t := validationStepCounter{countsByTypedSchema: map[schemaForValueKind]checksBySubschema{}, stepsAllowed: limit}
	t.countValue(v, checksBySubschema{s: 1})
	return t.stepsTaken
}

// inPlaceChecker remembers which parts of a schema were looked at, and what they weigh in place.
type inPlaceChecker struct {
	weightBySchema map[*jsonschema.Schema]float64
	alreadyChecked map[*jsonschema.Schema]bool
}

func newInPlaceChecker() inPlaceChecker {
	return inPlaceChecker{map[*jsonschema.Schema]float64{}, map[*jsonschema.Schema]bool{}}
}

// checkSubschemaCount refuses a schema that holds one value against more parts than may be.
func (m inPlaceChecker) checkSubschemaCount(s *jsonschema.Schema) error {
	for todo := []*jsonschema.Schema{s}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		if m.alreadyChecked[at] {
			continue
		}
		m.alreadyChecked[at] = true
		if countSubschemaPaths(at, m.weightBySchema, inPlaceSubschemas) > maxInPlace {
			return fmt.Errorf("its references multiply: one value would be held against more than %d parts of it", maxInPlace)
		}
		todo = append(todo, allSubschemas(at)...)
	}
	return nil
}

// countSubschemaPaths counts a schema with its parts, each as often as a way leads to it: infinitely often in one that leads back to itself.
func countSubschemaPaths(s *jsonschema.Schema, memo map[*jsonschema.Schema]float64, partsOf func(*jsonschema.Schema) []*jsonschema.Schema) float64 {
	if w, ok := memo[s]; ok {
		return w
	}
	memo[s] = math.Inf(1) // while it is being counted
	w := 1.0
	for _, p := range partsOf(s) {
		w += countSubschemaPaths(p, memo, partsOf)
	}
	memo[s] = w
	return w
}

// countValueNodes counts a value with all that it holds, up to a limit.
func countValueNodes(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		//workflowcheck:ignore -- a sum, in any order
		for _, e := range v {
			if n > limit {
				break
			}
			n += countValueNodes(e, limit-n)
		}
	case []any:
		for _, e := range v {
			if n > limit {
				break
			}
			n += countValueNodes(e, limit-n)
		}
	}
	return n
}

// inPlaceCheckCounts lists the parts that are held against the same value as the schema.
func inPlaceSubschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	list := slices.Concat([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.DynamicRef, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	//workflowcheck:ignore -- counted, in any order
	for _, d := range s.Dependencies {
		if p, ok := d.(*jsonschema.Schema); ok {
			list = append(list, p)
		}
	}
	//workflowcheck:ignore -- counted, in any order
	for _, p := range s.DependentSchemas {
		list = append(list, p)
	}
	return slices.DeleteFunc(list, func(p *jsonschema.Schema) bool { return p == nil })
}

// subschemasForItems lists the parts that are held against the items of an array.
func subschemasForItems(s *jsonschema.Schema) []*jsonschema.Schema {
	list := slices.Concat([]*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems}, s.PrefixItems)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		list = append(list, items)
	case []*jsonschema.Schema:
		list = append(list, items...)
	}
	if p, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
		list = append(list, p)
	}
	return slices.DeleteFunc(list, func(p *jsonschema.Schema) bool { return p == nil })
}

// subschemasForKey lists the parts that are held against the value at a key of an object.
func subschemasForKey(s *jsonschema.Schema, key string) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	if p := s.Properties[key]; p != nil {
		list = append(list, p)
	}
	//workflowcheck:ignore -- counted, in any order
	for re, p := range s.PatternProperties {
		if re.MatchString(key) {
			list = append(list, p)
		}
	}
	if p, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(list) == 0 {
		list = append(list, p)
	}
	if s.UnevaluatedProperties != nil {
		list = append(list, s.UnevaluatedProperties)
	}
	return list
}

// allSubschemas lists the parts that are held against the value, or against anything in it.
func allSubschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	list := append(inPlaceSubschemas(s), subschemasForItems(s)...)
	//workflowcheck:ignore -- counted, in any order
	for _, p := range s.Properties {
		list = append(list, p)
	}
	//workflowcheck:ignore -- counted, in any order
	for _, p := range s.PatternProperties {
		list = append(list, p)
	}
	if p, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		list = append(list, p)
	}
	for _, p := range []*jsonschema.Schema{s.UnevaluatedProperties, s.PropertyNames} {
		if p != nil {
			list = append(list, p)
		}
	}
	return list
}

// checksBySubschema counts how often each part of a schema is held against one value.
type checksBySubschema map[*jsonschema.Schema]float64

type schemaForValueKind struct {
	schema    *jsonschema.Schema
	valueKind byte // of value: o, a or another
}

// validationStepCounter counts what the validator would do with a value.
type validationStepCounter struct {
	stepsTaken, stepsAllowed float64
	countsByTypedSchema      map[schemaForValueKind]checksBySubschema
}

// countValue counts a value and all that it holds; false: there are too many steps.
func (t *validationStepCounter) countValue(v any, from checksBySubschema) bool {
	kind := valueKindOf(v)
	all := checksBySubschema{}
	//workflowcheck:ignore -- a sum, in any order
	for s, n := range from {
		//workflowcheck:ignore -- a sum, in any order
		for p, k := range t.inPlaceCheckCounts(schemaForValueKind{s, kind}) {
			all[p] += n * k
			t.stepsTaken += n * k
		}
	}
	if t.stepsTaken > t.stepsAllowed {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		//workflowcheck:ignore -- all or none, in any order
		for k, e := range v {
			if !t.countValue(e, all.forChildValue(func(s *jsonschema.Schema) []*jsonschema.Schema { return subschemasForKey(s, k) })) {
				return false
			}
		}
	case []any:
		items := all.forChildValue(subschemasForItems)
		for _, e := range v {
			if !t.countValue(e, items) {
				return false
			}
		}
	}
	return true
}

func (w checksBySubschema) forChildValue(partsOf func(*jsonschema.Schema) []*jsonschema.Schema) checksBySubschema {
	out := checksBySubschema{}
	//workflowcheck:ignore -- a sum, in any order
	for s, n := range w {
		for _, p := range partsOf(s) {
			out[p] += n
		}
	}
	return out
}

// inPlaceCheckCounts counts how often the parts that are held against the same value are: none of those of a schema that wants another type.
func (t *validationStepCounter) inPlaceCheckCounts(at schemaForValueKind) checksBySubschema {
	if w, ok := t.countsByTypedSchema[at]; ok {
		return w
	}
	w := checksBySubschema{at.schema: 1}
	t.countsByTypedSchema[at] = w // a part that leads back to itself is no schema: the validator says so
	if !typesAllowKind(at.schema.Types, at.valueKind) {
		t.countsByTypedSchema[at] = checksBySubschema{}
		return checksBySubschema{}
	}
	for _, p := range inPlaceSubschemas(at.schema) {
		//workflowcheck:ignore -- a sum, in any order
		for q, k := range t.inPlaceCheckCounts(schemaForValueKind{p, at.valueKind}) {
			w[q] += k
		}
	}
	return w
}

func valueKindOf(v any) byte {
	switch v.(type) {
	case map[string]any:
		return 'o'
	case []any:
		return 'a'
	case string:
		return 's'
	case json.Number:
		return 'n'
	}
	return 'x'
}

// typesAllowKind reports whether values of a kind may fit one of the types.
func typesAllowKind(types []string, kind byte) bool {
	if len(types) == 0 {
		return true
	}
	for _, name := range types {
		if (kind == 'n' && name == "integer") || name[0] == kind || (kind == 'x' && (name == "null" || name == "boolean")) {
			return true
		}
	}
	return false
}
