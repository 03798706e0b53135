package ideafiles_test

import (
	"testing"

	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

func TestAColumnNamesTheInstances(t *testing.T) {
	t.Parallel()
	idea := map[string]any{"config": map[string]any{"batch": "5"}}
	for _, column := range []string{"order", `order "no".`} {
		rows := []any{map[string]any{"type": "input", "_instance": "①", "input": map[string]any{column: "A-1"}}}
		named, wrong := ideafiles.NameInstancesBy(idea, column, rows)
		if wrong != nil {
			t.Fatal(wrong)
		}
		read, problems := ideafile.ReadIdea(ideafiles.WithMessages(named, rows))
		name := shown.NewPresenter(read).Name("①", shown.InstanceValues{Input: map[string]any{column: "A-1"}}, shown.English)
		if name != "A-1" || jsonval.AsObject(idea["config"])["instanceName"] != nil {
			t.Errorf("by %s it is %s: %s", column, name, problems)
		}
	}
	row := map[string]any{"type": "input", "input": map[string]any{"order": "A-1"}}
	_, wrong := ideafiles.NameInstancesBy(idea, "ordr", []any{row})
	if wrong == nil || wrong.Message != `no row has a column "ordr"; did you mean order?` {
		t.Error(wrong)
	}
}
