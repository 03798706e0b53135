package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"processidea/model/jsonval"
)

// readServer finds the server of an operation: that of the options, or else that of the operation, its path or the
// document.
func (t *toolBuilder) readServer() error {
	t.baseURL = strings.TrimRight(t.options.ServerURL, "/")
	if t.baseURL == "" {
		server := t.findServer()
		writtenURL := textOf(server["url"])
		if server == nil {
			return errors.New("the document names no server: say which, with --server")
		}
		substitutedURL := writtenURL
		for name, v := range jsonval.Sorted(jsonval.AsObject(server["variables"])) {
			substitutedURL = strings.ReplaceAll(substitutedURL, "{"+name+"}", textOf(jsonval.AsObject(v)["default"]))
		}
		if err := t.setBaseURL(substitutedURL); err != nil {
			example := ""
			if strings.HasPrefix(substitutedURL, "/") {
				example = " https://HOST" + substitutedURL
			}
			return fmt.Errorf("server %q %w: say which, with --server%s", writtenURL, err, example)
		}
	}
	if u, err := url.Parse(t.baseURL); err == nil {
		t.allowListHost = u.Host
	}
	return nil
}

// setBaseURL uses an address of the document. Nothing in it may be read as a secret of the worker.
func (t *toolBuilder) setBaseURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || strings.ContainsAny(address, "{}$"):
		return errors.New("is no address")
	case (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return errors.New("is no whole address")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("is more than an address")
	}
	t.baseURL = strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	return nil
}

// findServer returns the nearest server. Some documents have one server in place of a list.
func (t *toolBuilder) findServer() jsonval.Object {
	for _, owner := range []jsonval.Object{t.op.definition, t.op.pathItem, t.doc.root} {
		for _, v := range append(jsonval.AsList(owner["servers"]), owner["servers"]) {
			if server, ok := v.(jsonval.Object); ok {
				return server
			}
		}
	}
	return nil
}

var pathParameterPattern = regexp.MustCompile(`\{([^{}]*)\}`)

// readPath makes the path's template, after readParameters: every described parameter has a placeholder.
func (t *toolBuilder) readPath() error {
	// The standard allows neither a fragment nor a query. Both occur in practice, to distinguish operations.
	path, _, _ := strings.Cut(t.op.path, "#")
	path, query, _ := strings.Cut("/"+strings.TrimPrefix(path, "/"), "?")
	if strings.ContainsAny(query, "{}$") {
		return errors.New("its path is none of an address")
	}
	if query != "" {
		t.queryPairs = append([]string{query}, t.queryPairs...)
	}
	offset := 0
	var b strings.Builder
	for _, m := range pathParameterPattern.FindAllStringSubmatchIndex(path, -1) {
		b.WriteString(escapePathLiteral(path[offset:m[0]]))
		offset = m[1]
		name := path[m[2]:m[3]]
		placeholder, ok := t.placeholderByParam[name]
		if !ok {
			t.note("path parameter %q is not described: it is assumed to be a text", name)
			placeholder = t.addParam(toolParam{name: name, isRequired: true, schema: map[string]any{"type": "string"}},
				"path")
			t.placeholderByParam[name] = placeholder
		}
		b.WriteString(placeholder)
	}
	t.pathTemplate = b.String() + escapePathLiteral(path[offset:])
	return nil
}

// escapePathLiteral is escapeQueryLiteral, but leaves the characters unescaped that paths may contain.
func escapePathLiteral(s string) string {
	parts := strings.Split(s, "/")
	for n, p := range parts {
		if unescaped, err := url.PathUnescape(p); err == nil {
			p = unescaped
		}
		parts[n] = strings.NewReplacer("%3A", ":", "%40", "@", "%2C", ",", "%3B", ";", "%3D",
			"=").Replace(escapeQueryLiteral(p))
	}
	return strings.Join(parts, "/")
}
