package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openai/openai-go/v3"
)

func TestCharactersOfManyBytesArriveWhole(t *testing.T) {
	t.Parallel()
	solution := "①②③ 你好，世界 👩‍👩‍👧 naïve 𝄞 e\u0301 \u2028 " + strings.Repeat("文", 50)
	raw, _ := json.Marshal(solution)
	for _, size := range []int{1, 2, 3, 4, 7, 1000} {
		server := start(t, fmt.Sprintf(`{"raw": %s}`, raw), WithChunkChars(size))
		got := ask(t, server, "plan")
		got.want(t, solution, "stop")
		for _, chunk := range got.chunks {
			if !utf8.ValidString(chunk) || strings.ContainsRune(chunk, utf8.RuneError) ||
				utf8.RuneCountInString(chunk) > size {
				t.Errorf("chunk %q of at most %d characters", chunk, size)
			}
		}
	}
}

func TestAChunkIsOneTokenOfFourCharacters(t *testing.T) {
	t.Parallel()
	for _, file := range []string{`{"raw": "①②③④⑤⑥"}`, `{"raw": "①②③④⑤⑥", "tps": 5000, "ttft_ms": 1}`} {
		got := ask(t, start(t, file), "plan")
		if fmt.Sprint(got.chunks) != "[①②③④ ⑤⑥]" {
			t.Errorf("chunks %q", got.chunks)
		}
	}
}

func TestAllChunksOfAReplyHaveOneIdAndNameTheLLMThatWasAskedFor(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
		got := ask(t, start(t, `{"raw": "some words to be cut into chunks"}`), "plan")
		if len(got.ids) != 1 || len(got.llms) != 1 || !got.llms["echo-1"] {
			t.Errorf("ids %v, llms %v", got.ids, got.llms)
		}
	})
}

func TestUsageIsCountedInTokensOfFourCharacters(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
		got := ask(t, start(t, `{"raw": "12345678"}`), strings.Repeat("①", 12))
		if got.prompt != 3 || got.completion != 2 {
			t.Errorf("usage %d and %d", got.prompt, got.completion)
		}
	})
}

func TestUsageIsStreamedOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	p := params("plan")
	p.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	got := listen(client(t, start(t, two).URL()), p)
	got.want(t, "first", "stop")
	if got.prompt != 0 || got.completion != 0 {
		t.Errorf("usage %d and %d", got.prompt, got.completion)
	}
}

func TestTheClientsAccumulatorMakesTheReplyWholeAgain(t *testing.T) {
	t.Parallel()
	server := start(t, `{"raw": "to be put together ①"}`)
	c := client(t, server.URL())
	stream := c.Chat.Completions.NewStreaming(context.Background(), params("plan"))
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			t.Error("a chunk was dropped")
		}
	}
	if stream.Err() != nil || all.Choices[0].Message.Content != "to be put together ①" || all.Usage.TotalTokens != 6 {
		t.Errorf("put together %+v, error %v", all.ChatCompletion, stream.Err())
	}
}

func TestTheLogHoldsWhatWasAsked(t *testing.T) {
	t.Parallel()
	server := start(t, `{"raw": "12345678"}`)
	p := params("one")
	p.Messages = append(p.Messages, openai.SystemMessage("two ①"))
	listen(client(t, server.URL()), p, turn(1)).want(t, "12345678", "stop")
	seen := server.Requests()[0]
	if fmt.Sprint(seen.Messages) != "[{user one} {system two ①}]" || seen.LLMName != "echo-1" || !seen.WantsStream {
		t.Errorf("logged %+v", seen)
	}
	if !json.Valid(seen.Body) || seen.Header.Get("Authorization") != "Bearer none" ||
		seen.Header.Get(TurnNumberHeader) != "1" {
		t.Errorf("logged body %s, header %v", seen.Body, seen.Header)
	}
	if seen.FirstTokenAt.Before(seen.ArrivedAt) || seen.LastTokenAt.Before(seen.FirstTokenAt) ||
		seen.SentCharCount != 8 ||
		seen.EndReason != EndComplete {
		t.Errorf("logged %+v", seen)
	}
}

func TestWithoutLogNothingIsKept(t *testing.T) {
	t.Parallel()
	server := start(t, two, WithoutRequestLog())
	ask(t, server, "a").want(t, "first", "stop")
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests are kept", n)
	}
}
