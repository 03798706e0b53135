package offload

import (
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/blobs"
)

func storeOf(t *testing.T) *blobs.Store {
	t.Helper()
	s, err := blobs.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func ideaOf(t *testing.T, text string) *ideafile.Idea {
	t.Helper()
	idea, problems := ideafile.ParseIdea([]byte(text))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	return idea
}

func TestLargeValuesAreInTheStoreBeforeTheStart(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", jsonval.LargeValueBytes)
	idea := ideaOf(t, `{"context":[
		{"type":"text","text":"t"},
		{"type":"state","_instance":"①","big":"`+large+`","small":1,"title":"a part of State"},
		{"type":"input","input":{"deep":{"big":"`+large+`","small":2}},"title":"a title","schema":{"type":"object"}},
		{"type":"data","kind":"page","data":"`+large+`"},
		{"type":"data","kind":"state","_instance":"②","state":{"looks":{"†blob":{"digest":"x"}}}},
		{"type":"state","_instance":"③","a":1}]}`).Source
	store := storeOf(t)
	light, err := Idea(t.Context(), store, idea)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(jsonval.Encode(light)); n > 4000 {
		t.Errorf("the light Idea has %d bytes", n)
	}
	if !jsonval.Equal(light["context"].([]any)[5], idea["context"].([]any)[5]) {
		t.Error("a message without large values was rewritten")
	}
	read, problems := ideafile.ReadIdea(light)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	before, _ := ideafile.ReadIdea(idea)
	for n, m := range read.Context {
		whole, err := store.Restore(t.Context(), m.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if m.PayloadKind != "" && !jsonval.Equal(whole, before.Context[n].Payload) {
			t.Errorf("message %d came back as %.200s", n, jsonval.Encode(whole))
		}
		if m.Type != before.Context[n].Type || m.PayloadKind != before.Context[n].PayloadKind ||
			m.InstanceToken != before.Context[n].InstanceToken {
			t.Errorf("message %d became %+v", n, m.Source)
		}
	}
	if m := read.Context[2]; m.Source["title"] != "a title" || m.PayloadSchema == nil ||
		m.Payload.(map[string]any)["deep"].(map[string]any)["small"] == nil {
		t.Errorf("the input became %.300s", jsonval.Encode(m.Source))
	}
}

func TestLargeValuesOfPlansRecordsAndSolutionsAreInTheStoreToo(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", jsonval.LargeValueBytes)
	call := `{"_tool":"t","big":"` + large + `","looks":{"†blob":{"digest":"x"}}}`
	idea := ideaOf(t, `{"context":[{"type":"plan","plan":[`+call+`,"no Call"],"record":{"1.1":{"done":["①"],"results":{"①":"`+large+`"},
		"decided":[{"token":"①","decision":{"decision":"answer","call":"1.1@①","at":"2026-01-02T03:04:05Z","output":"`+large+`"}}]},"1.2":"failed"}},
		{"type":"state","_instance":"①","_status":"failed","_error":{"code":"c","message":"m"},"state":{"big":"`+large+`"}}],
		"solution":{"calls":[`+call+`,5],"output":{"big":"`+large+`"}}}`).Source
	store := storeOf(t)
	light, err := Idea(t.Context(), store, idea)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(jsonval.Encode(light)); n > 4000 {
		t.Errorf("the light Idea has %d bytes", n)
	}
	whole, err := store.Restore(t.Context(), light)
	if err != nil || !jsonval.Equal(whole, idea) {
		t.Errorf("%v: it came back as %.300s", err, jsonval.Encode(whole))
	}
	read, problems := ideafile.ReadIdea(light)
	if len(problems) > 0 || read.Context[1].InstanceEndStatus != ideafile.InstanceFailed ||
		read.Context[1].InstanceFault.Code != "c" {
		t.Errorf("%v: %+v", problems, read.Context[1])
	}
}
