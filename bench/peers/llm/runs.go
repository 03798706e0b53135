package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"processidea/bench/internal/script"
)

// runServer holds the scripts of all runs so far, by path.
type runServer struct {
	pace string

	mu          sync.Mutex
	scriptByRun map[string]*script.ScriptedLLM
}

func newRunServer(sendsAtOnce bool) http.Handler {
	r := &runServer{pace: script.RealTimePace, scriptByRun: map[string]*script.ScriptedLLM{}}
	if sendsAtOnce {
		r.pace = ""
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{work}/{size}/{run}/v1/chat/completions", r.serveReply)
	mux.HandleFunc("GET /{work}/{size}/{run}/gaps", r.serveGaps)
	return mux
}

// replyLines returns the replies of a work of this size. Each instance of a batch asks once.
func (r *runServer) replyLines(work string, size int) ([]string, error) {
	switch work {
	case "diamond":
		return script.DiamondReplyLines(false, r.pace), nil
	case "diamond-one-call":
		return script.DiamondStepReplyLines(r.pace), nil
	case "chain":
		return script.ChainReplyLines("grow", size), nil
	case "fanout":
		return script.FanoutReplyLines("instant", size), nil
	case "batch":
		return script.OneCallPerReplyLines("instant", size, r.pace), nil
	}
	return nil, fmt.Errorf("there is no work %q", work)
}

// scriptFor returns the script of a run, and makes it for a new run.
func (r *runServer) scriptFor(req *http.Request) (*script.ScriptedLLM, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	work, size, run := req.PathValue("work"), req.PathValue("size"), req.PathValue("run")
	key := work + "/" + size + "/" + run
	if s := r.scriptByRun[key]; s != nil {
		return s, nil
	}
	n, err := strconv.Atoi(size)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%q is no size", size)
	}
	lines, err := r.replyLines(work, n)
	if err != nil {
		return nil, err
	}
	s, err := script.New(lines)
	if err == nil {
		r.scriptByRun[key] = s
	}
	return s, err
}

func (r *runServer) serveReply(w http.ResponseWriter, req *http.Request) {
	s, err := r.scriptFor(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	req.URL.Path = "/v1/chat/completions"
	s.ServeHTTP(w, req)
}

// serveGaps answers with the gaps of a run and the number of its Requests.
func (r *runServer) serveGaps(w http.ResponseWriter, req *http.Request) {
	s, err := r.scriptFor(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	output := struct {
		Requests int       `json:"requests"`
		Gaps     []float64 `json:"gaps"`
	}{Requests: len(s.Requests()), Gaps: []float64{}}
	for _, gap := range s.RequestGaps() {
		output.Gaps = append(output.Gaps, float64(gap.Microseconds())/1000)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(output)
}
