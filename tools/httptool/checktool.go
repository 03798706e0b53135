package httptool

import (
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/placeholder"
	"processidea/model/jsonval"
)

// CheckTool reports names in the templates of the spec that are no parameters of the Tool: a Call that must fill one
// fails.
func (c *Client) CheckTool(t *ideafile.Tool, spec any) (ps diag.Problems) {
	s, err := ParseSpec(spec)
	if err != nil || t.AllowsExtraParams {
		return nil
	}
	declared := jsonval.SortedKeys(t.SchemaByParam)
	s.eachTemplate(func(path, text string) {
		for _, part := range placeholder.Split(text) {
			if part.Name == "" || knows(t, part.Name) {
				continue
			}
			hint := diag.DidYouMean(part.Name, declared)
			if hint == "" {
				hint = "; declare it under properties, or write {{" + part.Name + "}} for the text itself"
			}
			ps.Add("._activity.http"+path, "{%s} is no parameter of the tool%s", jsonval.Clip(part.Name, 80), hint)
		}
	})
	return ps
}

// knows reports whether a name in a template is a parameter, or a path into one.
func knows(t *ideafile.Tool, name string) bool {
	root, _, _ := strings.Cut(name, ".")
	_, whole := t.SchemaByParam[name]
	_, part := t.SchemaByParam[root]
	return whole || part
}

func (s Spec) eachTemplate(visit func(path, text string)) {
	visit(".url", s.URL)
	for _, name := range jsonval.SortedKeys(s.Headers) {
		visit(jsonval.JSONPathWithKey(".headers", name), s.Headers[name])
	}
	for _, text := range appendStrings(nil, s.Body) {
		visit(".body", text)
	}
}
