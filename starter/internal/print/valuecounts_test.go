package print

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/loop"
)

func TestABatchIsSummedUpByWhatItsInstancesHoldOneOfAFewOf(t *testing.T) {
	r := loop.ProcessResult{ProcessID: "p", Status: loop.StatusCompleted, Instances: map[string]loop.InstanceResult{}}
	for i := range 10 {
		decision := "allow"
		if i >= 7 {
			decision = "remove"
		}
		r.Instances[fmt.Sprint(i)] = loop.InstanceResult{Status: ideafile.InstanceSettled, State: map[string]any{
			"text": fmt.Sprint("text ", i), "same": "everywhere", "spam": i == 9,
			"decision": map[string]any{"decision": decision, "reason": fmt.Sprint("reason ", i), "rule": nil},
		}}
	}
	var b strings.Builder
	if err := WriteResult(&b, r, InstanceNaming{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"decision.decision  7 allow · 3 remove\n", "spam               9 false · 1 true\n",
		"remove · reason 8"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "everywhere ·") || strings.Contains(b.String(), "1 text") {
		t.Errorf("it counts what tells nothing:\n%s", b.String())
	}
	if head := strings.Fields(strings.Split(b.String(), "\n")[2]); head[2] != "decision" {
		t.Errorf("the columns begin with %v", head)
	}
}
