package client

import (
	"context"
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/jsonval"
)

// Insights describe people's decisions: what waits now, and what was decided on Calls since a moment.
type Insights struct {
	Since time.Time `json:"since"`
	// Tools are sorted by name. Tools without a waiting Call or a decision are left out.
	Tools []ToolInsights `json:"tools" nullable:"false"`
	// UnreadCount counts the processes whose record cannot be read: they were forgotten, or are broken.
	UnreadCount int `json:"unread,omitempty"`
	// UnansweredProcesses are the processes that did not answer: what waits in them is not counted.
	UnansweredProcesses []string `json:"unanswered,omitempty" nullable:"false"`
}

// ToolInsights describe the decisions on the Calls of one Tool.
type ToolInsights struct {
	Tool  string `json:"tool"`
	Title string `json:"title" doc:"what people call the Tool"`
	// Waiting is how many Calls wait now; Oldest is since when the oldest waits.
	Waiting     int        `json:"waiting"`
	OldestSince *time.Time `json:"oldest,omitempty"`
	DecisionCounts
	// Rules count the same for each rule of the Tool's policies that made people decide, in the order of the rules'
	// texts.
	Rules []RuleInsights `json:"rules" nullable:"false"`

	rulesByText map[string]*RuleInsights // by their texts
}

// RuleInsights describe the decisions that people had to make because of one rule.
type RuleInsights struct {
	// When is the condition on the parameters; nil: the rule has no condition, or the reason is no rule of the Tool.
	When map[string]any `json:"when,omitempty" doc:"the condition of the Tool's _approval; absent: it has none"`
	DecisionCounts
	// Process is one of the processes that have the rule.
	Process string `json:"-"`
}

// DecisionCounts count decisions, and measure how long they took.
type DecisionCounts struct {
	// Decided counts decisions by their kind: approve, reject, amend, replace, answer. Of these, standing orders took
	// ByOrder, which nobody looked at, and deadlines took ByDeadline.
	Decided    map[string]int `json:"decided"`
	ByOrder    int            `json:"byOrder"`
	ByDeadline int            `json:"byDeadline"`
	// MedianSeconds and P90Seconds are how long Calls waited for people's decisions, by the nearest rank.
	MedianSeconds float64 `json:"medianSeconds"`
	P90Seconds    float64 `json:"p90Seconds"`
	// WaitedSeconds is how long all Calls together waited for people. SparedSeconds is what standing orders saved of
	// that: each of their decisions counts as the median. How long people worked on a decision is not recorded.
	WaitedSeconds float64 `json:"waitedSeconds"`
	SparedSeconds float64 `json:"sparedSeconds" doc:"decisions of standing orders, times the median"`

	waitDurations []time.Duration
}

// Insights reads the decisions since a moment from the chains of all processes, and queries what waits. Decisions since
// a process's latest Idea are in the next one.
func (c *Client) Insights(ctx context.Context, since time.Time) (*Insights, error) {
	out := &Insights{Since: since, Tools: []ToolInsights{}}
	tools := map[string]*ToolInsights{}
	unreadCount, err := c.eachDecision(ctx, func(process string, d Decided) {
		if !d.WaitingSince.IsZero() && !d.DecidedAt.Before(since) {
			toolInsights := insightsForTool(tools, d.Tool)
			toolInsights.addRule(process, d)
			if toolInsights.add(d.Decision); toolInsights.Title == "" {
				toolInsights.Title = c.Process(process).Presenter(ctx).ToolTitle(d.Tool)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out.UnreadCount = unreadCount
	waiting, err := c.allWaiting(ctx)
	if out.UnansweredProcesses, err = UnansweredProcesses(err); err != nil && len(out.UnansweredProcesses) == 0 {
		return nil, err
	}
	for _, a := range waiting.Approvals {
		toolInsights := insightsForTool(tools, a.Tool)
		toolInsights.Title = a.ToolTitle
		if toolInsights.Waiting++; toolInsights.OldestSince == nil || a.Since.Before(*toolInsights.OldestSince) {
			toolInsights.OldestSince = &a.Since
		}
	}
	for _, toolInsights := range jsonval.Sorted(tools) {
		toolInsights.computeStats()
		for _, r := range jsonval.Sorted(toolInsights.rulesByText) {
			r.computeStats()
			toolInsights.Rules = append(toolInsights.Rules, *r)
		}
		out.Tools = append(out.Tools, *toolInsights)
	}
	return out, nil
}

func insightsForTool(tools map[string]*ToolInsights, name string) *ToolInsights {
	if tools[name] == nil {
		tools[name] = &ToolInsights{Tool: name, DecisionCounts: DecisionCounts{Decided: map[string]int{}},
			Rules: []RuleInsights{}, rulesByText: map[string]*RuleInsights{}}
	}
	return tools[name]
}

func (t *ToolInsights) addRule(process string, d Decided) {
	key := jsonval.EncodeToString(d.condition)
	if t.rulesByText[key] == nil {
		t.rulesByText[key] = &RuleInsights{When: d.condition, Process: process,
			DecisionCounts: DecisionCounts{Decided: map[string]int{}}}
	}
	t.rulesByText[key].add(d.Decision)
}

func (t *DecisionCounts) add(d approval.Decision) {
	t.Decided[d.Kind]++
	switch {
	case d.OrderID != "":
		t.ByOrder++
	case d.DecidedBy == approval.DecidedByTimeout:
		t.ByDeadline++
	default:
		t.waitDurations = append(t.waitDurations, d.DecidedAt.Sub(d.WaitingSince))
	}
}

// computeStats computes the median, the ninetieth percentile and the values that depend on them.
func (t *DecisionCounts) computeStats() {
	slices.Sort(t.waitDurations)
	percentile := func(percent int) float64 {
		if len(t.waitDurations) == 0 {
			return 0
		}
		return t.waitDurations[(len(t.waitDurations)*percent+99)/100-1].Seconds()
	}
	t.MedianSeconds, t.P90Seconds = percentile(50), percentile(90)
	for _, one := range t.waitDurations {
		t.WaitedSeconds += one.Seconds()
	}
	t.SparedSeconds = float64(t.ByOrder) * t.MedianSeconds
}
