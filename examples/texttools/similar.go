package texttools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"processidea/tools"
)

const defaultSimilarityThreshold = 0.5

type findSimilarParams struct {
	Text      string   `json:"text" jsonschema:"The text to compare with the others."`
	Texts     []string `json:"texts" jsonschema:"The other texts. The text itself counts if it stands among them."`
	Threshold *float64 `json:"threshold,omitempty" jsonschema:"The least score that counts as similar, from 0 to 1; 0.5 unless said."`
}

type similarText struct {
	Index int     `json:"index" jsonschema:"The place in texts, from 0."`
	Score float64 `json:"score" jsonschema:"0 for nothing in common, 1 for the same wording."`
}

type findSimilarResult struct {
	Similar      []similarText `json:"similar" jsonschema:"The similar texts, the most similar first."`
	SimilarCount int           `json:"count" jsonschema:"How many there are."`
	HighestScore float64       `json:"highest" jsonschema:"The highest score of all texts, similar or not."`
}

func registerFindSimilar(r *tools.Registry) {
	tools.Register(r, "findSimilar", findSimilar, tools.Pure(),
		tools.Describe(
			"Finds the near-duplicates of a text in a list: the same message sent again with small changes."))
}

// findSimilar scores two texts by the share of three-character runs that they have in common (Jaccard), so that case,
// punctuation and a changed word matter little.
func findSimilar(ctx context.Context, in findSimilarParams) (findSimilarResult, error) {
	threshold := defaultSimilarityThreshold
	if in.Threshold != nil {
		threshold = *in.Threshold
	}
	if threshold < 0 || threshold > 1 {
		return findSimilarResult{}, tools.Final(fmt.Errorf("threshold %v: not between 0 and 1", threshold))
	}
	if err := checkTextSize("text", len(in.Text), maxAnalyzedTextBytes); err != nil {
		return findSimilarResult{}, err
	}
	var result findSimilarResult
	textShingles := shingles(in.Text)
	for i, text := range in.Texts {
		if err := checkTextSize(fmt.Sprintf("texts[%d]", i), len(text), maxAnalyzedTextBytes); err != nil {
			return findSimilarResult{}, err
		}
		if ctx.Err() != nil {
			return findSimilarResult{}, ctx.Err()
		}
		score := jaccard(textShingles, shingles(text))
		result.HighestScore = max(result.HighestScore, round(score, 4))
		if score >= threshold {
			result.Similar = append(result.Similar, similarText{Index: i, Score: round(score, 4)})
		}
	}
	slices.SortStableFunc(result.Similar, func(a, b similarText) int { return cmp.Compare(b.Score, a.Score) })
	result.SimilarCount = len(result.Similar)
	return result, nil
}

// shingles returns the distinct runs of three characters of a text without its punctuation, sorted; a shorter text is
// one run. A rune takes 21 bits, so a run fits into 64.
func shingles(s string) []uint64 {
	const runLength, bits = 3, 21
	var runs []uint64
	var run uint64
	n := 0
	letters := foldedLetters(s)
	for i := 0; i < len(letters); n++ {
		r, width := utf8.DecodeRune(letters[i:])
		i += width
		run = (run<<bits | uint64(r)) & (1<<(runLength*bits) - 1)
		if n >= runLength-1 {
			runs = append(runs, run)
		}
	}
	if n > 0 && n < runLength {
		runs = append(runs, run)
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// foldedLetters returns the folded text with every run of other characters replaced by one space, or removed beside a
// script that writes no spaces. A text without letters, such as a row of emoji, is returned as it is.
func foldedLetters(s string) []byte {
	text := foldText(s).text
	out := make([]byte, 0, len(text))
	last, hasGap := rune(0), false
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRune(text[i:])
		if isWordRune(r) {
			if hasGap && last != 0 && !isUnspacedScript(last) && !isUnspacedScript(r) {
				out = append(out, ' ')
			}
			out = append(out, text[i:i+width]...)
			last = r
		}
		hasGap = !isWordRune(r)
		i += width
	}
	if len(out) == 0 {
		return text
	}
	return out
}

// jaccard is the size of the intersection of two sorted sets, divided by the size of their union; two empty sets have
// nothing in common.
func jaccard(a, b []uint64) float64 {
	commonCount := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			commonCount, i, j = commonCount+1, i+1, j+1
		}
	}
	if unionCount := len(a) + len(b) - commonCount; unionCount > 0 {
		return float64(commonCount) / float64(unionCount)
	}
	return 0
}
