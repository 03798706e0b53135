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
	// UnreadableProcessCount counts the processes whose record cannot be read: they were forgotten, or are broken.
	UnreadableProcessCount int `json:"unread,omitempty"`
	// UnansweredProcessIDs are the processes that did not answer: what waits in them is not counted.
	UnansweredProcessIDs []string `json:"unanswered,omitempty" nullable:"false"`
}

// ToolInsights describe the decisions on the Calls of one Tool.
type ToolInsights struct {
	Tool  string `json:"tool"`
	Title string `json:"title" doc:"what people call the Tool"`
	// WaitingCount is how many Calls wait now; OldestSince is since when the oldest waits.
	WaitingCount int        `json:"waiting"`
	OldestSince  *time.Time `json:"oldest,omitempty"`
	DecisionCounts
	// Rules count the same for each rule of the Tool's policies that made people decide, in the order of the rules'
	// texts.
	Rules []RuleInsights `json:"rules" nullable:"false"`

	rulesByText map[string]*RuleInsights // by their texts
}

// RuleInsights describe the decisions that people had to make because of one rule.
type RuleInsights struct {
	// ParamsCondition is the condition on the parameters; nil: the rule has no condition, or the reason is no rule of
	// the Tool.
	ParamsCondition map[string]any `json:"when,omitempty" doc:"the condition of the Tool's _approval; absent: it has none"`
	DecisionCounts
	// ExampleProcessID is one of the processes that have the rule.
	ExampleProcessID string `json:"-"`
}

// DecisionCounts count decisions, and measure how long they took.
type DecisionCounts struct {
	// CountByKind counts decisions by their kind: approve, reject, amend, replace, answer. Of these, standing orders
	// took ByStandingOrder, which nobody looked at, and deadlines took ByDeadline.
	CountByKind     map[string]int `json:"decided"`
	ByStandingOrder int            `json:"byOrder"`
	ByDeadline      int            `json:"byDeadline"`
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
	insights := &Insights{Since: since, Tools: []ToolInsights{}}
	insightsByTool := map[string]*ToolInsights{}
	unreadableProcessCount, err := c.eachDecision(ctx, func(processID string, d RecordedDecision) {
		if !d.WaitingSince.IsZero() && !d.DecidedAt.Before(since) {
			toolInsights := ensureToolInsights(insightsByTool, d.Tool)
			toolInsights.addToRule(processID, d)
			if toolInsights.add(d.Decision); toolInsights.Title == "" {
				toolInsights.Title = c.Process(processID).Presenter(ctx).ToolTitle(d.Tool)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	insights.UnreadableProcessCount = unreadableProcessCount
	waitingItems, err := c.listAllWaiting(ctx)
	if insights.UnansweredProcessIDs, err = UnansweredProcessIDs(err); err != nil &&
		len(insights.UnansweredProcessIDs) == 0 {
		return nil, err
	}
	for _, a := range waitingItems.Approvals {
		toolInsights := ensureToolInsights(insightsByTool, a.Tool)
		toolInsights.Title = a.ToolTitle
		if toolInsights.WaitingCount++; toolInsights.OldestSince == nil || a.Since.Before(*toolInsights.OldestSince) {
			toolInsights.OldestSince = &a.Since
		}
	}
	for _, toolInsights := range jsonval.Sorted(insightsByTool) {
		toolInsights.computeStats()
		for _, r := range jsonval.Sorted(toolInsights.rulesByText) {
			r.computeStats()
			toolInsights.Rules = append(toolInsights.Rules, *r)
		}
		insights.Tools = append(insights.Tools, *toolInsights)
	}
	return insights, nil
}

func ensureToolInsights(insightsByTool map[string]*ToolInsights, toolName string) *ToolInsights {
	if insightsByTool[toolName] == nil {
		insightsByTool[toolName] = &ToolInsights{Tool: toolName,
			DecisionCounts: DecisionCounts{CountByKind: map[string]int{}},
			Rules:          []RuleInsights{}, rulesByText: map[string]*RuleInsights{}}
	}
	return insightsByTool[toolName]
}

func (t *ToolInsights) addToRule(processID string, d RecordedDecision) {
	ruleText := jsonval.EncodeToString(d.policyCondition)
	if t.rulesByText[ruleText] == nil {
		t.rulesByText[ruleText] = &RuleInsights{ParamsCondition: d.policyCondition, ExampleProcessID: processID,
			DecisionCounts: DecisionCounts{CountByKind: map[string]int{}}}
	}
	t.rulesByText[ruleText].add(d.Decision)
}

func (t *DecisionCounts) add(d approval.Decision) {
	t.CountByKind[d.Kind]++
	switch {
	case d.StandingOrderID != "":
		t.ByStandingOrder++
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
	t.SparedSeconds = float64(t.ByStandingOrder) * t.MedianSeconds
}
