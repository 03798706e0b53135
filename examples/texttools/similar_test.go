package texttools

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/tools"
)

func TestAWaveOfTheSameMessageIsFound(t *testing.T) {
	t.Parallel()
	text := "Earn $5000 a week from home! Visit cheap-money.example/a17 now"
	texts := []string{
		"EARN $5000 a week from home!! visit cheap-money.example/b99 now",
		"What time does the shop open on Sundays?",
		"earn 5,000 a week, from home: Visit cheap money example x3 NOW",
		"I earn my living at home, and it is fine.",
		text,
	}
	got, err := findSimilar(bg, findSimilarParams{Text: text, Texts: texts})
	if err != nil || got.SimilarCount != 3 || got.HighestScore != 1 || got.Similar[0].Index != 4 ||
		got.Similar[1].Index != 0 ||
		got.Similar[2].Index != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSimilarityWorksWithoutSpacesAndWithoutLetters(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"text":"点击链接免费领取奖品大礼包","texts":["点击链接，免费领取奖品大礼包！！","今天天气很好","点击此链接免费领取奖品礼包"],"threshold":0.3}`: `{"count":2,"highest":1,"similar":[{"index":0,"score":1},{"index":2,"score":0.375}]}`,
		`{"text":"🔥🔥🔥💰","texts":["🔥🔥🔥💰","🌧"]}`:                 `{"count":1,"highest":1,"similar":[{"index":0,"score":1}]}`,
		`{"text":"ok","texts":["OK!","no"]}`:                   `{"count":1,"highest":1,"similar":[{"index":0,"score":1}]}`,
		`{"text":"","texts":["",""]}`:                          `{"count":0,"highest":0,"similar":[]}`,
		`{"text":"a","texts":[]}`:                              `{"count":0,"highest":0,"similar":[]}`,
		`{"text":"abcdef","texts":["abcdxx"],"threshold":0.9}`: `{"count":0,"highest":0.3333,"similar":[]}`,
		`{"text":"abc","texts":["xyz"],"threshold":0}`:         `{"count":1,"highest":0,"similar":[{"index":0,"score":0}]}`,
	} {
		if got, err := call(t, "findSimilar", params); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", params, got, err, want)
		}
	}
}

func TestAThresholdIsBetweenNoneAndAll(t *testing.T) {
	t.Parallel()
	for _, threshold := range []string{"-0.1", "1.1", "1e300"} {
		if _, err := call(t, "findSimilar", `{"text":"a","texts":[],"threshold":`+threshold+`}`); err == nil ||
			!tools.IsFinal(err) || !strings.Contains(err.Error(), "not between 0 and 1") {
			t.Errorf("%s: %v", threshold, err)
		}
	}
}

func TestSimilarityIsSymmetricAndOneForTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("abc界 .!🔥")))
		a, b := shingles(text.Draw(t, "a")), shingles(text.Draw(t, "b"))
		ab, ba := jaccard(a, b), jaccard(b, a)
		if ab != ba || ab < 0 || ab > 1 || (len(a) > 0 && jaccard(a, a) != 1) {
			t.Fatalf("%v and %v", ab, ba)
		}
	})
}

func TestAComparisonEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := findSimilar(ctx, findSimilarParams{Text: "a", Texts: []string{"b"}}); err == nil ||
		tools.IsFinal(err) {
		t.Errorf("%v", err)
	}
}
