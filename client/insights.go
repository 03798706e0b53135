package client

import (
	"context"
	"slices"
	"strings"
	"time"

	"processidea/model/approval"
	"processidea/model/jsonval"
)

// Insights describe people's decisions: what waits, and what was decided on Calls since a moment.
type Insights struct {
	Since time.Time `json:"since"`
	// Tools are sorted by name. Tools without a waiting Call or a decision are left out.
	Tools []ToolInsights `json:"tools" nullable:"false"`
	// Unread counts the processes whose record cannot be read: they were forgotten, or are broken.
	Unread int `json:"unread,omitempty"`
	// Unanswered are the processes that did not answer: what waits in them is not counted.
	Unanswered []string `json:"unanswered,omitempty" nullable:"false"`
}

// ToolInsights describe the decisions on the Calls of one Tool.
type ToolInsights struct {
	Tool  string `json:"tool"`
	Title string `json:"title" doc:"what people call the Tool"`
	// Waiting is how many Calls wait now, the oldest since Oldest.
	Waiting int        `json:"waiting"`
	Oldest  *time.Time `json:"oldest,omitempty"`
	// Decided counts decisions by their kind: approve, reject, amend, replace, answer. Of these ByOrder were taken by
	// standing orders, at which nobody looked, and ByDeadline by nobody.
	Decided    map[string]int `json:"decided"`
	ByOrder    int            `json:"byOrder"`
	ByDeadline int            `json:"byDeadline"`
	// MedianSeconds and P90Seconds are how long Calls waited for people's decisions, by the nearest rank.
	MedianSeconds float64 `json:"medianSeconds"`
	P90Seconds    float64 `json:"p90Seconds"`

	took []time.Duration
}

// Insights reads the chains of all processes for what was decided since a moment, and asks for what waits. What was
// decided since a process's latest Idea is in the next one.
func (c *Client) Insights(ctx context.Context, since time.Time) (*Insights, error) {
	processes, err := c.archive.Processes(ctx)
	if err != nil {
		return nil, err
	}
	out := &Insights{Since: since, Tools: []ToolInsights{}}
	tools := map[string]*ToolInsights{}
	for _, id := range processes {
		if strings.Contains(id, "/~part/") {
			continue // the whole's record has what its parts' have
		}
		made, err := c.decisionsOf(ctx, id)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			out.Unread++
		}
		for _, d := range made {
			if !d.DecidedAt.Before(since) {
				t := insightsOf(tools, d.Tool)
				if t.add(d); t.Title == "" {
					t.Title = c.Process(id).Words(ctx).Tool(d.Tool)
				}
			}
		}
	}
	waiting, err := c.allWaiting(ctx)
	if out.Unanswered = waiting.Unanswered; err != nil && len(out.Unanswered) == 0 {
		return nil, err
	}
	for _, a := range waiting.Approvals {
		t := insightsOf(tools, a.Tool)
		t.Title = a.ToolTitle
		if t.Waiting++; t.Oldest == nil || a.Since.Before(*t.Oldest) {
			t.Oldest = &a.Since
		}
	}
	for _, t := range jsonval.Sorted(tools) {
		t.rank()
		out.Tools = append(out.Tools, *t)
	}
	return out, nil
}

// decisionsOf lists the decisions that ended the waiting of Calls, of one process. They are remembered up to its latest
// Idea: what is sealed never changes.
func (c *Client) decisionsOf(ctx context.Context, id string) ([]approval.Decision, error) {
	chain := c.archive.Chain(id)
	last, err := chain.number(ctx, "count decisions of", 0)
	if err != nil {
		return nil, err
	}
	known, _ := c.decided.Get(id)
	if known.at > last { // forgotten, and begun anew
		known = cachedDecisions{}
	}
	for known.at < last {
		log, err := chain.chains.LogAt(ctx, id, known.at+1)
		if err != nil {
			return known.made, err
		}
		known.at++
		for _, e := range log {
			if d := e.Decision; d != nil && !d.WaitingSince.IsZero() {
				known.made = append(slices.Clip(known.made), approval.Decision{Kind: d.Kind, Tool: d.Tool,
					DecidedBy: d.DecidedBy, OrderID: d.OrderID, DecidedAt: d.DecidedAt, WaitingSince: d.WaitingSince})
			}
		}
	}
	c.decided.Add(id, known)
	return known.made, nil
}

// maxCachedDecisions bounds how many processes' decisions are cached.
const maxCachedDecisions = 10_000

// cachedDecisions are the decisions of a process up to an Idea, without their Calls' parameters.
type cachedDecisions struct {
	at   int
	made []approval.Decision
}

func insightsOf(tools map[string]*ToolInsights, name string) *ToolInsights {
	if tools[name] == nil {
		tools[name] = &ToolInsights{Tool: name, Decided: map[string]int{}}
	}
	return tools[name]
}

func (t *ToolInsights) add(d approval.Decision) {
	t.Decided[d.Kind]++
	switch {
	case d.OrderID != "":
		t.ByOrder++
	case d.DecidedBy == approval.DecidedByTimeout:
		t.ByDeadline++
	default:
		t.took = append(t.took, d.DecidedAt.Sub(d.WaitingSince))
	}
}

// rank finds the median and the ninetieth percentile.
func (t *ToolInsights) rank() {
	slices.Sort(t.took)
	nearest := func(percent int) float64 {
		if len(t.took) == 0 {
			return 0
		}
		return t.took[(len(t.took)*percent+99)/100-1].Seconds()
	}
	t.MedianSeconds, t.P90Seconds = nearest(50), nearest(90)
}
