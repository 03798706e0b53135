package chain

import (
	"strings"
	"testing"
)

func TestAForkNamesItsOriginAndNothingElseOfIt(t *testing.T) {
	s := smallChain(t)
	whole, err := s.Load(t.Context(), "p", 2)
	if err != nil {
		t.Fatal(err)
	}
	before := jsonOf(whole)
	digest := whole["meta"].(map[string]any)["digest"].(string)
	forked := Fork(whole)
	if got := jsonOf(forked["meta"]); got != `{"origin":{"at":2,"digest":"`+digest+`","process":"p"},"path":"moderation","request":2,"version":"7"}` {
		t.Error(got)
	}
	if jsonOf(forked["context"]) != jsonOf(whole["context"]) || jsonOf(whole) != before {
		t.Error("something else has changed")
	}
	again := jsonOf(Fork(map[string]any{"meta": map[string]any{"process": "q", "at": 1, "digest": "d", "origin": "old"}})["meta"])
	if again != `{"origin":{"at":1,"digest":"d","process":"q"}}` {
		t.Error(again)
	}
}

func TestAWrongOriginIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		change func(origin map[string]any)
		whole  bool
	}{
		"right":            {func(map[string]any) {}, true},
		"not there":        {func(o map[string]any) { o["process"] = "gone" }, true},
		"another Idea":     {func(o map[string]any) { o["at"] = 3 }, false},
		"another text":     {func(o map[string]any) { o["digest"] = strings.Repeat("a", 64) }, false},
		"none that is one": {func(o map[string]any) { delete(o, "process") }, true},
	} {
		s := smallChain(t)
		whole, err := s.Load(t.Context(), "p", 2)
		if err != nil {
			t.Fatal(err)
		}
		i := Fork(whole)
		o := i["meta"].(map[string]any)["origin"].(map[string]any)
		c.change(o)
		newStory(t, s, "fork").seal(i)
		r := s.cold(t).verified(t, "fork")
		if r.Whole != c.whole || jsonOf(r.Origin) != jsonOf(o) {
			t.Errorf("%s: %+v", name, r)
		}
		if x := verifiedExport(t, exported(t, s, "fork")); jsonOf(x.Origin) != jsonOf(o) {
			t.Errorf("%s: the export says %s", name, jsonOf(x.Origin))
		}
	}
}
