package workflows_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"processidea/internal/longrun"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/model/loop"
)

// batchServer is the batch interface of an LLM server: what is in a batch is answered by the server itself, once
// somebody has looked at it.
type batchServer struct {
	mu       sync.Mutex
	files    map[string][]byte
	batches  map[string]map[string]any
	order    []string
	looks    map[string]int
	lost     map[string]bool // keys of batches whose maker was not told of them
	byServer http.Handler
}

func newBatchServer(h http.Handler) *batchServer {
	return &batchServer{files: map[string][]byte{}, batches: map[string]map[string]any{}, looks: map[string]int{},
		lost: map[string]bool{}, byServer: h}
}

// madeFor gives the batches of an LLM, as the lines of their files.
func (b *batchServer) madeFor(model string) (lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.order {
		if line := string(b.files[b.batches[id]["input_file_id"].(string)]); strings.Contains(line,
			`"model":"`+model+`"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

func (b *batchServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, method := strings.TrimPrefix(r.URL.Path, "/v1/"), r.Method
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case path == "files" && method == http.MethodPost:
		file, _, err := r.FormFile("file")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, _ := io.ReadAll(file)
		id := fmt.Sprint("file-", len(b.files))
		b.files[id] = data
		answerJSON(w, map[string]any{"id": id})
	case path == "batches" && method == http.MethodPost:
		var made map[string]any
		_ = json.NewDecoder(r.Body).Decode(&made)
		id := fmt.Sprint("batch-", len(b.batches))
		made["id"], made["created_at"] = id, time.Now().Unix()
		b.batches[id], b.order = made, append(b.order, id)
		key := made["metadata"].(map[string]any)["process_idea"].(string)
		if !b.lost[key] { // whoever makes a batch is lost before hearing of it
			b.lost[key] = true
			panic(http.ErrAbortHandler)
		}
		answerJSON(w, made)
	case path == "batches":
		list := []any{}
		for n := range b.order {
			list = append(list, b.batches[b.order[len(b.order)-1-n]])
		}
		answerJSON(w, map[string]any{"object": "list", "data": list})
	case strings.HasPrefix(path, "batches/"):
		id := strings.TrimPrefix(path, "batches/")
		b.looks[id]++
		v := map[string]any{"id": id, "status": "in_progress", "created_at": time.Now().Unix()}
		if b.looks[id] > 1 {
			v["status"], v["output_file_id"] = "completed", b.batches[id]["input_file_id"]
		}
		answerJSON(w, v)
	default:
		b.writeOutput(w, b.files[strings.TrimSuffix(strings.TrimPrefix(path, "files/"), "/content")])
	}
}

// writeOutput answers each line of a batch's input.
func (b *batchServer) writeOutput(w http.ResponseWriter, input []byte) {
	for lines := bufio.NewScanner(bytes.NewReader(input)); lines.Scan(); {
		var line struct {
			CustomID string          `json:"custom_id"`
			Body     json.RawMessage `json:"body"`
		}
		_ = json.Unmarshal(lines.Bytes(), &line)
		answer := httptest.NewRecorder()
		b.byServer.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/chat/completions",
			bytes.NewReader(line.Body)))
		answerJSON(w, map[string]any{"custom_id": line.CustomID,
			"response": map[string]any{"status_code": answer.Code, "body": json.RawMessage(answer.Body.Bytes())}})
	}
}

func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// With config.llm.batch each Request is a batch, and one only, although nobody hears of it the first time: in one piece
// and in parts.
func TestARequestIsAskedAsABatch(t *testing.T) {
	t.Parallel()
	const paidAlready = `{"when": "\"paid\":", "solution": {"calls": []}}`
	for name, split := range longrun.SampleRows(t, 2, map[string]struct {
		config string
		least  int
	}{"in one piece": {`"batch": 9`, 1}, "in parts": {`"batch": 1`, 2}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			till := newTill(t)
			s := newScenario(t, manyInstances(till, 2, 2,
				`{`+split.config+
					`, "llm": {"batch": true}, "prices": {"*": {"input": 1000, "output": 1000, "batch": 0.5}}}`),
				paidAlready, payAll, payAll, payAll, payAll)
			r := s.end(s.start())
			if r.Status != loop.StatusCompleted || r.Calls.Done != 2 {
				t.Fatalf("%s %+v", r.Status, r.Calls)
			}
			made := llm.batches.madeFor(s.id)
			if len(made) != r.RequestCount || len(made) < split.least ||
				strings.Contains(strings.Join(made, ""), `"stream"`) {
				t.Errorf("%d batches for %d Requests: %s", len(made), r.RequestCount, made)
			}
			u := r.Usage
			if want := (int64(u.PromptTokens+u.CompletionTokens) * 1_000_000) / 2; u.PromptTokens == 0 ||
				int64(u.Cost) != want {
				t.Errorf("%+v: want a cost of %d", u, want)
			}
			if meta := jsonval.AsObject(s.sealedLast()["meta"]); name == "in one piece" &&
				!strings.Contains(asJSON(meta["llm"]), s.id) {
				t.Errorf("the Idea says that %s answered", asJSON(meta["llm"]))
			}
		})
	}
}

// A batch that brings nothing pauses the process with the reason; resumed, it sends another one.
func TestABatchThatHasFailedPausesTheProcess(t *testing.T) {
	t.Parallel()
	till := newTill(t)
	s := newScenario(t, manyInstances(till, 1, 1, `{"llm": {"batch": true}}`),
		`{"status": 400, "raw": "it is too long"}`, payAll, nothingMore)
	run := s.start()
	eventually(t, "it is paused", func() bool { return s.processStatus().Status == loop.StatusPaused })
	if why := asJSON(s.processStatus()); !strings.Contains(why, "it is too long") {
		t.Errorf("it says %s", why)
	}
	s.signal(s.id, approval.SteerResume, map[string]any{"by": "ann"})
	if r := s.end(run); r.Status != loop.StatusCompleted || r.Calls.Done != 1 {
		t.Errorf("%s %+v", r.Status, r.Calls)
	}
}
