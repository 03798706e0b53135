package loop

import (
	"fmt"
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// This file holds what a process of more instances than one Request may cover decides: it is split into parts, which are
// processes themselves, and gathers what they come to.

// partsAtOnce is how many parts are at work at a time at most: their LLM is asked for all of them, and the more there are, the
// fewer of their instances' reports one workflow task takes. Those that only wait for people do not count.
const partsAtOnce = 3

// Parts is a process that is split, at work. It is plain data, so that it travels as it is.
type Parts struct {
	Size    int             `json:"size"` // instances of one part at most
	List    []Part          `json:"list"`
	Started time.Time       `json:"started"`
	Limits  ideafile.Limits `json:"limits"`
	Paused  *diag.Fault     `json:"paused,omitempty"`
	// Own is what the process itself asked, beside its parts.
	Own PartReport `json:"extra"`
	// BadOutputsInRow counts the Requests for the output in a row that came to nothing.
	BadOutputsInRow int `json:"asks,omitempty"`
}

// Part is some of the instances, and what their process last told.
type Part struct {
	Number  int        `json:"number"` // from 1
	Tokens  []string   `json:"tokens"`
	Started bool       `json:"started,omitempty"`
	Report  PartReport `json:"report,omitzero"`
}

// PartReport is what a part tells the process that it is a part of.
type PartReport struct {
	Number int           `json:"number"`
	Sequence    int           `json:"seq"` // counts the part's reports
	Status ProcessStatus `json:"status"`
	// AwaitsOnlyPeople says that people are waited for, and nobody else.
	AwaitsOnlyPeople    bool            `json:"waits,omitempty"`
	Requests int             `json:"requests"`
	Turns    int             `json:"turns"`
	Ideas    int             `json:"ideas"`
	Calls    turn.CallCounts `json:"calls"`
	Usage    turn.Usage      `json:"usage"`
	Error    *diag.Fault     `json:"error,omitempty"`
	Output   any             `json:"output,omitempty"`
	// Instances tells where each stands, once it is not at work any more.
	Instances map[string]ideafile.InstanceStatus `json:"instances,omitempty"`
	Pending   []turn.PendingApproval             `json:"pending,omitempty"`
	// Digest is that of the part's latest Idea.
	Digest   string               `json:"digest,omitempty"`
	Refusals []turn.RefusedSignal `json:"refusals,omitempty"`
}

// Finished says whether the part has ended.
func (r PartReport) Finished() bool {
	return r.Status == StatusCompleted || r.Status == StatusFailed || r.Status == StatusCancelled
}

// Told is what a part has told the whole of.
type ReportFilter struct {
	rest  string // of its last report, all but the Calls
	ended int    // Calls
}

// News says whether a report of a part of so many instances tells something that the whole should know now, and takes it
// as told then. Calls that have ended, and nothing else, are told of a tenth at a time: each report is a task for both.
func (t *ReportFilter) ShouldSend(r PartReport, instances int) bool {
	ended := r.Calls.Total()
	r.Calls = turn.CallCounts{}
	rest := string(jsonval.Encode(jsonval.Normal(r)))
	if rest == t.rest && ended < t.ended+max(1, instances/10, t.ended/10) {
		return false
	}
	t.rest, t.ended = rest, ended
	return true
}

// Split parts a process; nil where it has no more instances than one Request may cover.
func Split(i *ideafile.Idea, now time.Time) *Parts {
	tokens := i.Tokens()
	if len(tokens) <= i.Config.BatchSize {
		return nil
	}
	p := &Parts{Size: i.Config.BatchSize, Started: now, Limits: i.Config.Limits}
	p.AddInstances(tokens)
	return p
}

// AddInstances makes parts of more instances.
func (p *Parts) AddInstances(tokens []string) {
	for len(tokens) > 0 {
		n := min(p.Size, len(tokens))
		p.List = append(p.List, Part{Number: len(p.List) + 1, Tokens: tokens[:n:n]})
		tokens = tokens[n:]
	}
}

// PartOf gives the number of the part that an instance belongs to; 0 where there is none.
func (p *Parts) PartOf(token string) int {
	for _, part := range p.List {
		if slices.Contains(part.Tokens, token) {
			return part.Number
		}
	}
	return 0
}

// ApplyReport takes a part's report, unless a later one came before it.
func (p *Parts) ApplyReport(r PartReport) {
	if r.Number >= 1 && r.Number <= len(p.List) && r.Sequence >= p.List[r.Number-1].Report.Sequence {
		p.List[r.Number-1].Report = r
	}
}

// StartNext gives the part to start now; nil where there is none. It counts as started from then on. One begins at a time, as
// the instances of one that has told of itself have all started: where Calls are quick it is nearly done by then, and where
// they are slow the next one does not wait for them.
func (p *Parts) StartNext() *Part {
	working := 0
	for _, part := range p.List {
		switch {
		case !part.Started || part.Report.Finished():
		case part.Report.Sequence == 0:
			return nil
		case !part.Report.AwaitsOnlyPeople:
			working++
		}
	}
	if working >= partsAtOnce || p.Paused != nil {
		return nil
	}
	for i := range p.List {
		if part := &p.List[i]; !part.Started {
			part.Started = true
			return part
		}
	}
	return nil
}

// RunningParts gives the numbers of the parts that have started and not ended.
func (p *Parts) RunningParts() (numbers []int) {
	for _, part := range p.List {
		if part.Started && !part.Report.Finished() {
			numbers = append(numbers, part.Number)
		}
	}
	return numbers
}

// Finished says whether every part has ended.
func (p *Parts) Finished() bool {
	for _, part := range p.List {
		if !part.Report.Finished() {
			return false
		}
	}
	return true
}

// ReachedLimit says which limit all parts together have reached, and until when the process may run.
func (p *Parts) ReachedLimit(now time.Time) (reached *diag.Fault, until time.Time) {
	r := p.Result("", "")
	tokens, ended := r.Usage.PromptTokens+r.Usage.CompletionTokens, r.Calls.Total()
	l := p.Limits
	if l.Duration > 0 {
		until = p.Started.Add(l.Duration)
	}
	switch {
	case l.Requests > 0 && r.Requests >= l.Requests:
		reached = diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit is %d", r.Requests, l.Requests)
	case l.Tokens > 0 && tokens >= l.Tokens:
		reached = diag.Faultf(turn.CodeLimitReached, "%d tokens were used; the limit is %d", tokens, l.Tokens)
	case l.Calls > 0 && ended >= l.Calls:
		reached = diag.Faultf(turn.CodeLimitReached, "%d Calls were made; the limit is %d", ended, l.Calls)
	case !until.IsZero() && !now.Before(until):
		reached = diag.Faultf(turn.CodeLimitReached, "the process has run for %s, the limit", l.Duration)
	}
	return reached, until
}

// Result is the process as it stands, without States.
func (p *Parts) Result(process string, status ProcessStatus) Result {
	r := Result{Process: process, Status: status, Instances: map[string]InstanceResult{}, Error: p.Paused, Output: p.Own.Output}
	add := func(part PartReport) {
		r.Requests += part.Requests
		r.Ideas += part.Ideas
		r.Calls.Add(part.Calls)
		r.Usage.Add(part.Usage)
	}
	add(p.Own)
	for _, part := range p.List {
		add(part.Report)
		for _, token := range part.Tokens {
			s, ok := part.Report.Instances[token]
			if !ok {
				s = ideafile.InstanceWorking
			}
			r.Instances[token] = InstanceResult{Status: s}
		}
	}
	if f := p.failure(); f != nil && status == StatusFailed {
		r.Error = f
	}
	return r
}

// FinalStatus is the status with which the process ends once every part has.
func (p *Parts) FinalStatus() ProcessStatus {
	if p.failure() != nil {
		return StatusFailed
	}
	return StatusCompleted
}

func (p *Parts) failure() *diag.Fault {
	failed, first := 0, (*diag.Fault)(nil)
	for _, part := range p.List {
		if s := part.Report.Status; s != StatusFailed && s != StatusCancelled {
			continue
		}
		if failed++; first == nil {
			why := part.Report.Error
			if why == nil {
				why = diag.Faultf(turn.CodeWorkerLost, "it was ended")
			}
			first = diag.Faultf(why.Code, "part %d: %s", part.Number, why.Message)
		}
	}
	if failed > 1 {
		first.Message += fmt.Sprintf("; %d of %d parts failed", failed, len(p.List))
	}
	return first
}

// NextTurn counts the Requests that were answered, for the one that asks for the output.
func (p *Parts) NextTurn() int {
	turns := 0
	for _, part := range p.List {
		turns = max(turns, part.Report.Turns)
	}
	return turns + p.Own.Turns + 1
}

// OutputsAsInstances gives the parts' outputs in the form of instances, for the Request that makes one of them.
func (p *Parts) OutputsAsInstances() []turn.InstanceInput {
	var list []turn.InstanceInput
	for _, part := range p.List {
		list = append(list, turn.InstanceInput{Token: fmt.Sprintf("part %d", part.Number), State: map[string]any{"output": part.Report.Output}})
	}
	return list
}

// IdeaSource is the Idea of one part: the shared Messages, and those of its instances. The limits are the whole process's.
func (part Part) IdeaSource(whole map[string]any) map[string]any {
	mine := map[string]bool{"": true}
	for _, token := range part.Tokens {
		mine[token] = true
	}
	out := jsonval.WithoutKey(whole, "context")
	var context []any
	list, _ := whole["context"].([]any)
	for _, raw := range list {
		m, _ := raw.(map[string]any)
		if token, _ := m["_instance"].(string); mine[token] {
			context = append(context, raw)
		}
	}
	out["context"] = context
	if config, ok := out["config"].(map[string]any); ok {
		out["config"] = jsonval.WithoutKey(config, "limits")
	}
	return out
}

// FilterContext picks the messages that the part sees.
func (part Part) FilterContext(context []any) []any {
	var list []any
	for _, raw := range context {
		m, _ := raw.(map[string]any)
		if token, _ := m["_instance"].(string); token == "" || slices.Contains(part.Tokens, token) {
			list = append(list, raw)
		}
	}
	return list
}

// ApplyOutputReply takes what became of the Request for the output over the parts' outputs. The third bad one in a row pauses the
// process.
func (p *Parts) ApplyOutputReply(i *ideafile.Idea, r turn.Reply) {
	p.Own.Requests++
	p.Own.Turns += max(1, r.Attempts)
	p.Own.Usage.Add(r.Usage)
	f := r.Fault
	if r.Complete {
		out := i.Output.WithoutNulls(r.Output)
		if f = r.OutputFault; f == nil && out != nil {
			p.Own.Output, p.BadOutputsInRow = out, 0
			return
		}
		if f == nil {
			f = diag.Faultf(ideafile.CodeBadOutput, "there is no output; the output form wants one")
		}
	}
	if p.BadOutputsInRow++; r.NotRetryable || p.BadOutputsInRow >= maxBadInRow {
		p.Paused, p.BadOutputsInRow = diag.Faultf(turn.CodeBadOutputs, "the output over all parts: %s", f.Message), 0
	}
}
