package main

import (
	"testing"

	"processidea/client/ideafiles"
	"processidea/starter/internal/exit"
)

func TestSchemaPrintsWhatAnEditorNeedsAndAFileMayNameIt(t *testing.T) {
	d := newDesk(
		t, map[string]string{
			"idea.json": `{"$schema": "./idea.schema.json", "context": [{"type": "text", "text": "Go."}]}`})
	if e := d.do("schema").is(exit.Done); e.out != string(ideafiles.Schema) || e.err != "" {
		t.Errorf("it prints %.200s\n%s", e.out, e.err)
	}
	d.do("check", "idea.json").is(exit.Done)
}
