package builtin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/petar-dambovaliev/aho-corasick"

	"processidea/tools"
)

// maxMatches is how many places are listed; all are counted.
const maxMatches = 1000

type matchWordsParams struct {
	Text       string   `json:"text" jsonschema:"The text to search."`
	Words      []string `json:"words" jsonschema:"The words or phrases to look for."`
	WholeWords *bool    `json:"wholeWords,omitempty" jsonschema:"Whether a match must be a whole word; true unless said. Scripts without spaces match anywhere."`
}

type wordMatch struct {
	Word  string `json:"word" jsonschema:"The word as it was given."`
	Start int    `json:"start" jsonschema:"Where it begins, in characters from 0."`
	End   int    `json:"end" jsonschema:"The character after its last."`
}

type matchWordsResult struct {
	Matches []wordMatch `json:"matches" jsonschema:"The first 1,000 places, in the order of the text."`
	Count   int         `json:"count" jsonschema:"How many places there are."`
	Words   []string    `json:"words" jsonschema:"The words that were found, sorted, each once."`
}

func registerMatchWords(r *tools.Registry) {
	tools.Register(r, "matchWords", matchWords, tools.Pure(),
		tools.Describe("Finds where any of many words stand in a text, whatever their case, their width or invisible characters among their letters."))
}

func matchWords(ctx context.Context, in matchWordsParams) (matchWordsResult, error) {
	size := 0
	for _, word := range in.Words {
		size += len(word)
	}
	if err := cmp.Or(checkSize("text", len(in.Text), maxSearched), checkSize("words", size, maxWords)); err != nil {
		return matchWordsResult{}, err
	}
	m := matcherFor(in.Words)
	if m == nil {
		return matchWordsResult{}, nil
	}
	text := fold(in.Text)
	whole := in.WholeWords == nil || *in.WholeWords
	var result matchWordsResult
	found := map[string]bool{}
	it := m.automaton.IterOverlappingByte(text.text)
	for seen, hit := 1, it.Next(); hit != nil; seen, hit = seen+1, it.Next() {
		if seen%4096 == 0 && ctx.Err() != nil {
			return matchWordsResult{}, ctx.Err()
		}
		if whole && !text.whole(hit.Start(), hit.End()) {
			continue
		}
		result.Count++
		word := m.words[hit.Pattern()]
		found[word] = true
		if len(result.Matches) < maxMatches {
			result.Matches = append(result.Matches, wordMatch{word, int(text.from[hit.Start()]), int(text.to[hit.End()-1])})
		}
	}
	slices.SortStableFunc(result.Matches, func(a, b wordMatch) int {
		return cmp.Or(a.Start-b.Start, a.End-b.End)
	})
	result.Words = slices.Sorted(maps.Keys(found))
	return result, nil
}

// matcher finds many words at once, in time linear in the text and its matches.
type matcher struct {
	automaton ahocorasick.AhoCorasick
	words     []string // as given, by pattern
}

// newMatcher returns nil where no word has a visible character.
func newMatcher(words []string) *matcher {
	m, patterns := &matcher{}, []string{}
	seen := map[string]bool{"": true}
	for _, word := range words {
		pattern := strings.TrimSpace(string(fold(word).text))
		if !seen[pattern] {
			seen[pattern] = true
			patterns = append(patterns, pattern)
			m.words = append(m.words, word)
		}
	}
	if len(patterns) == 0 {
		return nil
	}
	// Overlapping matches are wanted: a longer word must not hide one within it.
	builder := ahocorasick.NewAhoCorasickBuilder(ahocorasick.Opts{MatchKind: ahocorasick.StandardMatch})
	m.automaton = builder.Build(patterns)
	return m
}

// matchers keeps the last few: a batch searches a hundred texts for the same
// words, and building takes longer than searching (64 ms for 10,000 words).
var matchers struct {
	sync.Mutex
	byWords map[string]*matcher
}

func matcherFor(words []string) *matcher {
	key := fmt.Sprintf("%q", words) // quoted: no two lists read alike
	matchers.Lock()
	defer matchers.Unlock()
	if m, ok := matchers.byWords[key]; ok {
		return m
	}
	if len(matchers.byWords) >= 8 || matchers.byWords == nil {
		matchers.byWords = map[string]*matcher{}
	}
	m := newMatcher(words)
	matchers.byWords[key] = m
	return m
}
