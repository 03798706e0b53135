package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"processidea/model/turn"
)

// batches is a server with OpenAI's interface of files and batches. An answer is what its output holds for a key.
type batches struct {
	mu     sync.Mutex
	status string // of each batch
	output func(key string) string
	// lose has the answer to the first request that makes a batch get lost.
	lose    bool
	input   map[string]any // the line of the last file
	made    []map[string]any
	uploads int
}

const completionBody = `{"id": "c1", "object": "chat.completion", "model": "served-model", "choices": [{"index": 0, "finish_reason": "stop",
	"message": {"role": "assistant", "content": %s}}], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}`

// answeredLine is a line of a batch's output.
func answeredLine(key, content string) string {
	text, _ := json.Marshal(content)
	body := strings.ReplaceAll(fmt.Sprintf(completionBody, text), "\n\t", " ")
	return fmt.Sprintf(`{"id": "r1", "custom_id": %q, "response": {"status_code": 200, "body": %s}, "error": null}`+
		"\n", key, body)
}

func (b *batches) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	write := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch path := strings.TrimPrefix(r.URL.Path, "/v1"); {
	case path == "/files" && r.Method == http.MethodPost:
		file, _, err := r.FormFile("file")
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_ = json.NewDecoder(file).Decode(&b.input)
		b.uploads++
		write(map[string]any{"id": "file-in", "object": "file"})
	case path == "/batches" && r.Method == http.MethodPost:
		var made map[string]any
		_ = json.NewDecoder(r.Body).Decode(&made)
		made["id"], made["created_at"] = fmt.Sprint("batch-", len(b.made)+1), time.Now().Unix()
		b.made = append(b.made, made)
		if b.lose {
			b.lose = false
			panic(http.ErrAbortHandler)
		}
		write(made)
	case path == "/batches":
		var list []any
		for n := range b.made {
			list = append(list, b.made[len(b.made)-1-n])
		}
		write(map[string]any{"object": "list", "data": list, "has_more": false})
	case strings.HasPrefix(path, "/batches/"):
		write(map[string]any{"id": strings.TrimPrefix(path, "/batches/"), "status": b.status,
			"created_at": time.Now().Unix(), "output_file_id": "file-out",
			"errors": map[string]any{"data": []any{map[string]any{"message": "no such model"}}}})
	case path == "/files/file-out/content":
		_, _ = io.WriteString(w, b.output("the-key"))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func TestARequestIsSentAsABatchOnceAndReadAsIfItCameNow(t *testing.T) {
	t.Parallel()
	b := &batches{status: "in_progress", lose: true, output: func(key string) string {
		return answeredLine("somebody-else", "{}") + "no JSON\n" + answeredLine(key, solutionText) +
			answeredLine(key, `{"calls": [], "output": null}`)
	}}
	c := newClient(t, serve(t, b.ServeHTTP).config())
	if _, err := c.SendBatch(t.Context(), question(t), "the-key"); !refused(t, err).IsRetryable {
		t.Fatalf("an answer that was lost: %v", err)
	}
	c.circuitBreaker.recordAnswer("any", http.StatusOK) // as if the pause were over
	id, err := c.SendBatch(t.Context(), question(t), "the-key")
	if err != nil || id != "batch-1" || len(b.made) != 1 || b.uploads != 1 {
		t.Fatalf("%q %v: %d batches, %d files", id, err, len(b.made), b.uploads)
	}
	body, _ := b.input["body"].(map[string]any)
	if b.input["custom_id"] != "the-key" || b.input["url"] != "/v1/chat/completions" || body["model"] != "any" ||
		body["messages"] == nil || body["response_format"] == nil ||
		body["stream"] != nil || body["stream_options"] != nil {
		t.Errorf("it sent %v", b.input)
	}
	if made := b.made[0]; made["completion_window"] != "24h" || made["input_file_id"] != "file-in" ||
		made["endpoint"] != "/v1/chat/completions" {
		t.Errorf("it made %v", made)
	}
	if _, err := c.ReadBatch(t.Context(), id, "the-key"); !refused(t, err).IsRetryable ||
		refused(t, err).RetryAfter != minBatchPollInterval {
		t.Errorf("while it is at work: %+v", err)
	}
	b.status = "completed"
	completion, err := c.ReadBatch(t.Context(), id, "the-key")
	if err != nil {
		t.Fatal(err)
	}
	r, got := question(t), []string(nil)
	r.BatchCompletion, r.OnCall = completion, func(_ int, raw json.RawMessage) { got = append(got, string(raw)) }
	reply, err := c.Stream(t.Context(), r)
	if err != nil || reply.IncompleteFault != nil || len(got) != 1 || !strings.Contains(got[0], "shout") {
		t.Fatalf("%v %+v %q", err, reply, got)
	}
	if reply.ServedModel != "served-model" || reply.Usage.PromptTokens != 100 || reply.Usage.CompletionTokens != 20 ||
		reply.ServerHost == "" {
		t.Errorf("%+v", reply)
	}
}

// What a batch has answered is the same however often it is read: nothing in it is waited for.
func TestAnEmptyAnswerOfABatchIsNotReadAgain(t *testing.T) {
	t.Parallel()
	c, err := New(Config{BaseURL: "http://127.0.0.1:1/v1", APIKey: "k", Model: "any"})
	if err != nil {
		t.Fatal(err)
	}
	for words, completion := range map[string]string{
		"with reasoning only": `{"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": null, "reasoning_content": "Hm."}}]}`,
		"upstream is gone": `{"choices": [{"index": 0, "error": {"code": 502, "message": "upstream is gone"}, "finish_reason": "error",
			"message": {"role": "assistant", "content": ""}}]}`,
	} {
		r := question(t)
		r.BatchCompletion = []byte(completion)
		_, err := c.Stream(t.Context(), r)
		if e := refused(t, err); e.IsRetryable || !strings.Contains(e.Message, words) {
			t.Errorf("%+v", e)
		}
	}
}

func TestABatchWithoutAnAnswerSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ status, output, says string }{
		"it has failed":             {"failed", "", "the batch b has failed: no such model"},
		"it has expired":            {"expired", "", "the batch b is expired, and has no answer"},
		"it was cancelled":          {"cancelled", "", "the batch b is cancelled, and has no answer"},
		"it holds another's answer": {"completed", answeredLine("another", "{}"), "has no answer"},
		"the Request was refused": {"completed",
			`{"custom_id": "the-key", "response": {"status_code": 400, "body": {"error": {"message": "too long"}}}}`,
			"the LLM's server answered 400: too long"},
		"the Request has expired": {"expired",
			`{"custom_id": "the-key", "response": null, "error": {"code": "batch_expired", "message": "not in time"}}`,
			"batch_expired: not in time"},
		"it is empty": {"completed", `{"custom_id": "the-key"}`, "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &batches{status: c.status, output: func(string) string { return c.output }}
			_, err := newClient(t, serve(t, b.ServeHTTP).config()).ReadBatch(t.Context(), "b", "the-key")
			var e *Error
			if !errors.As(err, &e) || e.IsRetryable || e.Code != turn.CodeLLMError ||
				!strings.Contains(e.Message, c.says) {
				t.Errorf("%+v", err)
			}
		})
	}
	_, err := newClient(t, serve(t,
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }).config()).SendBatch(
		t.Context(), question(t), "k")
	if e := refused(t, err); e.IsRetryable {
		t.Errorf("a server without batches is asked again: %+v", e)
	}
}

// A page, as of a proxy that wants a login, is no word of the server about the batch: it is asked again.
func TestAPageInPlaceOfABatchIsWaitedOut(t *testing.T) {
	t.Parallel()
	page := refusing(http.StatusOK, "<!DOCTYPE html>\n<p>Log in</p>\n")
	asked := newClient(t, serve(t, page).config())
	_, sent := asked.SendBatch(t.Context(), question(t), "the-key")
	_, read := newClient(t, serve(t, page).config()).ReadBatch(t.Context(), "b", "the-key")
	b := &batches{status: "completed",
		output: func(string) string { return "<!DOCTYPE html> <p>Log in</p>\n</html>\n" }}
	_, inFile := newClient(t, serve(t, b.ServeHTTP).config()).ReadBatch(t.Context(), "b", "the-key")
	for name, err := range map[string]error{"sent": sent, "looked at": read, "its file": inFile} {
		if e := refused(t, err); !e.IsRetryable || e.IsBatchPending || e.Code != turn.CodeLLMUnreachable ||
			!strings.Contains(e.Message, "a text came in place of a reply: <!DOCTYPE html> <p>Log in</p>") {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestABatchIsLookedAtLessOftenAsItGrowsOld(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]time.Duration{0: 2 * time.Second, time.Minute: 7500 * time.Millisecond,
		24 * time.Hour: 10 * time.Minute} {
		if got := batchPollInterval(age); got != want {
			t.Errorf("after %s: %s, want %s", age, got, want)
		}
	}
}
