package texttools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode"

	"github.com/jonreiter/govader"

	"processidea/tools"
)

// Mood is the side on which a text's compound score falls.
type Mood string

// The moods, by the thresholds that VADER's authors give.
const (
	Positive Mood = "positive" // compound score 0.05 or more
	Neutral  Mood = "neutral"
	Negative Mood = "negative" // -0.05 or less
)

const minMoodScore = 0.05

type sentimentParams struct {
	Text     string `json:"text" jsonschema:"The text, in English; emoji and emoticons count."`
	Language string `json:"language,omitempty" jsonschema:"The text's language, such as en. Only English is scored."`
}

type sentimentScore struct {
	Compound float64 `json:"compound" jsonschema:"The whole mood, from -1 to 1."`
	Positive float64 `json:"positive" jsonschema:"The positive share of the text, from 0 to 1."`
	Neutral  float64 `json:"neutral" jsonschema:"The neutral share of the text, from 0 to 1."`
	Negative float64 `json:"negative" jsonschema:"The negative share of the text, from 0 to 1."`
}

func registerSentiment(r *tools.Registry) {
	tools.Register(r, "analyzeSentiment", analyzeSentiment, tools.Pure(),
		tools.Describe("Says whether an English text is positive, neutral or negative."),
		tools.TypeSchema[Mood](`{"type":"string","enum":["positive","neutral","negative"]}`))
	tools.Register(r, "scoreSentiment", scoreSentiment, tools.Pure(),
		tools.Describe(
			"Scores the mood of an English text: compound from -1 to 1, and its positive, neutral and negative "+
				"shares."))
}

func analyzeSentiment(ctx context.Context, in sentimentParams) (Mood, error) {
	score, err := scoreSentiment(ctx, in)
	switch {
	case err != nil:
		return "", err
	case score.Compound >= minMoodScore:
		return Positive, nil
	case score.Compound <= -minMoodScore:
		return Negative, nil
	}
	return Neutral, nil
}

// sentimentAnalyzer reads its lexicon of 7,500 words once, on first use.
var sentimentAnalyzer = sync.OnceValue(govader.NewSentimentIntensityAnalyzer)

func scoreSentiment(_ context.Context, in sentimentParams) (sentimentScore, error) {
	if err := checkTextSize("text", len(in.Text), maxAnalyzedTextBytes); err != nil {
		return sentimentScore{}, err
	}
	if err := checkEnglish(in); err != nil {
		return sentimentScore{}, tools.Final(err)
	}
	// The lexicon has only straight apostrophes, and single spaces between words.
	text := strings.Join(strings.Fields(strings.ReplaceAll(in.Text, "’", "'")), " ")
	s := sentimentAnalyzer().PolarityScores(text)
	return sentimentScore{
		Compound: round(s.Compound, 4), Positive: round(s.Positive, 3),
		Neutral: round(s.Neutral, 3), Negative: round(s.Negative, 3),
	}, nil
}

// checkEnglish refuses texts that the lexicon cannot judge: it would call every text in another language neutral, and
// people would take that for a result.
func checkEnglish(in sentimentParams) error {
	lang := strings.ToLower(strings.TrimSpace(in.Language))
	base, _, _ := strings.Cut(strings.ReplaceAll(lang, "_", "-"), "-")
	if base != "" && base != "en" && base != "eng" && base != "english" {
		return fmt.Errorf("language %q: only English is scored", in.Language)
	}
	letterCount, latinLetterCount := 0, 0
	for _, r := range in.Text {
		if unicode.IsLetter(r) {
			letterCount++
			if unicode.Is(unicode.Latin, r) {
				latinLetterCount++
			}
		}
	}
	if 2*latinLetterCount < letterCount {
		return errors.New("the text is not in Latin letters: only English is scored")
	}
	return nil
}

// round keeps as many decimals as the published VADER does.
func round(f float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(f*scale) / scale
}
