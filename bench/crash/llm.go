package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"processidea/internal/rehearsal"
	"processidea/model/jsonval"
)

// llm answers every process from its example's replies, as its prompt requires. After a Request that was cut off, it
// repeats its reply: an LLM that reads that part of its Plan was lost plans the same again, and closed paths stay
// closed.
type llm struct {
	mu                 sync.Mutex
	repliesByCase      map[string][]rehearsal.Reply // by case
	lastReplyByProcess map[string]rehearsal.Reply   // by process
}

func newLLM() *llm {
	return &llm{repliesByCase: map[string][]rehearsal.Reply{}, lastReplyByProcess: map[string]rehearsal.Reply{}}
}

// caseMarker finds the process and its case in a prompt.
var caseMarker = regexp.MustCompile(`\(process ([^ ]+) of ([^)]+)\)`)

func (l *llm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	prompt := promptIn(body)
	rehearsal.NewHandler([]rehearsal.Reply{l.chooseReply(prompt)}).ServeHTTP(w, r)
}

func promptIn(body []byte) string {
	var in struct {
		Messages []struct{ Content string }
	}
	_ = json.Unmarshal(body, &in)
	var all []string
	for _, m := range in.Messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, "\n")
}

func (l *llm) chooseReply(prompt string) rehearsal.Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := caseMarker.FindStringSubmatch(prompt)
	if m == nil {
		return rehearsal.Reply{Status: http.StatusBadRequest, Content: "nobody's prompt"}
	}
	process := m[1]
	last, hasReplied := l.lastReplyByProcess[process]
	if wanted := wantedResultPattern.FindStringSubmatch(prompt); wanted != nil {
		return l.latentReply(m[2], wanted[1])
	}
	if hasReplied && strings.Contains(prompt, "was cut off") {
		last.When = ""
		return last
	}
	l.lastReplyByProcess[process] = l.nextReply(m[2], prompt, last)
	return l.lastReplyByProcess[process]
}

// nextReply returns a case's reply to a prompt. If the last reply wired the output and the LLM is asked again, the
// wiring was not accepted, and the reply is only the output.
func (l *llm) nextReply(name, prompt string, last rehearsal.Reply) rehearsal.Reply {
	if output := solutionOf(last)["output"]; output != nil && len(callsOf(last)) > 0 && isPlanned(prompt, last) {
		last.Content = jsonval.EncodeToString(jsonval.Object{"calls": []any{}, "output": output})
		return last
	}
	for _, r := range l.repliesByCase[name] {
		if strings.Contains(prompt, r.When) {
			r.When = ""
			return r
		}
	}
	return rehearsal.Reply{Status: http.StatusBadRequest, Content: "no reply fits"}
}

// isPlanned reports whether a prompt holds all Calls of a reply.
func isPlanned(prompt string, r rehearsal.Reply) bool {
	for _, c := range callsOf(r) {
		if !strings.Contains(prompt, jsonval.EncodeToString(c)) {
			return false
		}
	}
	return true
}

func solutionOf(r rehearsal.Reply) jsonval.Object {
	v, err := jsonval.DecodeObject([]byte(r.Content))
	if err != nil {
		return nil
	}
	return v
}

func callsOf(r rehearsal.Reply) []any {
	calls, _ := solutionOf(r)["calls"].([]any)
	return calls
}

// wantedResultPattern matches the latent Call whose result a prompt asks for.
var wantedResultPattern = regexp.MustCompile(`## Results wanted\n[^\n]*\n- ([^ ]+) `)

// latentReply returns the reply with a latent Call's result, with the Call's id from the prompt.
func (l *llm) latentReply(name, id string) rehearsal.Reply {
	for _, r := range l.repliesByCase[name] {
		calls := callsOf(r)
		if len(calls) == 0 {
			continue
		}
		call, _ := calls[0].(jsonval.Object)
		if _, answersCall := call["_call"]; answersCall {
			call["_call"] = id
			r.When, r.Content = "", jsonval.EncodeToString(jsonval.Object{"calls": calls, "output": nil})
			return r
		}
	}
	return rehearsal.Reply{Status: http.StatusBadRequest, Content: "no result fits"}
}
