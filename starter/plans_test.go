package main

import (
	"os"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/internal/exit"
)

// The Ideas of docs/plans.md run as they stand there, with no LLM.
func TestTheIdeasOfThePageOnPlansRun(t *testing.T) {
	page, err := os.ReadFile("../docs/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{
		"trip":   `{"said":{"Ann":"This is wonderful! (positive)","Bo":"nothing"}}`,
		"branch": `{"days":{"Bergen":"stay in","Lund":"go out: hardly a cloud"}}`,
	}
	for _, part := range strings.Split(string(page), "```json\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		idea, problems := ideafile.ParseIdea([]byte(text))
		if idea == nil || idea.ProcessPath == "" || strings.Contains(text, `"instruction": {`) {
			continue // one message, or a file of instructions
		}
		if len(problems) > 0 {
			t.Errorf("%s: %v", idea.ProcessPath, problems)
		}
		want, known := outputs[idea.ProcessPath]
		if delete(outputs, idea.ProcessPath); !known {
			t.Errorf("nobody knows how %s ends", idea.ProcessPath)
		}
		t.Run(idea.ProcessPath, func(t *testing.T) {
			d := newDesk(t, map[string]string{"idea.json": text})
			r := d.do("run", "idea.json", "--json", noUI).is(exit.Done).result()
			if string(jsonval.Encode(r.Output)) != want || r.RequestCount != 0 {
				t.Errorf("it ends with %s after %d Requests", jsonval.Encode(r.Output), r.RequestCount)
			}
			if e := d.do("graph", r.ProcessID).is(exit.Done); !strings.Contains(e.out, "c1[") {
				t.Error(e.out)
			}
		})
	}
	if len(outputs) > 0 {
		t.Errorf("the page lacks %v", outputs)
	}
}
