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
func (t *tool) readSecurity() {
	requirements := t.doc.Security
	if own := t.op.op.Security; own != nil {
		requirements = *own
	}
	var refused []string
	for _, r := range requirements {
		if missing := t.unsupportedSchemes(r); len(missing) > 0 {
			refused = append(refused, missing...)
			continue
		}
		for _, name := range jsonval.SortedKeys(r) {
			t.addSecret(name, t.doc.scheme(name))
		}
		if with := t.furtherSchemes(requirements); len(r) == 0 && len(with) > 0 {
			t.note("it is called without %s, which is optional there", strings.Join(with, " or "))
		}
		return
	}
	if len(refused) > 0 {
		t.note("it is called without %s, because HTTP tools do not know that", strings.Join(refused, ", "))
	}
}

// furtherSchemes lists the schemes in requirements that an HTTP tool can fulfil.
func (t *tool) furtherSchemes(requirements openapi3.SecurityRequirements) (names []string) {
	for _, r := range requirements {
		if len(t.unsupportedSchemes(r)) == 0 {
			names = jsonval.AppendNew(names, jsonval.SortedKeys(r)...)
		}
	}
	return names
}

// unsupportedSchemes lists the schemes of a requirement that an HTTP tool cannot use.
func (t *tool) unsupportedSchemes(r openapi3.SecurityRequirement) []string {
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
func (t *tool) addSecret(name string, s *openapi3.SecurityScheme) {
	variable := t.doc.variable(name, t.options.Secrets)
	secret, what := "$env:"+variable, "the key of "+name
	switch {
	case s.Type == "apiKey" && s.In == "query":
		t.query = append(t.query, asLiteral(s.Name)+"="+secret)
	case s.Type == "apiKey" && s.In == "cookie":
		t.headers["Cookie"] = strings.TrimPrefix(t.headers["Cookie"]+"; "+s.Name+"="+secret, "; ")
	case s.Type == "apiKey":
		t.headers[s.Name] = secret
	case strings.EqualFold(s.Scheme, "basic"):
		what = "user:password of " + name + ", in Base64"
		t.headers["Authorization"] = "Basic " + secret
	default:
		what = "the token of " + name
		if s.Type != "http" {
			what = "an access token of " + name + ", which nothing here renews"
		}
		t.headers["Authorization"] = "Bearer " + secret
	}
	t.secrets[variable] = what
}

// ownPrefixes begin variables that are the worker's own, or the machine's: no document may name one.
var ownPrefixes = []string{"OPENAI_", "PROCESSIDEA_", "TEMPORAL_", "AWS_", "AZURE_", "GOOGLE_", "PATH", "HOME", "USER"}

// variable returns the name of the variable for a scheme's secret, made from the scheme's name.
func (d *document) variable(name, prefix string) string {
	used := map[string]bool{}
	variable := ""
	for _, scheme := range jsonval.SortedKeys(d.Components.SecuritySchemes) {
		own := prefix + envName(scheme)
		if slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(own, p) }) && prefix == "" {
			own = "API_" + own
		}
		own = uniqueName(own, 1<<10, used)
		if scheme == name {
			variable = own
		}
	}
	return variable
}
