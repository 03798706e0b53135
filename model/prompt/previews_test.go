package prompt

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

const previewsRule = `Where "(large value)" stands, a value is too long to be shown`

// manyValues is a State of so many texts of so many bytes, beside a small value.
func manyValues(count, bytes int) map[string]any {
	state := map[string]any{"small": "it is shown"}
	for n := range count {
		state[fmt.Sprintf("v%d", n)] = map[string]any{"title": fmt.Sprintf("title %d", n),
			"body": strings.Repeat("b", bytes)}
	}
	return state
}

func TestStatesThatAreTooMuchTogetherAreShownByPreviews(t *testing.T) {
	t.Parallel()
	several := []turn.InstanceInput{{Token: "①", State: manyValues(1, 1000)}}
	for n := range 20 {
		several = append(several, turn.InstanceInput{Token: fmt.Sprint(n + 60), State: manyValues(1, 20_000)})
	}
	for name, c := range map[string]struct {
		instances []turn.InstanceInput
		whole     bool
		titles    int // how many are shown at least
	}{
		"a hundred of 50 KB":         {[]turn.InstanceInput{{State: manyValues(100, 50_000)}}, false, 100},
		"five of 50 KB":              {[]turn.InstanceInput{{State: manyValues(5, 50_000)}}, true, 5},
		"two hundred of 3 KB":        {[]turn.InstanceInput{{State: manyValues(200, 3_000)}}, false, 200},
		"one of 20 KB in each of 20": {several, false, 21},
		"a list of 300 KB": {
			[]turn.InstanceInput{{State: map[string]any{"small": "it is shown", "list": slicesOf(3000, 100)}}}, false,
			0},
		"one that is no object": {[]turn.InstanceInput{{State: slicesOf(3000, 100)}}, false, 0},
		"one whose values are stored": {
			[]turn.InstanceInput{
				{State: map[string]any{"small": "it is shown", "x": modeltest.NewBlobHandleValue("string", 5<<20)}}},
			false, 0},
	} {
		text := Render(modeltest.IdeaFrom(t, `{}`), nil, &turn.RequestInput{Instances: c.instances}, nil)[2].Content
		again := Render(modeltest.IdeaFrom(t, `{}`), nil, &turn.RequestInput{Instances: c.instances}, nil)[2].Content
		if text != again {
			t.Errorf("%s: it is shown differently", name)
		}
		if len(text) > maxShownBytes+1000 || strings.Contains(text, previewsRule) == c.whole ||
			strings.Count(text, `"title":"title`) < c.titles {
			t.Errorf("%s: %d bytes and %d titles\n%s", name, len(text), strings.Count(text, `"title":"title`),
				jsonval.Clip(text, 2000))
		}
		if _, isObject := c.instances[0].State.(map[string]any); isObject &&
			!strings.Contains(text, `"small":"it is shown"`) {
			t.Errorf("%s: the small value is not shown", name)
		}
		if c.whole && !strings.Contains(text, string(jsonval.Encode(c.instances[0].State))) {
			t.Errorf("%s: it is not shown whole", name)
		}
	}
}

func slicesOf(count, bytes int) []any {
	list := make([]any, count)
	for n := range list {
		list[n] = strings.Repeat("e", bytes)
	}
	return list
}

// Only the largest are cut: those of 1 KB stay beside those of 50.
func TestNoMoreIsShownByPreviewsThanMustBe(t *testing.T) {
	t.Parallel()
	state := manyValues(10, 50_000)
	state["medium"] = strings.Repeat("m", 30_000)
	text := Render(modeltest.IdeaFrom(t, `{}`), nil,
		&turn.RequestInput{Instances: []turn.InstanceInput{{State: state}}}, nil)[2].Content
	if strings.Count(text, `"(large value)":{"begins":"bbb`) != 10 ||
		!strings.Contains(text, state["medium"].(string)) {
		t.Errorf("%s", jsonval.Clip(text, 3000))
	}
}

func TestInputsThatAreTooMuchTogetherAreShownByPreviews(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("i", 50_000)
	var shared, own []string
	for n := range 10 {
		shared = append(shared, fmt.Sprintf(`"k%d": %q`, n, big))
		own = append(own, fmt.Sprintf(`{"type": "input", "_instance": "%d", "text": %q, "note": "n"}`, n+60, big))
	}
	idea := modeltest.IdeaFrom(t, `{"context": [{"type": "input", "lang": "en", `+strings.Join(shared, ", ")+`}, `+
		strings.Join(own, ", ")+`]}`)
	var instances []turn.InstanceInput
	for n := range 10 {
		instances = append(instances, turn.InstanceInput{Token: fmt.Sprint(n + 60)})
	}
	messages := Render(idea, nil, &turn.RequestInput{Instances: instances}, nil)
	for n, says := range map[int]string{1: `"lang":"en"}`, 2: `its own †input: {"note":"n","text":{"(large value)"`} {
		if text := messages[n].Content; len(text) > maxShownBytes || !strings.Contains(text, says) ||
			strings.Count(text, previewsRule) != 1 {
			t.Errorf("%d bytes: %s", len(text), jsonval.Clip(text, 2000))
		}
	}
}
