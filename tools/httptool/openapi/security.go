package openapi

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"processidea/model/jsonval"
)

// readSecurity uses the first security requirement that an HTTP tool can fulfil. Each secret is a variable of the
// worker.
func (t *toolBuilder) readSecurity() error {
	rawSecurity := t.op.definition["security"]
	if rawSecurity == nil {
		rawSecurity = t.doc.root["security"]
	}
	list, isList := rawSecurity.([]any)
	requirements := jsonval.Map(list, jsonval.AsObject)
	if !isList && rawSecurity != nil || slices.ContainsFunc(requirements,
		func(r jsonval.Object) bool { return r == nil }) {
		return fmt.Errorf("its security is no list of objects: %s", jsonval.QuoteForError(rawSecurity))
	}
	var allUnsupportedNames []string
	for _, r := range requirements {
		if unsupportedNames := t.unsupportedSchemeNames(r); len(unsupportedNames) > 0 {
			allUnsupportedNames = append(allUnsupportedNames, unsupportedNames...)
			continue
		}
		for _, name := range jsonval.SortedKeys(r) {
			t.addSecret(name, t.doc.securityScheme(name))
		}
		if optionalSchemeNames := t.supportedSchemeNames(requirements); len(r) == 0 && len(optionalSchemeNames) > 0 {
			t.note("it is called without %s, which is optional there", strings.Join(optionalSchemeNames, " or "))
		}
		return nil
	}
	if len(allUnsupportedNames) > 0 {
		t.note("it is called without %s, because HTTP tools do not know that", strings.Join(allUnsupportedNames, ", "))
	}
	return nil
}

// supportedSchemeNames lists the schemes in requirements that an HTTP tool can fulfil.
func (t *toolBuilder) supportedSchemeNames(requirements []jsonval.Object) (names []string) {
	for _, r := range requirements {
		if len(t.unsupportedSchemeNames(r)) == 0 {
			names = jsonval.AppendNew(names, jsonval.SortedKeys(r)...)
		}
	}
	return names
}

// unsupportedSchemeNames lists the schemes of a requirement that an HTTP tool cannot use.
func (t *toolBuilder) unsupportedSchemeNames(r jsonval.Object) []string {
	return jsonval.Filter(jsonval.SortedKeys(r),
		func(name string) bool { return !t.doc.securityScheme(name).isSupported() })
}

// securityScheme is a way in which a server knows its callers.
type securityScheme struct{ kind, in, name, httpScheme string }

func (d *document) securitySchemes() jsonval.Object {
	return jsonval.AsObject(d.valueAt(d.root, "components", "securitySchemes"))
}

func (d *document) securityScheme(name string) securityScheme {
	def, _ := d.resolveObject(d.securitySchemes()[name])
	return securityScheme{jsonval.AsText(def["type"]), jsonval.AsText(def["in"]), textOf(def["name"]),
		strings.ToLower(jsonval.AsText(def["scheme"]))}
}

func (s securityScheme) isSupported() bool {
	switch s.kind {
	case "http":
		return s.httpScheme == "bearer" || s.httpScheme == "basic"
	case "apiKey":
		return s.in == "query" || httpguts.ValidHeaderFieldName(s.name)
	}
	return s.kind == "oauth2" || s.kind == "openIdConnect"
}

// addSecret adds a scheme's secret to the query or the headers.
func (t *toolBuilder) addSecret(schemeName string, s securityScheme) {
	variable := t.doc.secretVariable(schemeName, t.options.SecretPrefix)
	secret, description := "$env:"+variable, "the key of "+schemeName
	switch {
	case s.kind == "apiKey" && s.in == "query":
		t.queryPairs = append(t.queryPairs, escapeQueryLiteral(s.name)+"="+secret)
	case s.kind == "apiKey" && s.in == "cookie":
		t.headers["Cookie"] = strings.TrimPrefix(t.headers["Cookie"]+"; "+s.name+"="+secret, "; ")
	case s.kind == "apiKey":
		t.headers[s.name] = secret
	case s.kind == "http" && s.httpScheme == "basic":
		description = "user:password of " + schemeName + ", in Base64"
		t.headers["Authorization"] = "Basic " + secret
	default:
		description = "the token of " + schemeName
		if s.kind != "http" {
			description = "an access token of " + schemeName + ", which nothing here renews"
		}
		t.headers["Authorization"] = "Bearer " + secret
	}
	t.descriptionBySecret[variable] = description
}

// reservedVariablePrefixes begin variables that are the worker's own, or the machine's: no document may name one.
var reservedVariablePrefixes = strings.Fields("OPENAI_ PROCESSIDEA_ TEMPORAL_ AWS_ AZURE_ GOOGLE_ PATH HOME USER")

// secretVariable returns the name of the variable for a scheme's secret, made from the scheme's name.
func (d *document) secretVariable(schemeName, prefix string) string {
	usedNames := map[string]bool{}
	variable := ""
	for _, scheme := range jsonval.SortedKeys(d.securitySchemes()) {
		env := prefix + envName(scheme)
		if slices.ContainsFunc(reservedVariablePrefixes, func(p string) bool { return strings.HasPrefix(env, p) }) &&
			prefix == "" {
			env = "API_" + env
		}
		env = reserveUniqueName(env, 1<<10, usedNames)
		if scheme == schemeName {
			variable = env
		}
	}
	return variable
}
