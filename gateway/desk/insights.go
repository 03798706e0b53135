package desk

import (
	"time"

	"processidea/client"
	"processidea/gateway/desk/form"
	"processidea/model/jsonval"
)

type insightsPage struct {
	frame
	*client.Insights
	Rows  []insightsRow
	Kinds []string // of decisions, in the order of the page
	// RuleSources are the rules of the rows, as they are written.
	RuleSources []ruleSource

	WaitedSeconds, SparedSeconds float64 // of all Tools, in seconds
	Days                         int     // the decisions are of these last days
}

// insightsRow is about a Tool, or about one of several rules of it.
type insightsRow struct {
	client.DecisionCounts
	client.ToolInsights
	RuleText string // the rule; "": there is none, or there are several
	IsRule   bool
}

// ruleSource is a rule as it is written.
type ruleSource struct{ Title, Rule string }

// showInsights shows how people's decisions go.
func (v *visit) showInsights() error {
	insights, err := v.Insights(v.Context(), time.Time{})
	if err != nil {
		return err
	}
	p := insightsPage{frame: v.frame("How decisions go"), Insights: insights,
		Days:  int(time.Since(insights.Since).Round(24*time.Hour) / (24 * time.Hour)),
		Kinds: []string{client.Approve, client.Amend, client.Replace, client.Answer, client.Reject}}
	for _, t := range insights.Tools {
		p.WaitedSeconds, p.SparedSeconds = p.WaitedSeconds+t.WaitedSeconds, p.SparedSeconds+t.SparedSeconds
		p.Rows = append(p.Rows, insightsRow{DecisionCounts: t.DecisionCounts, ToolInsights: t})
		for _, rule := range t.Rules {
			ruleText := v.ruleText(t.Tool, rule)
			if rule.ParamsCondition != nil {
				p.RuleSources = append(p.RuleSources, ruleSource{t.Title, form.PrettyJSON(rule.ParamsCondition)})
			}
			if len(t.Rules) == 1 {
				p.Rows[len(p.Rows)-1].RuleText = ruleText
				break
			}
			p.Rows = append(p.Rows, insightsRow{DecisionCounts: rule.DecisionCounts, RuleText: ruleText, IsRule: true})
		}
	}
	return v.show("insights", p)
}

// ruleText returns a rule in words, or "" if it has no condition.
func (v *visit) ruleText(tool string, rule client.RuleInsights) string {
	if rule.ParamsCondition == nil {
		return ""
	}
	format := v.Client.Process(rule.ExampleProcessID).Presenter(v.Context()).ParamsFormat(tool)
	return ruleInWords(format, jsonval.ToJSONValue(rule.ParamsCondition), client.LanguageOf(v.Context()))
}
