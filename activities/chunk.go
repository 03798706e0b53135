package activities

import (
	"strings"

	"github.com/valyala/fastjson"

	"processidea/model"
)

// chunk is what is wanted of an openai.ChatCompletionChunk. That type also keeps what is not, at ten times the cost, and
// encoding/json takes four times as long as fastjson: an LLM that speaks a token at a time would be heard no faster than it
// is decoded.
type chunk struct {
	choices []choice
	usage   model.Usage
	bytes   int
}

type choice struct {
	index                    int
	content, refusal, finish string
}

var chunkParsers fastjson.ParserPool

// UnmarshalJSON leaves out what is of another type than it should be, as the openai client does.
func (c *chunk) UnmarshalJSON(data []byte) error {
	p := chunkParsers.Get()
	defer chunkParsers.Put(p)
	v, err := p.ParseBytes(data)
	if err != nil {
		return err
	}
	*c = chunk{bytes: len(data), usage: model.Usage{
		PromptTokens: v.GetInt("usage", "prompt_tokens"), CompletionTokens: v.GetInt("usage", "completion_tokens"),
	}}
	for _, o := range v.GetArray("choices") {
		c.choices = append(c.choices, choice{
			index: o.GetInt("index"), finish: textOf(o, "finish_reason"),
			content: textOf(o, "delta", "content"), refusal: textOf(o, "delta", "refusal"),
		})
	}
	return nil
}

// textOf is a text in a chunk; "" where there is none. What is no UTF-8 becomes U+FFFD, as in encoding/json.
func textOf(v *fastjson.Value, path ...string) string {
	return strings.ToValidUTF8(string(v.GetStringBytes(path...)), "\uFFFD")
}
