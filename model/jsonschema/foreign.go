package jsonschema

import (
	"strings"

	"processidea/model/jsonval"
)

// IsValidKeyword reports whether a keyword compiles by itself, under the `$schema` of the schema around it if there is
// one. Its subschemas count as sound.
func IsValidKeyword(root jsonval.Object, keyword string, v any) bool {
	if ref, isText := v.(string); isText && keyword == "$ref" && strings.HasPrefix(ref, "#") {
		_, isFound := ResolvePointer(root, ref[1:])
		return isFound || !strings.HasPrefix(ref, "#/")
	}
	minimalSchema := MapSubschemas(jsonval.Object{keyword: v}, func(string, any) any { return true })
	if draft, ok := root["$schema"]; ok && keyword != "$schema" && IsValidKeyword(nil, "$schema", draft) {
		minimalSchema["$schema"] = draft
	}
	parsed, err := parseSchema(jsonval.Encode(minimalSchema))
	if err == nil {
		_, err = parsed.compileAt("")
	}
	return err == nil
}

// RewriteForNewestDraft replaces a keyword that drafts 3 to 7 read in another way. It returns false for any other
// keyword.
func RewriteForNewestDraft(schema jsonval.Object, keyword string) bool {
	v := schema[keyword]
	boundKeyword, isExclusive := strings.CutPrefix(keyword, "exclusive")
	flag, isFlag := v.(bool)
	list, isList := v.([]any)
	switch {
	case isExclusive && isFlag:
		boundKeyword = strings.ToLower(boundKeyword)
		delete(schema, keyword)
		if flag && IsValidKeyword(nil, boundKeyword, schema[boundKeyword]) {
			schema[keyword] = schema[boundKeyword]
			delete(schema, boundKeyword)
		}
	case keyword == "items" && isList:
		delete(schema, keyword)
		schema["prefixItems"] = list
		if additionalItems, ok := schema["additionalItems"]; ok {
			schema[keyword] = additionalItems
		}
	default:
		return false
	}
	return true
}
