package ideafile

import (
	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// ParamsReferenceKind is the kind of References to all parameters of a Call, in a Tool's `_title`.
const ParamsReferenceKind = "params"

// readDisplayTemplate reads a template for display: †`Refund ${amount}`. It returns "" for none or a broken one.
func readDisplayTemplate(v any, path string, ps *diag.Problems) string {
	text, isText := v.(string)
	switch {
	case v == nil:
		return ""
	case !isText || !refexpr.IsTemplate(text):
		ps.Add(path, "want a template, such as †`order ${input.order}`, not %s", jsonval.QuoteForError(v))
		return ""
	}
	if _, err := refexpr.ParseTemplate(text); err != nil {
		ps.Add(path, "%s", err)
		return ""
	}
	return text
}
