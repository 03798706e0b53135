package ideafiles

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// NamedBy names the instances of an Idea after a column of a table, through config.instanceName. messages are the rows;
// if none of them has the column, the problem lists the existing columns.
func NamedBy(idea map[string]any, column string, messages []any) (map[string]any, *diag.Problem) {
	known := map[string]bool{}
	for _, m := range messages {
		for name := range jsonval.AsObject(jsonval.At(m, ideafile.TypeInput)) {
			known[name] = true
		}
	}
	if !known[column] {
		names := jsonval.SortedKeys(known)
		message := "no row has a column " + jsonval.QuoteForError(column) + diag.DidYouMeanOrListNames(column, names)
		return nil, &diag.Problem{JSONPath: "key", Message: message}
	}
	read := refexpr.Reference{Kind: ideafile.TypeInput, Path: jsonval.Path{column}}.String()
	name := refexpr.Dagger + "`${" + read[len(refexpr.Dagger):] + "}`"
	named := jsonval.DeepMerge(idea, jsonval.Object{"config": jsonval.Object{"instanceName": name}})
	return jsonval.AsObject(named), nil
}
