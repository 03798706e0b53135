package prompt

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

func notes(count, bytes int) map[string]any {
	m := map[string]any{}
	for n := range count {
		m[fmt.Sprintf("day %02d", n)] = fmt.Sprintf("%d. ", n) + strings.Repeat("x", bytes)
	}
	return m
}

func TestAnOutlineShowsTheKeysOfAnObjectAndTheFirstItemsOfAList(t *testing.T) {
	t.Parallel()
	rows := make([]any, 500)
	for n := range rows {
		rows[n] = map[string]any{"id": n, "text": strings.Repeat("t", 300)}
	}
	for name, c := range map[string]struct {
		value any
		room  int
		want  string // how the outline begins
		keys  int
		more  int
	}{
		"few texts": {notes(2, 300), 1000, `{"day 00":"0. ` + strings.Repeat("x", 117) +
			`…","day 01":"1. x`, 2, 0},
		"more texts":    {notes(20, 300), 1000, `{"day 00":"0. ` + strings.Repeat("x", 27) + `…",`, 20, 0},
		"many texts":    {notes(60, 300), 1000, `{"day 00":"…","day 01":"…"`, 60, 0},
		"too many keys": {notes(90, 300), 1000, `{"day 00":"…","day 01":"…"`, 66, 24},
		"short values stay": {map[string]any{"n": 5, "yes": true, "none": nil, "text": "short",
			"long": strings.Repeat("l", 200)}, 1000, `{"long":"` + strings.Repeat("l", 120) +
			`…","n":5,"none":null,"text":"short","yes":true}`, 5, 0},
		"a key that is too long": {map[string]any{strings.Repeat("k", 300): 1, "a": 2}, 1000, `{"a":2}`, 1, 1},
		"what is within": {map[string]any{"deep": map[string]any{"a": []any{1, map[string]any{"b": 1}}},
			"wide": notes(30, 1), "list": rows}, 1000,
			`{"deep":{"a":[1,"(object of 1 keys)"]},"list":"(list of 500)","wide":"(object of 30 keys)"}`, 3, 0},
		"what lies in the store": {map[string]any{"a": modeltest.NewBlobHandleValue("string", 70_000)}, 1000,
			`{"a":"(string of 70000 bytes)"}`, 1, 0},
		"a list": {rows, 1000, `[{"id":0,"text":"` + strings.Repeat("t", 60) + `…"},{"id":1,`, 11, 489},
		"a list of long items": {[]any{strings.Repeat("a", 9000), strings.Repeat("b", 9000)}, 300,
			`["` + strings.Repeat("a", 120) + `…","` + strings.Repeat("b", 120) + `…"]`, 2, 0},
	} {
		outline, more, ok := outlineValue(c.value, c.room)
		text := string(jsonval.Encode(outline))
		count := 0
		switch o := outline.(type) {
		case map[string]any:
			count = len(o)
		case []any:
			count = len(o)
		}
		if !ok || !strings.HasPrefix(text, c.want) || count != c.keys || more != c.more {
			t.Errorf("%s: %d shown, %d more: %s", name, count, more, text)
		}
	}
}

func TestThereIsNoOutlineOfATextOrWithoutRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value any
		room  int
	}{"a text": {"text", 1000}, "a number": {5, 1000}, "no room": {notes(5, 5), minOutlineBytes - 1},
		"an empty object":            {map[string]any{}, 1000},
		"keys that are all too long": {map[string]any{strings.Repeat("k", 300): 1}, 1000}} {
		if o, _, ok := outlineValue(c.value, c.room); ok {
			t.Errorf("%s: %v", name, o)
		}
	}
}

func TestAnOutlineKeepsToItsRoomAndIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		key, text := rapid.StringN(0, 40, 400), rapid.StringN(0, 300, 900)
		leaf := rapid.OneOf(rapid.Map(text, func(s string) any { return s }),
			rapid.Map(rapid.Int(), func(n int) any { return n }))
		inner := rapid.OneOf(leaf, rapid.Map(rapid.MapOfN(key, leaf, 0, 12), func(m map[string]any) any { return m }),
			rapid.Map(rapid.SliceOfN(leaf, 0, 12), func(l []any) any { return l }))
		var v any = rapid.MapOfN(key, inner, 0, 40).Draw(rt, "object")
		if rapid.Bool().Draw(rt, "a list") {
			v = rapid.SliceOfN(inner, 0, 40).Draw(rt, "list")
		}
		room := rapid.IntRange(minOutlineBytes, maxOutlineBytes).Draw(rt, "room")
		first, more, ok := outlineValue(v, room)
		again, _, _ := outlineValue(v, room)
		if text := jsonval.Encode(first); ok && jsonval.SizeUpToLimit(first, 1<<20) > room+100 {
			rt.Fatalf("%d bytes in a room of %d: %s", len(text), room, text)
		}
		if !jsonval.Equal(first, again) || more < 0 {
			rt.Fatalf("%v, and then %v; %d more", first, again, more)
		}
	})
}

// What many small texts are called must be seen before anybody can refer to one of them.
func TestTheKeysOfAnObjectOfManyTextsAreShownWhereverItLies(t *testing.T) {
	t.Parallel()
	big := notes(60, 1200) // over 64 KB: it lies in the store
	stored := func(h jsonval.BlobHandle) []byte { return jsonval.Encode(big) }
	beside := func(state map[string]any) []turn.InstanceInput {
		for n := range 6 {
			state[fmt.Sprintf("text%d", n)] = strings.Repeat("t", 60_000)
		}
		return []turn.InstanceInput{{State: state}}
	}
	handle := func(where string) any {
		return jsonval.BlobHandle{Digest: "d", Size: 75_000, ValueType: "object", PathInValue: where}.AsJSONValue()
	}
	for name, instances := range map[string][]turn.InstanceInput{
		"in the store":                   {{State: map[string]any{"notes": handle("")}}},
		"beside much else":               beside(map[string]any{"notes": notes(60, 600)}),
		"in the store, beside much else": beside(map[string]any{"notes": handle("")}),
		"in the store, in each of hundreds": {{Token: "a", State: map[string]any{"notes": handle("")}},
			{Token: "b", State: map[string]any{"notes": handle("")}}},
	} {
		text := Render(modeltest.IdeaFrom(t, `{}`), nil, &turn.RequestInput{Instances: instances}, stored)[2].Content
		for n := range 60 {
			if !strings.Contains(text, fmt.Sprintf(`"day %02d":`, n)) {
				t.Errorf("%s: day %02d is not shown:\n%s", name, n, jsonval.Clip(text, 3000))
				break
			}
		}
		if !strings.Contains(text, `"†state.rows[5]") that part whole`) {
			t.Errorf("%s: nobody is told what to make of it", name)
		}
	}
}

func TestOutlinesOfManyStoredValuesShareTheirRoom(t *testing.T) {
	t.Parallel()
	stored := func(jsonval.BlobHandle) []byte { return jsonval.Encode(notes(60, 1200)) }
	for count, most := range map[int]int{1: 1, 20: 1, 200: 2} {
		var instances []turn.InstanceInput
		for n := range count {
			instances = append(instances,
				turn.InstanceInput{Token: fmt.Sprint(n + 60),
					State: map[string]any{"notes": modeltest.NewBlobHandleValue("object", 75_000)}})
		}
		text := Render(modeltest.IdeaFrom(t, `{}`), nil, &turn.RequestInput{Instances: instances}, stored)[2].Content
		if len(text) > most*maxAllOutlineBytes {
			t.Errorf("%d values: %d bytes", count, len(text))
		}
	}
}

func TestAPartOfAStoredValueIsShownAsThatPart(t *testing.T) {
	t.Parallel()
	stored := func(jsonval.BlobHandle) []byte {
		return jsonval.Encode(map[string]any{"in": map[string]any{"a": "it", "b": strings.Repeat("x", 500)},
			"text": "what it says"})
	}
	for path, want := range map[string]string{
		"in": `{"(large value)":{"bytes":"517","outline":{"a":"it","b":"` + strings.Repeat("x", 120) +
			`…"},"type":"object"}}`,
		"text":  `{"(large value)":{"begins":"what it says","bytes":"14","type":"string"}}`,
		"never": `{"(large value)":{"bytes":"75000","type":"object"}}`,
	} {
		h := jsonval.BlobHandle{Digest: "d", Size: 75_000, ValueType: "object", PathInValue: path}
		text := Render(modeltest.IdeaFrom(t, `{}`), nil,
			&turn.RequestInput{Instances: []turn.InstanceInput{{State: map[string]any{"v": h.AsJSONValue()}}}},
			stored)[2].Content
		if !strings.Contains(text, `{"v":`+want+`}`) {
			t.Errorf("%s:\n%s", path, text)
		}
	}
}
