package rehearsal

import (
	"encoding/json"
)

// The parts of the Chat Completions protocol that the answers use.
type (
	completion struct {
		ID      string          `json:"id"`
		Object  string          `json:"object"`
		Created int64           `json:"created"`
		LLM     string          `json:"model"`
		Choices []choice        `json:"choices"`
		Usage   json.RawMessage `json:"usage,omitempty"`
	}
	choice struct {
		Index        int            `json:"index"`
		Delta        *delta         `json:"delta,omitempty"`
		Message      *answerMessage `json:"message,omitempty"`
		LogProbs     any            `json:"logprobs"`
		FinishReason *string        `json:"finish_reason"`
	}
	delta struct {
		Role    string  `json:"role,omitempty"`
		Content *string `json:"content,omitempty"`
		Refusal *string `json:"refusal,omitempty"`
	}
	answerMessage struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
		Refusal *string `json:"refusal"`
	}
	usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
	}
)
