package openapi

import (
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"golang.org/x/net/http/httpguts"

	"processidea/model/jsonval"
)

// readSecurity uses the first security requirement that an HTTP tool can fulfil. Each secret is a variable of the
// worker.
func (t *toolBuilder) readSecurity() {
	requirements := t.doc.Security
	if own := t.op.def.Security; own != nil {
		requirements = *own
	}
	var unsupported []string
	for _, r := range requirements {
		if missing := t.unsupportedSchemes(r); len(missing) > 0 {
			unsupported = append(unsupported, missing...)
			continue
		}
		for _, name := range jsonval.SortedKeys(r) {
			t.addSecret(name, t.doc.scheme(name))
		}
		if optional := t.supportedSchemes(requirements); len(r) == 0 && len(optional) > 0 {
			t.note("it is called without %s, which is optional there", strings.Join(optional, " or "))
		}
		return
	}
	if len(unsupported) > 0 {
		t.note("it is called without %s, because HTTP tools do not know that", strings.Join(unsupported, ", "))
	}
}

// supportedSchemes lists the schemes in requirements that an HTTP tool can fulfil.
func (t *toolBuilder) supportedSchemes(requirements openapi3.SecurityRequirements) (names []string) {
	for _, r := range requirements {
		if len(t.unsupportedSchemes(r)) == 0 {
			names = jsonval.AppendNew(names, jsonval.SortedKeys(r)...)
		}
	}
	return names
}

// unsupportedSchemes lists the schemes of a requirement that an HTTP tool cannot use.
func (t *toolBuilder) unsupportedSchemes(r openapi3.SecurityRequirement) []string {
	return jsonval.Filter(jsonval.SortedKeys(r), func(name string) bool { return !isSupported(t.doc.scheme(name)) })
}

func (d *document) scheme(name string) *openapi3.SecurityScheme {
	if d.Components != nil && d.Components.SecuritySchemes[name] != nil {
		return d.Components.SecuritySchemes[name].Value
	}
	return nil
}

func isSupported(s *openapi3.SecurityScheme) bool {
	switch {
	case s == nil:
		return false
	case s.Type == "http":
		return slices.Contains([]string{"bearer", "basic"}, strings.ToLower(s.Scheme))
	case s.Type == "apiKey":
		return s.In == "query" || httpguts.ValidHeaderFieldName(s.Name)
	}
	return s.Type == "oauth2" || s.Type == "openIdConnect"
}

// addSecret adds a scheme's secret to the query or the headers.
func (t *toolBuilder) addSecret(name string, s *openapi3.SecurityScheme) {
	variable := t.doc.secretVariable(name, t.options.SecretPrefix)
	secret, description := "$env:"+variable, "the key of "+name
	switch {
	case s.Type == "apiKey" && s.In == "query":
		t.query = append(t.query, asLiteral(s.Name)+"="+secret)
	case s.Type == "apiKey" && s.In == "cookie":
		t.headers["Cookie"] = strings.TrimPrefix(t.headers["Cookie"]+"; "+s.Name+"="+secret, "; ")
	case s.Type == "apiKey":
		t.headers[s.Name] = secret
	case strings.EqualFold(s.Scheme, "basic"):
		description = "user:password of " + name + ", in Base64"
		t.headers["Authorization"] = "Basic " + secret
	default:
		description = "the token of " + name
		if s.Type != "http" {
			description = "an access token of " + name + ", which nothing here renews"
		}
		t.headers["Authorization"] = "Bearer " + secret
	}
	t.secrets[variable] = description
}

// badPrefixes begin variables that are the worker's own, or the machine's: no document may name one.
var badPrefixes = []string{"OPENAI_", "PROCESSIDEA_", "TEMPORAL_", "AWS_", "AZURE_", "GOOGLE_", "PATH", "HOME", "USER"}

// secretVariable returns the name of the variable for a scheme's secret, made from the scheme's name.
func (d *document) secretVariable(name, prefix string) string {
	usedNames := map[string]bool{}
	variable := ""
	for _, scheme := range jsonval.SortedKeys(d.Components.SecuritySchemes) {
		env := prefix + envName(scheme)
		if slices.ContainsFunc(badPrefixes, func(p string) bool { return strings.HasPrefix(env, p) }) && prefix == "" {
			env = "API_" + env
		}
		env = uniqueName(env, 1<<10, usedNames)
		if scheme == name {
			variable = env
		}
	}
	return variable
}
