package llm

import (
	"strings"
	"testing"

	"processidea/model/turn"
)

// Servers say in different keys what of the prompt they had kept.
func TestTokensThatWereKeptAndThoseForReasoningAreCounted(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]turn.TokenUsage{
		`{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":3}}`: {
			PromptTokens: 7, CompletionTokens: 5, CachedTokens: 4, ReasoningTokens: 3},
		`{"prompt_tokens":7,"completion_tokens":5,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":1}`:                      {PromptTokens: 7, CompletionTokens: 5, CachedTokens: 6},
		`{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":99},"completion_tokens_details":null}`: {PromptTokens: 7, CompletionTokens: 5, CachedTokens: 7},
		`{"prompt_tokens":7,"completion_tokens":5,"prompt_tokens_details":"none"}`:                                                {PromptTokens: 7, CompletionTokens: 5},
	} {
		heard := spoken(solutionText)
		heard[len(heard)-2] = `{"id":"c1","choices":[],"usage":` + said + `}`
		reply, err := replying(t, streaming(chunks(heard...)))
		if err != nil || reply.Usage != want {
			t.Errorf("%s is read as %+v, %v", strings.TrimSpace(said), reply.Usage, err)
		}
	}
}
