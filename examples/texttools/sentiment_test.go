package texttools

import (
	"strings"
	"sync"
	"testing"

	"processidea/tools"
)

func TestAMoodIsPositiveNeutralOrNegative(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"This is wonderful!":                "positive",
		"This is terrible.":                 "negative",
		"The parcel has three sides.":       "neutral",
		"This isn’t good at all":            "negative",
		"not bad":                           "positive",
		"I love it,\nbut the box was awful": "negative",
		"😍😍":                                "positive",
		"":                                  "neutral",
		"12:30":                             "neutral",
	} {
		if got, err := call(t, "analyzeSentiment", `{"text":`+encoded(t, text)+`}`); err != nil || got != `"`+want+`"` {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	if r := string(
		tool(t, "analyzeSentiment").ResultSchema); r != `{"type":"string","enum":["positive","neutral","negative"]}` {
		t.Errorf("result %s", r)
	}
}

func TestScoresAreThosePublishedWithVADER(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"VADER is smart, handsome, and funny.":            `{"compound":0.8316,"negative":0,"neutral":0.254,"positive":0.746}`,
		"VADER is VERY SMART, handsome, and FUNNY!!!":     `{"compound":0.9342,"negative":0,"neutral":0.233,"positive":0.767}`,
		"VADER is not smart, handsome, nor funny.":        `{"compound":-0.7424,"negative":0.646,"neutral":0.354,"positive":0}`,
		"The book was only kind of good.":                 `{"compound":0.3832,"negative":0,"neutral":0.697,"positive":0.303}`,
		"Today only kinda sux! But I'll get by, lol":      `{"compound":0.5249,"negative":0.127,"neutral":0.556,"positive":0.317}`,
		"Make sure you :) or :D today!":                   `{"compound":0.8633,"negative":0,"neutral":0.294,"positive":0.706}`,
		"Today  only\tkinda sux!\nBut I’ll get by, lol  ": `{"compound":0.5249,"negative":0.127,"neutral":0.556,"positive":0.317}`,
	} {
		if got, err := call(t, "scoreSentiment", `{"text":`+encoded(t, text)+`}`); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestWhatIsNotEnglishIsAnErrorAndNotNeutral(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"text":"这太糟糕了"}`, `{"text":"Это ужасно ok"}`, `{"text":"fein","language":"de"}`,
		`{"text":"x","language":"enochian"}`} {
		for _, name := range []string{"analyzeSentiment", "scoreSentiment"} {
			if got, err := call(t, name, text); err == nil || !tools.IsFinal(err) ||
				!strings.Contains(err.Error(), "only English is scored") {
				t.Errorf("%s %s: %s, %v", name, text, got, err)
			}
		}
	}
	for _, language := range []string{"en", "EN-us", "en_GB", "English", "eng", ""} {
		if _, err := call(t, "analyzeSentiment", `{"text":"fine café 好","language":"`+language+`"}`); err != nil {
			t.Errorf("%s: %v", language, err)
		}
	}
}

func TestTheAnalyzerIsSharedByCalls(t *testing.T) {
	t.Parallel()
	analyze := tool(t, "analyzeSentiment")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := analyze.Call(bg, map[string]any{"text": "I love this GREAT idea"}); got != "positive" ||
				err != nil {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	wg.Wait()
}
