package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// maxWorkingParts bounds the parts that work at a time: they share the LLM, and the more there are, the fewer reports one
// workflow task takes. Parts that only wait for people do not count.
const maxWorkingParts = 3

// Parts is a process with more instances than one Request may cover, split into parts that are processes themselves. It is plain
// data, which a workflow carries over as it is.
type Parts struct {
	Size    int             `json:"size"` // instances of one part at most
	List    []Part          `json:"list"`
	Started time.Time       `json:"started"`
	Limits  ideafile.Limits `json:"limits"`
	Paused  *diag.Fault     `json:"paused,omitempty"`
	// Own counts what the process itself did beside its parts, and holds its output.
	Own PartReport `json:"extra"`
	// BadOutputsInRow counts the Requests for the output that brought none.
	BadOutputsInRow int `json:"asks,omitempty"`
}

// Part is some of the instances, and the last report of their process.
type Part struct {
	Number  int        `json:"number"` // from 1
	Tokens  []string   `json:"tokens"`
	Started bool       `json:"started,omitempty"`
	Report  PartReport `json:"report,omitzero"`
}

// PartReport is what a part reports to the process that it is part of.
type PartReport struct {
	Number   int           `json:"number"`
	Sequence int           `json:"seq"` // counts the part's reports
	Status   ProcessStatus `json:"status"`
	// AwaitsOnlyPeople: see Loop.AwaitsOnlyPeople.
	AwaitsOnlyPeople bool            `json:"waits,omitempty"`
	Requests         int             `json:"requests"`
	Turns            int             `json:"turns"`
	Ideas            int             `json:"ideas"`
	Calls            turn.CallCounts `json:"calls"`
	Usage            turn.Usage      `json:"usage"`
	Error            *diag.Fault     `json:"error,omitempty"`
	Output           any             `json:"output,omitempty"`
	// Instances holds the status of those that are no longer working.
	Instances map[string]ideafile.InstanceStatus `json:"instances,omitempty"`
	Pending   []turn.PendingApproval             `json:"pending,omitempty"`
	// Digest is that of the part's latest Idea.
	Digest   string               `json:"digest,omitempty"`
	Refusals []turn.RefusedSignal `json:"refusals,omitempty"`
}

// Finished reports whether the part has ended.
func (r PartReport) Finished() bool {
	return r.Status == StatusCompleted || r.Status == StatusFailed || r.Status == StatusCancelled
}

// ReportFilter keeps a part from reporting what its parent need not know now.
type ReportFilter struct {
	lastReport string // the last report that was sent, without its count of Calls
	lastEnded  int    // ended Calls, in that report
}

// ShouldSend reports whether a report brings something new, and takes it as sent then. Where only the count of ended Calls has
// changed, it waits for a tenth of them: each report costs both workflows a task.
func (t *ReportFilter) ShouldSend(r PartReport, instances int) bool {
	ended := r.Calls.Total()
	r.Calls = turn.CallCounts{}
	rest := string(jsonval.Encode(jsonval.Normal(r)))
	if rest == t.lastReport && ended < t.lastEnded+max(1, instances/10, t.lastEnded/10) {
		return false
	}
	t.lastReport, t.lastEnded = rest, ended
	return true
}

// Split splits a process into parts; nil where one Request can cover all its instances.
func Split(i *ideafile.Idea, now time.Time) *Parts {
	tokens := i.InstanceTokens()
	if len(tokens) <= i.Config.BatchSize {
		return nil
	}
	p := &Parts{Size: i.Config.BatchSize, Started: now, Limits: i.Config.Limits}
	p.AddInstances(tokens)
	return p
}

// AddInstances adds parts for more instances.
func (p *Parts) AddInstances(tokens []string) {
	for len(tokens) > 0 {
		n := min(p.Size, len(tokens))
		p.List = append(p.List, Part{Number: len(p.List) + 1, Tokens: tokens[:n:n]})
		tokens = tokens[n:]
	}
}

// PartOf returns the number of the part that an instance belongs to; 0 if none.
func (p *Parts) PartOf(token string) int {
	for _, part := range p.List {
		if slices.Contains(part.Tokens, token) {
			return part.Number
		}
	}
	return 0
}

// ApplyReport applies a part's report, unless a later one came before it.
func (p *Parts) ApplyReport(r PartReport) {
	if r.Number >= 1 && r.Number <= len(p.List) && r.Sequence >= p.List[r.Number-1].Report.Sequence {
		p.List[r.Number-1].Report = r
	}
}

// StartNext returns the part to start now, nil if none, and counts it as started. The next part starts once the last one has
// reported, which it does when all its instances have started: quick Calls are nearly done by then, and slow ones hold up nobody.
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
	if working >= maxWorkingParts || p.Paused != nil {
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

// RunningParts lists the numbers of the parts that have started and not ended.
func (p *Parts) RunningParts() (numbers []int) {
	for _, part := range p.List {
		if part.Started && !part.Report.Finished() {
			numbers = append(numbers, part.Number)
		}
	}
	return numbers
}

// Finished reports whether every part has ended.
func (p *Parts) Finished() bool {
	for _, part := range p.List {
		if !part.Report.Finished() {
			return false
		}
	}
	return true
}

// ReachedLimit returns the limit that all parts together have reached, and until when the process may run; a zero until means
// that its time is not limited.
func (p *Parts) ReachedLimit(now time.Time) (reached *diag.Fault, until time.Time) {
	r := p.Result("", "")
	limits := p.Limits
	if limits.Duration > 0 {
		until = p.Started.Add(limits.Duration)
	}
	reached = reachedUsageLimit(limits, r.Usage, r.Calls)
	switch {
	case limits.Requests > 0 && r.Requests >= limits.Requests:
		reached = diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit is %d", r.Requests, limits.Requests)
	case reached != nil:
	case !until.IsZero() && !now.Before(until):
		reached = diag.Faultf(turn.CodeLimitReached, "the process has run for %s, the limit", limits.Duration)
	}
	return reached, until
}

// Result returns the process as it stands, without States.
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

// FinalStatus is the status of a process whose parts have all ended.
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
		failed++
		why := cmp.Or(part.Report.Error, diag.Faultf(turn.CodeWorkerLost, "it was ended"))
		first = cmp.Or(first, diag.Faultf(why.Code, "part %d: %s", part.Number, why.Message))
	}
	if failed > 1 {
		first.Message += fmt.Sprintf("; %d of %d parts failed", failed, len(p.List))
	}
	return first
}

// NextTurn returns the turn of the Request that asks for the output.
func (p *Parts) NextTurn() int {
	turns := 0
	for _, part := range p.List {
		turns = max(turns, part.Report.Turns)
	}
	return turns + p.Own.Turns + 1
}

// OutputsAsInstances returns the parts' outputs in the form of instances, for the Request that makes one output of them.
func (p *Parts) OutputsAsInstances() []turn.InstanceInput {
	var list []turn.InstanceInput
	for _, part := range p.List {
		list = append(list, turn.InstanceInput{Token: fmt.Sprintf("part %d", part.Number), State: map[string]any{"output": part.Report.Output}})
	}
	return list
}

// IdeaSource is the Idea of the part: the shared Messages and those of its instances. Limits hold for the whole process alone.
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

// ApplyOutputReply applies the reply to the Request for the output. The third bad one in a row pauses the process.
func (p *Parts) ApplyOutputReply(i *ideafile.Idea, r turn.Reply) {
	p.Own.Requests++
	p.Own.Turns += max(1, r.Attempts)
	p.Own.Usage.Add(r.Usage)
	out, f := any(nil), r.Fault
	if r.Complete {
		out, f = i.Output.WithoutNulls(r.Output), r.OutputFault
	}
	if r.Complete && f == nil && out != nil {
		p.Own.Output, p.BadOutputsInRow = out, 0
		return
	}
	if r.Complete && f == nil {
		f = diag.Faultf(ideafile.CodeBadOutput, "there is no output; the output form wants one")
	}
	p.BadOutputsInRow++
	if r.NotRetryable || p.BadOutputsInRow >= maxBadInRow {
		p.Paused, p.BadOutputsInRow = diag.Faultf(turn.CodeBadOutputs, "the output over all parts: %s", f.Message), 0
	}
}
