package texttools

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"processidea/tools"
)

// maxListedMatches bounds the places that are listed; all are counted.
const maxListedMatches = 1000

type matchWordsParams struct {
	Text           string   `json:"text" jsonschema:"The text to search."`
	Words          []string `json:"words" jsonschema:"The words or phrases to look for."`
	OnlyWholeWords *bool    `json:"wholeWords,omitempty" jsonschema:"Whether a match must be a whole word; true unless said. Scripts without spaces match anywhere."`
}

type wordMatch struct {
	Word  string `json:"word" jsonschema:"The word as it was given."`
	Start int    `json:"start" jsonschema:"Where it begins, in characters from 0."`
	End   int    `json:"end" jsonschema:"The character after its last."`
}

type matchWordsResult struct {
	Matches    []wordMatch `json:"matches" jsonschema:"The first 1,000 places, in the order of the text."`
	MatchCount int         `json:"count" jsonschema:"How many places there are."`
	FoundWords []string    `json:"words" jsonschema:"The words that were found, sorted, each once."`
}

func registerMatchWords(r *tools.Registry) {
	tools.Register(r, "matchWords", matchWords, tools.Pure(),
		tools.Describe("Finds where any of many words stand in a text, whatever their case, their width or invisible "+
			"characters among their letters."))
}

func matchWords(ctx context.Context, in matchWordsParams) (matchWordsResult, error) {
	wordBytes := 0
	for _, word := range in.Words {
		wordBytes += len(word)
	}
	if err := cmp.Or(checkTextSize("text", len(in.Text), maxAnalyzedTextBytes),
		checkTextSize("words", wordBytes, maxAllWordsBytes)); err != nil {
		return matchWordsResult{}, err
	}
	text, onlyWholeWords := foldText(in.Text), in.OnlyWholeWords == nil || *in.OnlyWholeWords
	var result matchWordsResult
	for pattern, word := range wordByFoldedForm(in.Words) {
		if ctx.Err() != nil {
			return matchWordsResult{}, ctx.Err()
		}
		if result.addMatches(text, pattern, word, onlyWholeWords) {
			result.FoundWords = append(result.FoundWords, word)
		}
	}
	slices.Sort(result.FoundWords)
	return result, nil
}

// wordByFoldedForm maps the folded form of each word, which is searched for, to the word as given. Words without
// visible characters are left out.
func wordByFoldedForm(words []string) map[string]string {
	wordByPattern := map[string]string{}
	for _, word := range words {
		pattern := strings.TrimSpace(string(foldText(word).text))
		if _, isDuplicate := wordByPattern[pattern]; !isDuplicate && pattern != "" {
			wordByPattern[pattern] = word
		}
	}
	return wordByPattern
}

// addMatches adds each place of a word, and reports whether there is one. Places may overlap: a match inside a longer
// match counts too.
func (r *matchWordsResult) addMatches(text *foldedText, pattern, word string, onlyWholeWords bool) (isFound bool) {
	for start := 0; ; start++ {
		matchOffset := bytes.Index(text.text[start:], []byte(pattern))
		if matchOffset < 0 {
			break
		}
		start += matchOffset
		if end := start + len(pattern); !onlyWholeWords || text.isWholeWord(start, end) {
			isFound = true
			r.MatchCount++
			r.Matches = append(r.Matches, wordMatch{word, int(text.sourceStarts[start]), int(text.sourceEnds[end-1])})
		}
	}
	slices.SortFunc(r.Matches, func(a, b wordMatch) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	r.Matches = r.Matches[:min(len(r.Matches), maxListedMatches)]
	return isFound
}
