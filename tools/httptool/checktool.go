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
	declaredParams := jsonval.SortedKeys(t.SchemaByParam)
	for _, template := range s.templateTexts() {
		for _, part := range placeholder.Split(template.text) {
			if part.PlaceholderName == "" || isParameter(t, part.PlaceholderName) {
				continue
			}
			hint := diag.DidYouMean(part.PlaceholderName, declaredParams)
			if hint == "" {
				hint = "; declare it under properties, or write {{" + part.PlaceholderName + "}} for the text itself"
			}
			ps.Add("._activity.http"+template.path, "{%s} is no parameter of the tool%s",
				jsonval.ClipForError(part.PlaceholderName), hint)
		}
	}
	return ps
}

// isParameter reports whether a name in a template is a parameter, or a path into one.
func isParameter(t *ideafile.Tool, name string) bool {
	rootName, _, _ := strings.Cut(name, ".")
	_, isDeclared := t.SchemaByParam[name]
	_, isRootDeclared := t.SchemaByParam[rootName]
	return isDeclared || isRootDeclared
}
