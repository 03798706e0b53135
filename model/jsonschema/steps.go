package jsonschema

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"processidea/model/jsonval"
)

// The validator checks a value once for every way through the schema that leads to it, and cannot be stopped:
// references that multiply would keep it at work for years. So the work is bounded beforehand, as the number of schema
// parts that can check one value at a depth, times the number of values at that depth.

const (
	// maxValidationSteps bounds how often parts of a schema may check a value or anything inside it.
	maxValidationSteps = 2_000_000
	// maxInPlaceSubschemas bounds how many parts of a schema may check one and the same value.
	maxInPlaceSubschemas = 10_000
)

// validationStepCounter bounds the work of validating by the parts of one schema.
type validationStepCounter struct {
	mu                   sync.Mutex
	countBySchemaAtDepth map[schemaAtDepth]float64   // guarded by mu
	checkedSchemas       map[*jsonschema.Schema]bool // guarded by mu
}

// schemaAtDepth is a part of a schema, and a number of levels below the value that the part checks. If depth is not 0,
// isInArray says whether that value is an array or an object.
type schemaAtDepth struct {
	schema    *jsonschema.Schema
	depth     int
	isInArray bool
}

func newStepCounter() *validationStepCounter {
	return &validationStepCounter{countBySchemaAtDepth: map[schemaAtDepth]float64{},
		checkedSchemas: map[*jsonschema.Schema]bool{}}
}

// checkStepLimit returns an error if checking a value against a schema may take too many steps.
func (c *validationStepCounter) checkStepLimit(s *jsonschema.Schema, v any) error {
	if c.countSteps(s, v) > maxValidationSteps {
		return fmt.Errorf("checking it would take more than %d steps: "+
			"the value is too large, or references in the schema multiply", maxValidationSteps)
	}
	return nil
}

// countSteps returns the most steps that checking a value against a schema can take.
func (c *validationStepCounter) countSteps(s *jsonschema.Schema, v any) (stepCount float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for depth, values := range countValuesByDepth(v, 0, nil) {
		stepCount += float64(values) * c.countSubschemasAtDepth(s, depth)
	}
	return stepCount
}

// checkSubschemaCount refuses a schema with more than maxInPlaceSubschemas parts that check the same value.
func (c *validationStepCounter) checkSubschemaCount(s *jsonschema.Schema) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for todo := []*jsonschema.Schema{s}; len(todo) > 0; todo = todo[1:] {
		current := todo[0]
		if c.checkedSchemas[current] {
			continue
		}
		c.checkedSchemas[current] = true
		if c.countSubschemasAtDepth(current, 0) > maxInPlaceSubschemas {
			return fmt.Errorf("its references multiply: one value would be held against more than %d parts of it",
				maxInPlaceSubschemas)
		}
		todo = append(todo, allSubschemas(current)...)
	}
	return nil
}

// countSubschemasAtDepth counts the parts of a schema that check the same value depth levels within. The count is
// infinite if a part leads back to itself over the same value.
func (c *validationStepCounter) countSubschemasAtDepth(s *jsonschema.Schema, depth int) float64 {
	count := c.countSubschemas(schemaAtDepth{s, depth, false})
	if depth > 0 {
		count = max(count, c.countSubschemas(schemaAtDepth{s, depth, true}))
	}
	return count
}

// countSubschemas is countSubschemasAtDepth for an array or for an object. Only the object key with the most parts
// counts, since no value is under two keys.
func (c *validationStepCounter) countSubschemas(key schemaAtDepth) (count float64) {
	if cachedCount, ok := c.countBySchemaAtDepth[key]; ok {
		return cachedCount
	}
	c.countBySchemaAtDepth[key] = math.Inf(1) // while it is being counted
	for _, p := range inPlaceSubschemas(key.schema) {
		count += c.countSubschemas(schemaAtDepth{p, key.depth, key.isInArray})
	}
	propertySchemas, anyKeySchemas := subschemasForKeys(key.schema)
	switch {
	case key.depth == 0:
		propertySchemas, anyKeySchemas = nil, nil
		count++
	case key.isInArray:
		propertySchemas, anyKeySchemas = nil, subschemasForItems(key.schema)
	}
	maxCount := 0.0
	for _, p := range propertySchemas {
		maxCount = max(maxCount, c.countSubschemasAtDepth(p, key.depth-1))
	}
	for _, p := range anyKeySchemas {
		count += c.countSubschemasAtDepth(p, key.depth-1)
	}
	c.countBySchemaAtDepth[key] = count + maxCount
	return count + maxCount
}

// countValuesByDepth adds to counts the number of values at each level below a value that is itself at a depth.
func countValuesByDepth(v any, depth int, counts []int) []int {
	if len(counts) == depth {
		counts = append(counts, 0)
	}
	counts[depth]++
	for e := range jsonval.ChildValues(v) {
		counts = countValuesByDepth(e, depth+1, counts)
	}
	return counts
}

// countValueNodes counts a value with all that it holds, up to a limit.
func countValueNodes(v any, limit int) int {
	n := 1
	for e := range jsonval.ChildValues(v) {
		if n > limit {
			break
		}
		n += countValueNodes(e, limit-n)
	}
	return n
}

// inPlaceSubschemas lists the parts that check the same value as the schema itself.
func inPlaceSubschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	list := slices.Concat([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.DynamicRef, s.Not, s.If, s.Then, s.Else},
		s.AllOf, s.AnyOf, s.OneOf)
	//workflowcheck:ignore -- counted, in any order
	for _, d := range s.Dependencies {
		p, _ := d.(*jsonschema.Schema)
		list = append(list, p)
	}
	//workflowcheck:ignore -- counted, in any order
	for _, p := range s.DependentSchemas {
		list = append(list, p)
	}
	return slices.DeleteFunc(list, isAbsent)
}

// subschemasForItems lists the parts that check the items of an array.
func subschemasForItems(s *jsonschema.Schema) []*jsonschema.Schema {
	list := slices.Concat([]*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems}, s.PrefixItems)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		list = append(list, items)
	case []*jsonschema.Schema:
		list = append(list, items...)
	}
	additional, _ := s.AdditionalItems.(*jsonschema.Schema)
	return slices.DeleteFunc(append(list, additional), isAbsent)
}

func isAbsent(s *jsonschema.Schema) bool { return s == nil }

// subschemasForKeys lists the parts that check what is inside an object: propertySchemas are for one key each, and
// anyKeySchemas for any key.
func subschemasForKeys(s *jsonschema.Schema) (propertySchemas, anyKeySchemas []*jsonschema.Schema) {
	//workflowcheck:ignore -- counted, in any order
	for _, p := range s.Properties {
		propertySchemas = append(propertySchemas, p)
	}
	//workflowcheck:ignore -- counted, in any order
	for _, p := range s.PatternProperties {
		anyKeySchemas = append(anyKeySchemas, p)
	}
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	anyKeySchemas = append(anyKeySchemas, additional, s.UnevaluatedProperties, s.PropertyNames)
	return propertySchemas, slices.DeleteFunc(anyKeySchemas, isAbsent)
}

// allSubschemas lists the parts that check the value, or anything inside it.
func allSubschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	propertySchemas, anyKeySchemas := subschemasForKeys(s)
	return slices.Concat(inPlaceSubschemas(s), subschemasForItems(s), propertySchemas, anyKeySchemas)
}
