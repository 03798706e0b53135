package jsonschema

import (
	"strings"

	"processidea/model/jsonval"
)

// IsValidKeyword reports whether a keyword compiles by itself, under the `$schema` of the schema around it if there is
// one. Its subschemas count as sound.
func IsValidKeyword(root jsonval.Object, keyword string, v any) bool {
	if ref, isText := v.(string); isText && keyword == "$ref" && strings.HasPrefix(ref, "#") {
		_, found := ResolvePointer(root, ref[1:])
		return found || !strings.HasPrefix(ref, "#/")
	}
	minimalSchema := MapSubschemas(jsonval.Object{keyword: v}, func(string, any) any { return true })
	if draft, ok := root["$schema"]; ok && keyword != "$schema" && IsValidKeyword(nil, "$schema", draft) {
		minimalSchema["$schema"] = draft
	}
	parsed, err := parseSchema(jsonval.Encode(minimalSchema))
	if err == nil {
		_, err = parsed.compiledAt("")
	}
	return err == nil
}

// RewriteForNewestDraft replaces a keyword that drafts 3 to 7 read in another way. It returns false for any other
// keyword.
func RewriteForNewestDraft(schema jsonval.Object, keyword string) bool {
	v := schema[keyword]
	bound, isExclusive := strings.CutPrefix(keyword, "exclusive")
	flag, isFlag := v.(bool)
	list, isList := v.([]any)
	switch {
	case isExclusive && isFlag:
		bound = strings.ToLower(bound)
		delete(schema, keyword)
		if flag && IsValidKeyword(nil, bound, schema[bound]) {
			schema[keyword] = schema[bound]
			delete(schema, bound)
		}
	case keyword == "items" && isList:
		delete(schema, keyword)
		schema["prefixItems"] = list
		if more, ok := schema["additionalItems"]; ok {
			schema[keyword] = more
		}
	default:
		return false
	}
	return true
}
