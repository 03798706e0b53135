package httptool

import (
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/placeholder"
	"processidea/model/jsonval"
)

// CheckTool reports names in the templates of the spec that are no parameters of the Tool: a Call could not fill them.
func (c *Client) CheckTool(t *ideafile.Tool, spec any) (ps diag.Problems) {
	s, err := ParseSpec(spec)
	if err != nil || t.AllowsExtraParams {
		return nil
	}
	declared := jsonval.SortedKeys(t.SchemaByParam)
	for _, template := range s.templateTexts() {
		for _, part := range placeholder.Split(template.text) {
			if part.Name == "" || isParameter(t, part.Name) {
				continue
			}
			hint := diag.DidYouMean(part.Name, declared)
			if hint == "" {
				hint = "; declare it under properties, or write {{" + part.Name + "}} for the text itself"
			}
			ps.Add("._activity.http"+template.path, "{%s} is no parameter of the tool%s",
				jsonval.ClipForError(part.Name), hint)
		}
	}
	return ps
}

// isParameter reports whether a name in a template is a parameter, or a path into one.
func isParameter(t *ideafile.Tool, name string) bool {
	root, _, _ := strings.Cut(name, ".")
	_, isDeclared := t.SchemaByParam[name]
	_, isRootDeclared := t.SchemaByParam[root]
	return isDeclared || isRootDeclared
}
