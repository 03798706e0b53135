package check

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

func TestTheConditionOfACallIsChecked(t *testing.T) {
	t.Parallel()
	const tools = `"schema": {"tools": {"do": {"type": "object", "properties": {"x": {}}, "_activity": "do"}}}`
	when := func(place string) string {
		return `"_when": {"properties": {"state": {"required": ["` + place + `"]}}}`
	}
	for name, row := range map[string]struct{ stage, calls, want string }{
		"it looks at what an earlier Call writes": {`"stage": "optimal", `,
			`{"_tool": "do", "_outputPath": "a"}, {"_tool": "do", ` + when("a") + `}`, ""},
		"it looks at what a later Call writes": {`"stage": "optimal", `,
			`{"_tool": "do", ` + when("a") + `}, {"_tool": "do", "_outputPath": "a"}`, "it reads †state.a"},
		"it stands in a Plan that guides": {``, `{"_tool": "do", ` + when("a") + `}`,
			"only a Call of a Plan with a stage"},
		"unless without when": {`"stage": "optimal", `, `{"_tool": "do", "_unless": {}}`,
			"the second needs the first"},
		"it takes another back": {`"stage": "optimal", `,
			`{"_tool": "do", "_undoes": {"process": "p", "call": "1.2@①"}}`, ""},
		"it takes nothing back": {`"stage": "optimal", `,
			`{"_tool": "do", "_undoes": {"process": "p", "call": "pay"}}`, `_undoes wants {"process": ID, "call": ID}`},
		"it takes back, and is guided": {``, `{"_tool": "do", "_undoes": {"process": "p", "call": "1.2"}}`,
			"which runs without the LLM, may have _undoes"},
		"it is no JSON Schema": {`"stage": "optimal", `,
			`{"_tool": "do", "_when": {"type": "nonsense"}}`, "_when"},
	} {
		t.Run(name, func(t *testing.T) {
			source, err := jsonval.DecodeObject(
				[]byte(`{` + tools + `, "context": [{"type": "state", "state": {}}, {"type": "plan", ` + row.stage +
					`"plan": [` + row.calls + `]}]}`))
			if err != nil {
				t.Fatal(err)
			}
			idea, problems := ideafile.ReadIdea(source)
			problems = append(problems, Check(idea, nil)...).Errors()
			if (row.want == "") != (len(problems) == 0) || row.want != "" &&
				!strings.Contains(fmt.Sprint(problems), row.want) {
				t.Errorf("want %q, and it says %s", row.want, problems)
			}
		})
	}
}
