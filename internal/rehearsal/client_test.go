package rehearsal

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// heard is what the real client made of one answer.
type heard struct {
	content, refusal, finish string
	ids, llms                map[string]bool
	chunks                   []string // contents, as they came
	prompt, completion       int64
	err                      error
}

// start serves the replies file until the test ends.
func start(t *testing.T, file string, opts ...Option) *Server {
	t.Helper()
	server, err := Start(parse(t, file), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func client(t *testing.T, url string) openai.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: transport}))
}

func params(prompt ...string) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: "echo-1",
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}}
	for _, text := range prompt {
		p.Messages = append(p.Messages, openai.UserMessage(text))
	}
	return p
}

func turn(n int) option.RequestOption { return option.WithHeader(TurnNumberHeader, strconv.Itoa(n)) }

// ask speaks with the server by stream.
func ask(t *testing.T, server *Server, prompt string, opts ...option.RequestOption) heard {
	t.Helper()
	return listen(client(t, server.URL()), params(prompt), opts...)
}

func listen(c openai.Client, p openai.ChatCompletionNewParams, opts ...option.RequestOption) heard {
	h := heard{ids: map[string]bool{}, llms: map[string]bool{}}
	stream := c.Chat.Completions.NewStreaming(context.Background(), p, opts...)
	for stream.Next() {
		h.hear(stream.Current())
	}
	h.err = stream.Err()
	return h
}

func (h *heard) hear(chunk openai.ChatCompletionChunk) {
	h.ids[chunk.ID], h.llms[chunk.Model] = true, true
	for _, c := range chunk.Choices {
		h.content += c.Delta.Content
		h.refusal += c.Delta.Refusal
		h.finish += c.FinishReason
		if c.Delta.Content != "" {
			h.chunks = append(h.chunks, c.Delta.Content)
		}
	}
	h.prompt += chunk.Usage.PromptTokens
	h.completion += chunk.Usage.CompletionTokens
}

// askWhole speaks with the server without a stream.
func askWhole(t *testing.T, server *Server, prompt string) heard {
	t.Helper()
	p := params(prompt)
	p.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	c := client(t, server.URL())
	got, err := c.Chat.Completions.New(context.Background(), p)
	if err != nil {
		return heard{err: err}
	}
	solution := got.Choices[0]
	return heard{content: solution.Message.Content, refusal: solution.Message.Refusal, finish: solution.FinishReason,
		ids: map[string]bool{got.ID: true}, llms: map[string]bool{got.Model: true},
		prompt: got.Usage.PromptTokens, completion: got.Usage.CompletionTokens}
}

// eachWay runs a test on both forms of request.
func eachWay(t *testing.T, test func(t *testing.T, ask func(*testing.T, *Server, string) heard)) {
	t.Run("streamed", func(t *testing.T) {
		test(t, func(t *testing.T, s *Server, prompt string) heard { return ask(t, s, prompt) })
	})
	t.Run("whole", func(t *testing.T) { test(t, askWhole) })
}

func (h heard) want(t *testing.T, content, finish string) {
	t.Helper()
	if h.err != nil || h.content != content || h.finish != finish {
		t.Errorf("heard %q, finish %q, error %v; want %q, finish %q", h.content, h.finish, h.err, content, finish)
	}
}

// wantError checks that an answer was an HTTP error, and returns it.
func (h heard) wantError(t *testing.T, status int, message string) *openai.Error {
	t.Helper()
	fault, ok := h.err.(*openai.Error)
	if !ok {
		t.Fatalf("heard %q and error %v (%T), want status %d", h.content, h.err, h.err, status)
	}
	if fault.StatusCode != status || !strings.Contains(fault.Message, message) {
		t.Errorf("heard status %d %q, want %d %q", fault.StatusCode, fault.Message, status, message)
	}
	return fault
}
