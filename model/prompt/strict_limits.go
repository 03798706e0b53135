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
	longEnumValues      = 250 // the length of an enum from which the total length of its values is bounded
	maxLongEnumChars    = 15_000
	maxStrictNameChars  = 120_000 // total characters of property names, definition names, enum and const values
)

// exceededLimit returns the size limit of strict mode that a composed schema exceeds, or "".
func exceededLimit(schema any) string {
	c := strictCounter{root: schema, countedRefs: map[string]bool{}}
	c.walk(schema, 1)
	if c.exceeded != "" {
		return c.exceeded
	}
	switch {
	case c.properties > maxStrictProperties:
		return fmt.Sprintf("%d properties, over %d", c.properties, maxStrictProperties)
	case c.enumValues > maxStrictEnumValues:
		return fmt.Sprintf("%d enum values, over %d", c.enumValues, maxStrictEnumValues)
	case c.nameChars > maxStrictNameChars:
		return fmt.Sprintf("%d characters of names, over %d", c.nameChars, maxStrictNameChars)
	}
	return ""
}

type strictCounter struct {
	root                              any
	properties, enumValues, nameChars int
	exceeded                          string
	countedRefs                       map[string]bool // definitions already counted
	depthOnly                         bool            // inside a definition already counted: only the depth still matters
}

// walk counts a schema and its subschemas. Definitions are counted once, but their depth wherever they are used.
func (c *strictCounter) walk(schema any, level int) {
	object, ok := schema.(jsonval.Ordered)
	if !ok || c.exceeded != "" {
		return
	}
	if level > maxStrictDepth {
		c.exceeded = fmt.Sprintf("more than %d levels", maxStrictDepth)
		return
	}
	for _, f := range object {
		switch f.Key {
		case "properties":
			for _, p := range f.Value.(jsonval.Ordered) {
				c.count(1, 0, len([]rune(p.Key)))
				c.walk(p.Value, level+1)
			}
		case "items":
			c.walk(f.Value, level+1)
		case "anyOf":
			for _, e := range f.Value.([]any) {
				c.walk(e, level)
			}
		case "$ref":
			c.walkRef(f.Value.(string), level)
		case "$defs":
			for _, d := range f.Value.(jsonval.Ordered) {
				c.count(0, 0, len([]rune(d.Key)))
			}
		case "enum":
			c.countEnum(f.Value)
		case "const":
			c.count(0, 0, len([]rune(fmt.Sprint(f.Value))))
		}
	}
}

func (c *strictCounter) count(properties, enumValues, nameChars int) {
	if !c.depthOnly {
		c.properties, c.enumValues, c.nameChars = c.properties+properties, c.enumValues+enumValues, c.nameChars+nameChars
	}
}

// walkRef walks a definition where it is referenced.
func (c *strictCounter) walkRef(ref string, level int) {
	outerDepthOnly := c.depthOnly
	c.depthOnly = outerDepthOnly || c.countedRefs[ref]
	c.countedRefs[ref] = true
	c.walk(c.definition(ref), level)
	c.depthOnly = outerDepthOnly
}

func (c *strictCounter) countEnum(v any) {
	list, _ := v.([]any)
	chars := 0
	for _, e := range list {
		chars += len([]rune(fmt.Sprint(e)))
	}
	c.count(0, len(list), chars)
	if len(list) > longEnumValues && chars > maxLongEnumChars {
		c.exceeded = fmt.Sprintf("an enum of %d values with %d characters, over %d", len(list), chars, maxLongEnumChars)
	}
}

func (c *strictCounter) definition(ref string) any {
	name := jsonschema.UnescapePointer(strings.TrimPrefix(ref, "#/$defs/"))
	root, _ := c.root.(jsonval.Ordered)
	for _, f := range root {
		if f.Key != "$defs" {
			continue
		}
		for _, d := range f.Value.(jsonval.Ordered) {
			if d.Key == name {
				return d.Value
			}
		}
	}
	return nil
}
