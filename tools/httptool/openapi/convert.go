package openapi

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// converter turns schemas of a document into self-contained ones.
type converter struct {
	doc     *document
	omitKey string // readOnly for requests, writeOnly for answers: such members are left out
	// maxDepth is the maximum depth of schemas; deeper ones are reduced to their type. If it is negative, there is no
	// maximum, and referenced schemas become definitions.
	maxDepth      int
	refStack      []string // references that are being followed
	baseRefs      []string // references to base schemas that stand for themselves, not for what inherits from them
	nameByRef     map[string]string
	usedNames     map[string]bool
	definitions   jsonval.Object
	nodeCount     int
	maxNodes      int             // a larger schema is not used
	droppedParts  map[string]bool // what was left out
	outsideRefErr outsideRefError // a reference that leaves the document
}

// maxNodes bounds the schemas that are visited for one schema: documents refer to themselves in hundreds of places.
const maxNodes = 3000

func newConverter(d *document, omitKey string, maxDepth, maxNodes int) *converter {
	return &converter{doc: d, omitKey: omitKey, maxDepth: maxDepth, maxNodes: maxNodes, nameByRef: map[string]string{},
		usedNames:   map[string]bool{},
		definitions: jsonval.Object{}, droppedParts: map[string]bool{}}
}

// convert converts one schema.
func (c *converter) convert(schema any) any { return c.convertAt(schema, 0) }

func (c *converter) convertAt(schema any, depth int) any {
	if _, isBool := schema.(bool); isBool {
		return schema
	}
	m, ok := schema.(jsonval.Object)
	if !ok {
		c.dropPart("schema", schema)
		return jsonval.Object{}
	}
	c.nodeCount++
	if c.nodeCount > c.maxNodes {
		return jsonval.Object{}
	}
	if c.maxDepth >= 0 && depth > c.maxDepth {
		return c.stubSchema(m)
	}
	if ref, ok := m["$ref"].(string); ok {
		return c.followRef(ref, m, depth)
	}
	if part, annotations, ok := soleConstrainingSchema(m); ok {
		return c.convertAnnotated(part, annotations, depth)
	}
	out := jsonschema.MapSubschemas(c.withoutOmittedMembers(c.convertKeywords(m)), func(_ string, part any) any {
		return c.convertAt(part, depth+1)
	})
	c.relaxDiscriminatedOneOf(m, out)
	if m["nullable"] == true {
		return allowNull(out)
	}
	return out
}

// dropPart records that a part is left out.
func (c *converter) dropPart(name string, v any) {
	c.droppedParts[name+" "+jsonval.Clip(jsonval.EncodeToString(v), 100)] = true
}

// relaxDiscriminatedOneOf turns oneOf with a discriminator into anyOf: the discriminator says which schema a value
// has, and other schemas may fit it too. In requests, the discriminator is restricted to the texts of its mapping.
func (c *converter) relaxDiscriminatedOneOf(m, out jsonval.Object) {
	discriminator := jsonval.AsObject(m["discriminator"])
	list, ok := out["oneOf"].([]any)
	if !ok || discriminator == nil || out["anyOf"] != nil {
		return
	}
	delete(out, "oneOf")
	out["anyOf"] = list
	propertyName := jsonval.AsText(discriminator["propertyName"])
	for n, part := range jsonval.AsList(m["oneOf"]) {
		ref := jsonval.AsText(jsonval.AsObject(part)["$ref"])
		var texts []any
		for text, target := range jsonval.Sorted(jsonval.AsObject(discriminator["mapping"])) {
			if ref != "" && (target == ref || "#/components/schemas/"+jsonval.AsText(target) == ref) {
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 && propertyName != "" && c.omitKey == "readOnly" {
			c.nodeCount += 2
			list[n] = jsonval.Object{"allOf": []any{list[n], jsonval.Object{
				"properties": jsonval.Object{propertyName: jsonval.Object{"enum": texts}}}}}
		}
	}
}

// convertAnnotated converts a schema of an allOf whose other schemas only add annotations to it.
func (c *converter) convertAnnotated(part any, annotations []jsonval.Object, depth int) any {
	out, ok := c.convertAt(part, depth).(jsonval.Object)
	if !ok {
		return part
	}
	isNullable := false
	for _, a := range annotations {
		maps.Copy(out, c.convertKeywords(a))
		isNullable = isNullable || a["nullable"] == true
	}
	if isNullable {
		return allowNull(out)
	}
	return out
}

// withoutOmittedMembers leaves out the hidden properties of a schema, which are then no longer required.
func (c *converter) withoutOmittedMembers(schema jsonval.Object) jsonval.Object {
	properties, exists := schema["properties"].(jsonval.Object)
	if !exists {
		return schema
	}
	isOmitted := func(name any) bool { return c.doc.unwrapSchema(properties[jsonval.AsText(name)])[c.omitKey] == true }
	if required, ok := schema["required"].([]any); ok {
		schema["required"] = slices.DeleteFunc(slices.Clone(required), isOmitted)
	}
	properties = maps.Clone(properties)
	maps.DeleteFunc(properties, func(name string, _ any) bool { return isOmitted(name) })
	schema["properties"] = properties
	return schema
}

// followRef replaces a reference into the document by a reference to a definition, or by its target.
func (c *converter) followRef(ref string, m jsonval.Object, depth int) any {
	target, err := c.doc.resolveRef(ref)
	if err != nil || (slices.Contains(c.refStack, ref) && c.maxDepth >= 0) {
		if err != nil {
			c.droppedParts["reference "+err.Error()] = true
			errors.As(err, &c.outsideRefErr)
		}
		return c.stubSchema(m)
	}
	previousBaseRefs := c.baseRefs
	defer func() { c.baseRefs = previousBaseRefs }()
	if variants := c.doc.subtypesSchema(ref); variants != nil && c.omitKey == "readOnly" &&
		!slices.Contains(previousBaseRefs, ref) {
		target, c.baseRefs = variants, append(slices.Clip(previousBaseRefs), ref)
		return c.convertAt(target, depth)
	}
	c.baseRefs = append(slices.Clip(previousBaseRefs), refsOfAllOf(target)...)
	siblings := jsonval.Object{}
	if !c.doc.isVersion30 { // 3.0 ignores what is beside $ref
		siblings = maps.Clone(m)
		delete(siblings, "$ref")
		siblings = c.convertAt(siblings, depth).(jsonval.Object)
	}
	if c.maxDepth >= 0 {
		c.refStack = append(c.refStack, ref)
		out := c.convertAt(target, depth)
		c.refStack = c.refStack[:len(c.refStack)-1]
		if object, ok := out.(jsonval.Object); ok {
			maps.Copy(object, siblings)
		}
		return out
	}
	siblings["$ref"] = "#/$defs/" + c.addDefinition(ref, target)
	return siblings
}

// addDefinition adds the target of a reference to the definitions, under the last part of its name.
func (c *converter) addDefinition(ref string, target any) string {
	if name, ok := c.nameByRef[ref]; ok {
		return name
	}
	lastStep := ref[strings.LastIndex(ref, "/")+1:]
	name := reserveUniqueName(toolNameFromID(lastStep), 1<<10, c.usedNames)
	c.nameByRef[ref] = name
	key := c.omitKey + " " + ref
	if c.doc.minNodesByRef[key] > c.maxNodes-maxNodesAboveRef {
		c.nodeCount = c.maxNodes + 1
		return name
	}
	nodeCountBefore := c.nodeCount
	c.definitions[name] = c.convertAt(target, 0)
	c.doc.minNodesByRef[key] = max(c.doc.minNodesByRef[key], c.nodeCount-nodeCountBefore)
	return name
}

// maxNodesAboveRef bounds the nodes above a reference whose schema is known to be too large.
const maxNodesAboveRef = 16

// stubSchema returns the rest of a schema that is cut off: its description and its type.
func (c *converter) stubSchema(m jsonval.Object) any {
	out := jsonval.Object{}
	unwrapped := c.doc.unwrapSchema(m)
	for _, source := range []jsonval.Object{unwrapped, m} {
		if d := jsonval.AsText(source["description"]); d != "" {
			out["description"] = d
		}
	}
	schemaType := c.doc.schemaType(m)
	if schemaType == "" {
		return out
	}
	out["type"] = schemaType
	if types, ok := unwrapped["type"].([]any); ok {
		out["type"] = types
	}
	if unwrapped["nullable"] == true || m["nullable"] == true {
		return allowNull(out)
	}
	return out
}

// allowNull returns a schema that also allows null.
func allowNull(m jsonval.Object) any {
	if values, ok := m["enum"].([]any); ok && !slices.Contains(values, nil) {
		m["enum"] = append(slices.Clone(values), nil)
	}
	switch t := m["type"].(type) {
	case string:
		m["type"] = []any{t, "null"}
		return m
	case []any:
		if !slices.Contains(t, any("null")) {
			m["type"] = append(slices.Clone(t), "null")
		}
		return m
	}
	if len(m) == 0 {
		return m
	}
	return jsonval.Object{"anyOf": []any{m, jsonval.Object{"type": "null"}}}
}

// withDefinitions adds the definitions to a self-contained schema.
func (c *converter) withDefinitions(m jsonval.Object) jsonval.Object {
	if len(c.definitions) > 0 {
		m["$defs"] = c.definitions
	}
	return m
}
