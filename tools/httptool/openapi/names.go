package openapi

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

const maxToolNameBytes = 64 // bytes, as in package ideafile

var (
	nonToolNameChars  = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
	nonParamNameChars = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
	nonEnvNameChars   = regexp.MustCompile(`[^A-Z0-9_]+`)
	envNamePattern    = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
	camelCaseBoundary = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// toolNameFromID turns an operationId into a Tool's name.
func toolNameFromID(id string) string {
	name := strings.Trim(nonToolNameChars.ReplaceAllString(id, "_"), "_.-")
	if name == "" {
		return "operation"
	}
	return name[:min(len(name), maxToolNameBytes)]
}

// nameFromMethodAndPath names an operation that has no id: getPetsByPetId for GET /pets/{petId}.
func nameFromMethodAndPath(method, path string) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(method))
	for segment := range strings.SplitSeq(path, "/") {
		inner, isParameter := strings.CutPrefix(segment, "{")
		if isParameter {
			b.WriteString("By")
		}
		for word := range strings.FieldsFuncSeq(inner,
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			r := []rune(word)
			b.WriteString(string(unicode.ToUpper(r[0])) + string(r[1:]))
		}
	}
	return b.String()
}

// templateParamName returns a parameter's name that templates can contain, and that is no meta property.
func templateParamName(name string) string {
	return strings.Trim(nonParamNameChars.ReplaceAllString(name, "_"), "_-")
}

// reserveUniqueName returns a name that is not yet used, of at most maxLength bytes, and marks it as used.
func reserveUniqueName(name string, maxLength int, usedNames map[string]bool) string {
	candidate := name
	for n := 2; usedNames[candidate]; n++ {
		suffix := fmt.Sprintf("_%d", n)
		candidate = name[:min(len(name), maxLength-len(suffix))] + suffix
	}
	usedNames[candidate] = true
	return candidate
}

// envName returns a variable's name: API_KEY for api-key or apiKey.
func envName(name string) string {
	name = strings.ToUpper(camelCaseBoundary.ReplaceAllString(name, "${1}_${2}"))
	name = strings.Trim(nonEnvNameChars.ReplaceAllString(name, "_"), "_")
	if name == "" || (name[0] >= '0' && name[0] <= '9') {
		name = "KEY_" + name
	}
	return name
}
