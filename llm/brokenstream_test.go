package llm

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"processidea/model/turn"
)

func TestAStreamThatBreaksOffIsATruncatedReplyAndKeepsItsCalls(t *testing.T) {
	t.Parallel()
	said := spoken(solutionText)
	call := delta(`{"calls":[{"_tool":"shout","text":"hi","_outputPath":"loud"}`)
	for name, row := range map[string]struct {
		h    http.HandlerFunc
		n    int
		want string
	}{
		"it ends without saying so": {streaming(chunks(said[0], call)), 1,
			"the stream ended before the reply did"},
		"an end in each chunk is null, in quotes": {streaming(chunks(said[0], call,
			`{"choices":[{"index":0,"delta":{"content":","},"finish_reason":"null"}]}`)), 1, "the stream ended before the reply did"},
		"it says that it is done too soon": {streaming(chunks(said[0], call, done)), 1,
			"the stream ended before the reply did"},
		"an error object comes": {
			streaming(chunks(said[0], call,
				`{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`)),
			1, "Provider disconnected"},
		"an error event comes": {
			streaming(chunks(call) + "event: error\ndata: {\"message\":\"out of memory\"}\n\n"), 1, "out of memory"},
		"an error event is plain text": {streaming(chunks(call) + "event: error\ndata: out of memory\n\n"), 1,
			"out of memory"},
		"an error stands on its line": {
			streaming(chunks(call) + "error: {\"code\":500,\"message\":\"slot is gone\"}\n\n"), 1, "slot is gone"},
		"an object says it is an error": {
			streaming(chunks(call, `{"object":"error","message":"engine is dead","code":500}`)),
			1, "engine is dead"},
		"a chunk has very many values": {streaming(chunks(call,
			`{"choices":[],"x":[`+strings.Repeat("1,", 4<<20)+`1]}`)), 1, "values and keys"},
		"a chunk is no JSON": {streaming(chunks(call, `{"choices":[`)), 1, "the stream broke off"},
		"a chunk is another form": {streaming(chunks(call, `{"choices":5}`)), 1,
			"the stream ended before the reply did"},
		"a proxy's page comes": {streaming(chunks(call) + "<html>Gone</html>\n"), 1,
			"the stream ended before the reply did; the server sent a text in its place: <html>Gone</html>"},
		"it is too long": {
			streaming(chunks(call, `{"choices":[{"index":0,"delta":{},"finish_reason":"model_length"}]}`, done)),
			1, "longer than the LLM may write"},
		"the context is full": {
			streaming(chunks(call,
				`{"choices":[{"index":0,"delta":{},"finish_reason":"model_context_window_exceeded"}]}`, done)),
			1, "longer than the LLM may write"},
		"the server gives up": {streaming(chunks(call,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"insufficient_system_resource"}]}`, done)),
			1, "the server gave up on the reply (finish_reason: insufficient_system_resource)"},
		"it thinks until it may not": {
			streaming(chunks(delta("<think>Hm."), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`,
				done)),
			0, "spent all that it may write on reasoning"},
		"it thinks beside until it may not": {
			streaming(chunks(`{"choices":[{"index":0,"delta":{"reasoning_content":"Hm."},"finish_reason":"length"}]}`, done)),
			0, "spent all that it may write on reasoning"},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := replying(t, row.h)
			if err != nil || reply.Whole || reply.IncompleteFault.Code != turn.CodeTruncated ||
				!strings.Contains(reply.IncompleteFault.Message, row.want) {
				t.Fatalf("%v %+v", err, reply)
			}
			if n := len(reply.Calls); n != row.n {
				t.Errorf("%d calls", n)
			}
		})
	}
}

func TestAContentFilterIsTheLLMsRefusalHoweverItIsNamed(t *testing.T) {
	t.Parallel()
	for _, finish := range []string{"content_filter", "SAFETY", "content_filter: RECITATION", "IMAGE_PROHIBITED_CONTENT"} {
		reply, err := replying(t, streaming(chunks(`{"choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`, done)))
		if err != nil || reply.IncompleteFault == nil || reply.IncompleteFault.Code != turn.CodeRefusal {
			t.Errorf("%s: %v %+v", finish, err, reply)
		}
	}
}

func TestAConnectionThatIsClosedIsTheEndOfAnOldServersStream(t *testing.T) {
	t.Parallel()
	said := chunks(spoken(solutionText)...)
	for name, row := range map[string]struct {
		text  string
		whole bool
	}{"whole": {said, true}, "cut": {said[:len(said)/2], false}} {
		reply, err := makeRequest(t, newClient(t, Config{BaseURL: oldServer(t, "text/event-stream", row.text)}))
		if err != nil || reply.Whole != row.whole {
			t.Errorf("%s: %v %+v", name, err, reply)
		}
	}
	reply, err := makeRequest(t,
		newClient(
			t, Config{BaseURL: oldServer(t, "application/json", completion(`{"content":`+quoted(solutionText)+`}`))}))
	if err != nil || !reply.Whole {
		t.Errorf("all at once: %v %+v", err, reply)
	}
}

// oldServer speaks HTTP/1.0: no length, no chunks, the connection's end is the answer's.
func oldServer(t *testing.T, contentType, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r, err := http.ReadRequest(bufio.NewReader(conn))
			if err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				fmt.Fprintf(conn, "HTTP/1.0 200 OK\r\nContent-Type: %s\r\n\r\n%s", contentType, text)
			}
			_ = conn.Close()
		}
	}()
	return "http://" + listener.Addr().String() + "/v1"
}

func TestAnLLMThatFallsSilentIsHungUpOn(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	c := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, chunks(spoken(solutionText)[:3]...))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}).config())
	c.maxSilence = 10 * time.Millisecond
	reply, err := makeRequest(t, c)
	if err != nil || reply.Whole || !strings.Contains(reply.IncompleteFault.Message, errSilent.Error()) {
		t.Fatalf("%v %+v", err, reply)
	}
	<-gone
}

// TestAnLLMThatGoesOnBehindItsReplyIsLeftAlone has a reply whose usage is told, and whose stream does not end.
func TestAnLLMThatGoesOnBehindItsReplyIsLeftAlone(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	c := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		said := spoken(solutionText)
		_, _ = io.WriteString(w, chunks(said[:len(said)-1]...)+chunks(delta("Is there anything else?")))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	}).config())
	reply, err := makeRequest(t, c)
	if err != nil || !reply.Whole || reply.Usage.CompletionTokens != 5 {
		t.Fatalf("%v %+v", err, reply)
	}
	<-left
}

// TestAnLLMThatNeverEndsIsLeftAlone has one that tells no usage and talks for as long as somebody listens.
func TestAnLLMThatNeverEndsIsLeftAlone(t *testing.T) {
	t.Parallel()
	more := chunks(delta(strings.Repeat("and so on ", 10_000)))
	c := newClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.WriteString(w, chunks(delta(solutionText)))
		for err == nil && r.Context().Err() == nil {
			_, err = io.WriteString(w, more)
		}
	}).config())
	if reply, err := makeRequest(t, c); err != nil || !reply.Whole {
		t.Fatalf("%v %+v", err, reply)
	}
}

func TestAReplyThatNeverBeginsIsTold(t *testing.T) {
	t.Parallel()
	reply, err := replying(t, streaming(chunks(spoken("I am afraid I cannot plan that.")...)))
	if err != nil || reply.IncompleteFault == nil || reply.IncompleteFault.Code != turn.CodeNotJSON ||
		!strings.Contains(reply.IncompleteFault.Message, `it begins with "I am afraid`) {
		t.Fatalf("%v %+v", err, reply.IncompleteFault)
	}
}
