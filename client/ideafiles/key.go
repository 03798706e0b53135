package ideafiles

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// NameInstancesBy names the instances of an Idea after a column of a table, through config.instanceName. messages are
// the rows; if none of them has the column, the problem lists the existing columns.
func NameInstancesBy(idea map[string]any, column string, messages []any) (map[string]any, *diag.Problem) {
	columns := map[string]bool{}
	for _, m := range messages {
		for instanceNameExpr := range jsonval.AsObject(jsonval.Lookup(m, ideafile.TypeInput)) {
			columns[instanceNameExpr] = true
		}
	}
	if !columns[column] {
		names := jsonval.SortedKeys(columns)
		message := "no row has a column " + jsonval.QuoteForError(column) + diag.DidYouMeanOrListNames(column, names)
		return nil, &diag.Problem{JSONPath: "key", Message: message}
	}
	reference := refexpr.Reference{Kind: ideafile.TypeInput, Path: jsonval.Path{column}}.String()
	instanceNameExpr := refexpr.Dagger + "`${" + reference[len(refexpr.Dagger):] + "}`"
	namedIdea := jsonval.DeepMerge(idea, jsonval.Object{"config": jsonval.Object{"instanceName": instanceNameExpr}})
	return jsonval.AsObject(namedIdea), nil
}
