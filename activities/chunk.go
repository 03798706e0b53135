package activities

import (
	"encoding/json"
	"errors"
)

// chunk is what is wanted of an openai.ChatCompletionChunk. That type also keeps what is not, at ten times the cost: an LLM
// that speaks a token at a time would be heard no faster than it is decoded.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`

	bytes int
}

// UnmarshalJSON leaves out what is of another type than it should be, as the openai client does.
func (c *chunk) UnmarshalJSON(data []byte) error {
	type plain chunk
	*c = chunk{bytes: len(data)}
	err := json.Unmarshal(data, (*plain)(c))
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		return nil
	}
	return err
}
