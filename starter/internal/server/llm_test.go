package server

import (
	"strings"
	"testing"

	"processidea/client/ideafiles"
	"processidea/model/ideafile"
)

func TestWhoAnswersDependsOnWhatIsConfigured(t *testing.T) {
	for _, c := range []struct {
		name     string
		key      string
		script   string
		scripted bool
		want     string
		plan     string
		refused  bool
	}{
		{name: "nobody", refused: true},
		{name: "nobody, where the Plan guides", plan: `{"type": "plan", "plan": []}`, refused: true},
		{name: "nobody, where the Plan runs without a Request",
			plan: `{"type": "plan", "stage": "optimal", "plan": []}`},
		{name: "the LLM", key: "k"},
		{name: "the folder's replies", script: "s", want: "s"},
		{name: "the LLM before the folder's replies", key: "k", script: "s"},
		{name: "replies that were asked for, before the LLM", key: "k", script: "s", scripted: true, want: "s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("OPENAI_BASE_URL", " ")
			t.Setenv("OPENAI_API_KEY", c.key)
			idea, _ := ideafile.ParseIdea([]byte(`{"context": [` + c.plan + `]}`))
			d := &ideafiles.Definition{RepliesText: c.script,
				Source:     ideafiles.Source{AreRepliesFromCaller: c.scripted},
				ParsedIdea: idea}
			err := Place{DataFolder: t.TempDir()}.ChooseReplySource(d)
			if (err != nil) != c.refused || d.RepliesText != c.want {
				t.Errorf("the script is %q, error %v", d.RepliesText, err)
			}
			if err != nil && (!strings.Contains(err.Error(), "OPENAI_API_KEY") ||
				!strings.Contains(err.Error(), "--replies")) {
				t.Errorf("it does not say what to set: %v", err)
			}
		})
	}
}
