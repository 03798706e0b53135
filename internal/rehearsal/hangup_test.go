package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/openai/openai-go/v3"
)

func TestACutReplyEndsAfterItsCharactersWithoutAFinishReason(t *testing.T) {
	t.Parallel()
	for cut, solution := range map[int]string{1: "①", 4: "①234", 6: "①23456", 8: "①2345678", 99: "①2345678"} {
		server := start(t, fmt.Sprintf(`{"raw": "①2345678", "cut": %d}`, cut))
		got := ask(t, server, "plan")
		if got.content != solution || got.finish != "" || got.completion != 0 {
			t.Errorf("cut %d: heard %q, finish %q, usage %d", cut, got.content, got.finish, got.completion)
		}
		if !errors.Is(got.err, io.ErrUnexpectedEOF) {
			t.Errorf("cut %d: error %v", cut, got.err)
		}
		if seen := server.Requests()[0]; seen.EndReason != EndCut || seen.SentCharCount != len([]rune(solution)) {
			t.Errorf("cut %d: logged %+v", cut, seen)
		}
	}
}

func TestAReplyThatIsCutAtNothingIsNeverAnswered(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, ask func(*testing.T, *Server, string) heard) {
		got := ask(t, start(t, `{"raw": "12345", "cut": 0}`), "plan")
		var answered *openai.Error
		if !errors.Is(got.err, io.EOF) || errors.As(got.err, &answered) {
			t.Errorf("heard %q, error %v", got.content, got.err)
		}
	})
}

func TestACutReplyThatIsNotStreamedIsNeverAnswered(t *testing.T) {
	t.Parallel()
	got := askWhole(t, start(t, `{"raw": "12345", "cut": 3}`), "plan")
	if !errors.Is(got.err, io.EOF) {
		t.Errorf("heard %q, error %v", got.content, got.err)
	}
}

func TestARefusalIsCutByItsOwnCharacters(t *testing.T) {
	t.Parallel()
	got := ask(t, start(t, `{"refusal": "12345", "cut": 3}`), "plan")
	if got.refusal != "123" || got.finish != "" {
		t.Errorf("heard refusal %q, finish %q", got.refusal, got.finish)
	}
}

// leaving asks, goes away when told to, and returns how the server saw it end.
func leaving(t *testing.T, file string, streamed bool, opts ...Option) EndReason {
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	ended := make(chan EndReason, 1)
	opts = append(opts, OnChunkSent(func(int, int) { leave() }), OnEnd(func(_ int, end EndReason) { ended <- end }))
	server := start(t, file, opts...)
	c := client(t, server.URL())
	if streamed {
		for stream := c.Chat.Completions.NewStreaming(ctx, params("plan")); stream.Next(); {
		}
	} else if _, err := c.Chat.Completions.New(ctx, params("plan")); err == nil {
		t.Error("the client heard the end")
	}
	end := <-ended
	if seen := server.Requests()[0]; seen.EndReason != end || seen.SentCharCount != 4 {
		t.Errorf("logged %+v", seen)
	}
	return end
}

func TestAClientThatLeavesIsNoticedWhileATokenIsAwaited(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{true, false} {
		if end := leaving(t, `{"raw": "a long reply", "tps": 0.0001}`, streamed); end != EndClientGone {
			t.Errorf("streamed %t: ended %q", streamed, end)
		}
	}
}

func TestAPacedTokenIsHeardBeforeTheNextIsDue(t *testing.T) {
	t.Parallel()
	server := start(t, `{"raw": "a long reply", "tps": 0.0001}`)
	c := client(t, server.URL())
	stream := c.Chat.Completions.NewStreaming(context.Background(), params("plan"))
	defer stream.Close()
	for solution := ""; solution != "a lo"; solution += stream.Current().Choices[0].Delta.Content {
		if !stream.Next() {
			t.Fatalf("heard %q and error %v", solution, stream.Err())
		}
	}
	if seen := server.Requests()[0]; seen.SentCharCount != 4 || seen.EndReason != "" {
		t.Errorf("logged %+v", seen)
	}
}

func TestAClientThatLeavesIsNoticedAtAGate(t *testing.T) {
	t.Parallel()
	gate := WithGate(func(ctx context.Context, _, sent int) {
		if sent > 0 {
			<-ctx.Done()
		}
	})
	for _, streamed := range []bool{true, false} {
		if end := leaving(t, `{"raw": "a long reply"}`, streamed, gate); end != EndClientGone {
			t.Errorf("streamed %t: ended %q", streamed, end)
		}
	}
}

func TestAClientThatLeavesIsNoticedBeforeTheFirstToken(t *testing.T) {
	t.Parallel()
	for _, file := range []string{`{"raw": "late", "ttft_ms": 1e8}`, `{"raw": "", "ttft_ms": 1e8}`,
		`{"status": 500, "ttft_ms": 1e8}`} {
		ctx, leave := context.WithCancel(context.Background())
		ended := make(chan EndReason, 1)
		server := start(t, file, WithGate(func(context.Context, int, int) { leave() }),
			OnEnd(func(_ int, end EndReason) { ended <- end }))
		c := client(t, server.URL())
		if _, err := c.Chat.Completions.New(ctx, params("plan")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: heard error %v", file, err)
		}
		if end := <-ended; end != EndClientGone {
			t.Errorf("%s: ended %q", file, end)
		}
	}
}

func TestCloseHangsUpOnEveryClientAndMayBeCalledTwice(t *testing.T) {
	t.Parallel()
	begun := make(chan bool, 1)
	server := start(t, `{"raw": "a long reply", "tps": 0.0001}`, OnChunkSent(func(int, int) { begun <- true }))
	c := client(t, server.URL())
	answer := make(chan heard)
	go func() { answer <- listen(c, params("plan")) }()
	<-begun
	server.Close()
	if got := <-answer; got.content != "a lo" || got.err == nil || got.finish != "" {
		t.Errorf("heard %q, finish %q, error %v", got.content, got.finish, got.err)
	}
	if end := server.Requests()[0].EndReason; end != EndClientGone {
		t.Errorf("ended %q", end)
	}
	server.Close()
	if err := listen(c, params("plan")).err; err == nil {
		t.Error("a closed server answered")
	}
}
