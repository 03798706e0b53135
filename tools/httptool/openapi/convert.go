package openapi

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// converter turns schemas of a document into self-contained ones.
type converter struct {
	doc    *document
	hidden string // readOnly for requests, writeOnly for answers: such members are left out
	// maxDepth is the maximum depth of schemas; deeper ones are reduced to their type. If it is negative, there is no
	// maximum, and referenced schemas become definitions.
	maxDepth    int
	inside      []string // references that are being followed
	bases       []string // references to base schemas that stand for themselves, not for what inherits from them
	names       map[string]string
	used        map[string]bool
	definitions jsonval.Object
	nodes       int
	maxNodes    int             // a larger schema is not used
	lost        map[string]bool // what was left out
	outside     errOutside      // a reference that leaves the document
}

// maxNodes bounds the schemas that are visited for one schema: documents refer to themselves in hundreds of places.
const maxNodes = 3000

func newConverter(d *document, hidden string, maxDepth, maxNodes int) *converter {
	return &converter{doc: d, hidden: hidden, maxDepth: maxDepth, maxNodes: maxNodes, names: map[string]string{},
		used:        map[string]bool{},
		definitions: jsonval.Object{}, lost: map[string]bool{}}
}

// convert converts one schema.
func (c *converter) convert(schema any) any { return c.schema(schema, 0) }

func (c *converter) schema(schema any, depth int) any {
	m, ok := schema.(jsonval.Object)
	if !ok {
		return schema // true or false
	}
	c.nodes++
	if c.nodes > c.maxNodes {
		return jsonval.Object{}
	}
	if c.maxDepth >= 0 && depth > c.maxDepth {
		return c.stubSchema(m)
	}
	if ref, ok := m["$ref"].(string); ok {
		return c.followRef(ref, m, depth)
	}
	if part, beside, ok := soleSchema(m); ok {
		return c.described(part, beside, depth)
	}
	out := c.convertKeywords(m)
	for _, k := range ofSchemas {
		if parts, ok := m[k].(jsonval.Object); ok {
			out[k] = c.members(parts, out, k == "properties", depth)
		}
	}
	for _, k := range ofLists {
		if parts, ok := m[k].([]any); ok {
			list := make([]any, len(parts))
			for n, p := range parts {
				list[n] = c.schema(p, depth+1)
			}
			out[k] = list
		}
	}
	c.relaxDiscriminatedOneOf(m, out)
	for _, k := range ofSchema {
		if part := m[k]; part != nil {
			out[k] = c.schema(part, depth+1)
		}
	}
	if m["nullable"] == true {
		return allowNull(out)
	}
	return out
}

// relaxDiscriminatedOneOf turns oneOf with a discriminator into anyOf: the discriminator says which schema a value
// has, and other schemas may fit it too. In requests, the discriminator is restricted to the texts of its mapping.
func (c *converter) relaxDiscriminatedOneOf(m, out jsonval.Object) {
	by := jsonval.AsObject(m["discriminator"])
	list, ok := out["oneOf"].([]any)
	if !ok || by == nil || out["anyOf"] != nil {
		return
	}
	delete(out, "oneOf")
	out["anyOf"] = list
	property := jsonval.AsText(by["propertyName"])
	for n, part := range jsonval.AsList(m["oneOf"]) {
		ref := jsonval.AsText(jsonval.AsObject(part)["$ref"])
		var texts []any
		for text, to := range jsonval.Sorted(jsonval.AsObject(by["mapping"])) {
			if ref != "" && (to == ref || "#/components/schemas/"+jsonval.AsText(to) == ref) {
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 && property != "" && c.hidden == "readOnly" {
			c.nodes += 2
			list[n] = jsonval.Object{"allOf": []any{list[n], jsonval.Object{
				"properties": jsonval.Object{property: jsonval.Object{"enum": texts}}}}}
		}
	}
}

// described converts a schema of an allOf whose other schemas only add annotations to it.
func (c *converter) described(part any, beside []jsonval.Object, depth int) any {
	out, ok := c.schema(part, depth).(jsonval.Object)
	if !ok {
		return part
	}
	null := false
	for _, a := range beside {
		maps.Copy(out, c.convertKeywords(a))
		null = null || a["nullable"] == true
	}
	if null {
		return allowNull(out)
	}
	return out
}

// members converts the schemas under names. Hidden properties are left out, and are no longer required.
func (c *converter) members(parts, out jsonval.Object, properties bool, depth int) any {
	list := jsonval.Object{}
	for name, p := range parts {
		if properties && c.doc.plainSchema(p)[c.hidden] == true {
			if required, ok := out["required"].([]any); ok {
				out["required"] = slices.DeleteFunc(slices.Clone(required), func(v any) bool { return v == name })
			}
			continue
		}
		list[name] = c.schema(p, depth+1)
	}
	return list
}

// followRef replaces a reference into the document by a reference to a definition, or by its target.
func (c *converter) followRef(ref string, m jsonval.Object, depth int) any {
	target, err := c.doc.find(ref)
	if err != nil || (slices.Contains(c.inside, ref) && c.maxDepth >= 0) {
		if err != nil {
			c.lost["reference "+err.Error()] = true
			errors.As(err, &c.outside)
		}
		return c.stubSchema(m)
	}
	bases := c.bases
	defer func() { c.bases = bases }()
	if forms := c.doc.subtypes(ref); forms != nil && c.hidden == "readOnly" && !slices.Contains(bases, ref) {
		target, c.bases = forms, append(slices.Clip(bases), ref)
		return c.schema(target, depth)
	}
	c.bases = append(slices.Clip(bases), refsOfAllOf(target)...)
	beside := jsonval.Object{}
	if !c.doc.IsOpenAPI30() { // 3.0 ignores what is beside $ref
		beside = maps.Clone(m)
		delete(beside, "$ref")
		beside = c.schema(beside, depth).(jsonval.Object)
	}
	if c.maxDepth >= 0 {
		c.inside = append(c.inside, ref)
		out := c.schema(target, depth)
		c.inside = c.inside[:len(c.inside)-1]
		if into, ok := out.(jsonval.Object); ok {
			maps.Copy(into, beside)
		}
		return out
	}
	beside["$ref"] = "#/$defs/" + c.addDefinition(ref, target)
	return beside
}

// addDefinition adds the target of a reference to the definitions, under the last part of its name.
func (c *converter) addDefinition(ref string, target any) string {
	if name, ok := c.names[ref]; ok {
		return name
	}
	last := ref[strings.LastIndex(ref, "/")+1:]
	name := uniqueName(toolName(last), 1<<10, c.used)
	c.names[ref] = name
	key := c.hidden + " " + ref
	if c.doc.knownNodes[key] > c.maxNodes-fewNodes {
		c.nodes = c.maxNodes + 1
		return name
	}
	before := c.nodes
	c.definitions[name] = c.schema(target, 0)
	c.doc.knownNodes[key] = max(c.doc.knownNodes[key], c.nodes-before)
	return name
}

// fewNodes bounds the nodes above a reference whose schema is known to be too large.
const fewNodes = 16

// stubSchema returns the rest of a schema that is cut off: its description and its type.
func (c *converter) stubSchema(m jsonval.Object) any {
	out := jsonval.Object{}
	plain := c.doc.plainSchema(m)
	for _, from := range []jsonval.Object{plain, m} {
		if d := jsonval.AsText(from["description"]); d != "" {
			out["description"] = d
		}
	}
	kind := c.doc.schemaType(m)
	if kind == "" {
		return out
	}
	out["type"] = kind
	if types, ok := plain["type"].([]any); ok {
		out["type"] = types
	}
	if plain["nullable"] == true || m["nullable"] == true {
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

// root adds the definitions to a self-contained schema.
func (c *converter) root(m jsonval.Object) jsonval.Object {
	if len(c.definitions) > 0 {
		m["$defs"] = c.definitions
	}
	return m
}
