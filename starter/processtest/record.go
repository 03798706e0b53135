package processtest

import (
	"errors"
	"slices"
	"strings"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/prompt"
	"processidea/tools/runner"
)

// Request is one request to the LLM.
type Request struct {
	ProcessID string // its id; a delegate's begins with the id of the process that runs it
	Number    int    // of the process's Requests, from 1; a repeated Request has the same number
	Messages  []prompt.Message
}

// Text is all that the LLM read.
func (r Request) Text() string {
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, m.Content)
	}
	return strings.Join(texts, "\n")
}

func (p *Process) recordRequest(processID string, number int, messages []prompt.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recordedRequests = append(p.recordedRequests, Request{processID, number, slices.Clone(messages)})
}

// RecordedRequests returns the requests to the LLM so far, by the process and its delegates.
func (p *Process) RecordedRequests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.recordedRequests)
}

// CallAttempt is one attempt of a Call that a Go function ran: a Tool of yours, a built-in one, or a fake.
type CallAttempt struct {
	Tool        string
	ProcessID   string
	Instance    string // empty for the only instance without a name
	CallID      string // such as 1.2@①
	Params      map[string]any
	ScopeValues map[string]any // what the Tool's _scopes let through; nil without _scopes
	Attempt     int            // from 1
	Result      any
	Err         error
}

func (p *Process) recordCallAttempt(in runner.Input, result any, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.callAttempts = append(p.callAttempts, CallAttempt{in.ToolName, in.ProcessID, in.InstanceToken, in.CallID,
		in.Params,
		in.ScopeValues, in.Attempt,
		result, err})
}

// CallAttempts lists the attempts of a Tool so far, in the order in which they ended. Attempts by HTTP and MCP are not
// recorded: fake their Tools.
func (p *Process) CallAttempts(tool string) []CallAttempt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.callAttempts), func(c CallAttempt) bool { return c.Tool != tool })
}

// State waits until the process ends or rests otherwise (ResultAtRest), and returns the State of an instance; "" is the
// instance without a name. Numbers are json.Number.
func (p *Process) State(instance string) any {
	p.t.Helper()
	r := p.ResultAtRest()
	i, ok := r.Instances[instance]
	if !ok {
		p.t.Fatalf("processtest: process %s has no instance %q; it is %s: %s", p.ID(), instance, r.Status,
			resultErrorText(r))
	}
	return i.State
}

// CheckState reports a test error if the State of an instance is not this JSON; the test goes on.
func (p *Process) CheckState(instance, want string) {
	p.t.Helper()
	p.checkJSON("the State of instance "+instanceLabel(instance), p.State(instance), want, p.ResultAtRest())
}

// CheckOutput reports a test error if the final output is not this JSON; the test goes on.
func (p *Process) CheckOutput(want string) {
	p.t.Helper()
	r := p.Result()
	p.checkJSON("the output", r.Output, want, r)
}

func (p *Process) checkJSON(subject string, got any, want string, r loop.ProcessResult) {
	p.t.Helper()
	expected, err := jsonval.Decode([]byte(want))
	if err != nil {
		p.t.Fatalf("processtest: what is wanted is no JSON: %v\n%s", errors.Unwrap(err), want)
	}
	if g, w := JSON(got), JSON(expected); g != w {
		p.t.Errorf("processtest: %s is\n\t%s\nnot\n\t%s\nThe process is %s: %s", subject, g, w, r.Status,
			resultErrorText(r))
	}
}

func instanceLabel(instance string) string {
	if instance == "" {
		return "without a name"
	}
	return instance
}

// JSON encodes a value with sorted keys: equal values give the same text.
func JSON(v any) string { return jsonval.EncodeToString(jsonval.ToJSONValue(v)) }
