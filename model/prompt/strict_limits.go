package prompt

import (
	"fmt"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

const (
	maxStrictDepth      = 10
	maxStrictProperties = 5000
	maxStrictEnumValues = 1000
	minLongEnumValues   = 250 // the length of an enum from which the total length of its values is bounded
	maxLongEnumChars    = 15_000
	maxStrictNameChars  = 120_000 // total characters of property names, definition names, enum and const values
)

// exceededStrictLimit returns the size limit of strict mode that a composed schema exceeds, or "".
func exceededStrictLimit(schema any) string {
	c := strictLimitCounter{rootSchema: schema, countedRefs: map[string]bool{}}
	c.countSchema(schema, 1)
	if c.exceededLimit != "" {
		return c.exceededLimit
	}
	switch {
	case c.propertyCount > maxStrictProperties:
		return fmt.Sprintf("%d properties, over %d", c.propertyCount, maxStrictProperties)
	case c.enumValueCount > maxStrictEnumValues:
		return fmt.Sprintf("%d enum values, over %d", c.enumValueCount, maxStrictEnumValues)
	case c.nameCharCount > maxStrictNameChars:
		return fmt.Sprintf("%d characters of names, over %d", c.nameCharCount, maxStrictNameChars)
	}
	return ""
}

type strictLimitCounter struct {
	rootSchema                                   any
	propertyCount, enumValueCount, nameCharCount int
	exceededLimit                                string
	countedRefs                                  map[string]bool // definitions already counted
	// checksDepthOnly is set inside a definition that was already counted, where only the depth still matters.
	checksDepthOnly bool
}

// countSchema counts a schema and its subschemas. A definition is counted once, but its depth counts wherever it is
// used.
func (c *strictLimitCounter) countSchema(schema any, level int) {
	object, ok := schema.(jsonval.OrderedObject)
	if !ok || c.exceededLimit != "" {
		return
	}
	if level > maxStrictDepth {
		c.exceededLimit = fmt.Sprintf("more than %d levels", maxStrictDepth)
		return
	}
	for _, f := range object {
		switch f.Key {
		case "properties":
			for _, p := range f.Value.(jsonval.OrderedObject) {
				c.addCounts(1, 0, len([]rune(p.Key)))
				c.countSchema(p.Value, level+1)
			}
		case "items":
			c.countSchema(f.Value, level+1)
		case "anyOf":
			for _, e := range f.Value.([]any) {
				c.countSchema(e, level)
			}
		case "$ref":
			c.countReferencedSchema(f.Value.(string), level)
		case "$defs":
			for _, d := range f.Value.(jsonval.OrderedObject) {
				c.addCounts(0, 0, len([]rune(d.Key)))
			}
		case "enum":
			c.countEnum(f.Value)
		case "const":
			c.addCounts(0, 0, len([]rune(fmt.Sprint(f.Value))))
		}
	}
}

func (c *strictLimitCounter) addCounts(propertyCount, enumValueCount, nameCharCount int) {
	if !c.checksDepthOnly {
		c.propertyCount, c.enumValueCount, c.nameCharCount = c.propertyCount+propertyCount, c.enumValueCount+enumValueCount,
			c.nameCharCount+nameCharCount
	}
}

// countReferencedSchema walks a definition where it is referenced.
func (c *strictLimitCounter) countReferencedSchema(ref string, level int) {
	outerDepthOnly := c.checksDepthOnly
	c.checksDepthOnly = outerDepthOnly || c.countedRefs[ref]
	c.countedRefs[ref] = true
	c.countSchema(c.definition(ref), level)
	c.checksDepthOnly = outerDepthOnly
}

func (c *strictLimitCounter) countEnum(v any) {
	list := jsonval.AsList(v)
	charCount := 0
	for _, e := range list {
		charCount += len([]rune(fmt.Sprint(e)))
	}
	c.addCounts(0, len(list), charCount)
	if len(list) > minLongEnumValues && charCount > maxLongEnumChars {
		c.exceededLimit = fmt.Sprintf("an enum of %d values with %d characters, over %d", len(list), charCount,
			maxLongEnumChars)
	}
}

func (c *strictLimitCounter) definition(ref string) any {
	root, _ := c.rootSchema.(jsonval.OrderedObject)
	definitions, _ := root.Value("$defs").(jsonval.OrderedObject)
	return definitions.Value(jsonschema.UnescapePointerStep(strings.TrimPrefix(ref, "#/$defs/")))
}
