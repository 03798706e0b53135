package policy

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Oversight is what `config.approval` adds to the approval policies of the Tools.
//
// Invariant: it removes nothing. A Call that its Tool's policy asks about is still asked about, and its Rules hold.
type Oversight struct {
	AppliesToAllTools bool     `json:"all,omitempty"`
	ToolNames         []string `json:"tools,omitempty"`
	// ReviewsPlans holds every Plan, as a whole, until a person has approved it.
	ReviewsPlans bool `json:"plan,omitempty"`
	// Deciders limit who may decide on the Calls of these Tools or, if no Tools are named, on every Call that a person
	// is asked about.
	Deciders *DeciderRule `json:"by,omitempty"`
	// ReminderRules says what happens while nobody decides, on the same Calls as Deciders.
	ReminderRules ReminderRules `json:"whileWaiting,omitzero"`
	// OuterOversights are the Overrides of the processes that this one is a delegate of. Their deciders apply here too.
	OuterOversights []Oversight `json:"outer,omitempty"`
}

// ReadOversight reads `config.approval` of a process, strictly.
func ReadOversight(m jsonval.Object, path string, ps *diag.Problems) (o Oversight) {
	for k := range jsonval.Sorted(m) {
		keyPath, ok := jsonval.JSONPathWithKey(path, k), true
		switch k {
		case "all":
			o.AppliesToAllTools, ok = m[k].(bool)
		case "tools":
			o.ToolNames, ok = jsonval.AsStringList(m[k])
		case "plan":
			if o.ReviewsPlans, ok = m[k].(bool); !ok {
				ps.Add(keyPath, "want true or false, not %s", jsonval.TypeOf(m[k]))
				continue
			}
		case "by":
			o.Deciders = ReadDeciderRule(m[k], keyPath, ps)
		case "proof": // after "by"
			var err error
			if o.Deciders, err = ReadProofRequirement(m[k], o.Deciders); err != nil {
				ps.Add(keyPath, "%s", err)
			}
		case "remind", "escalate":
			o.ReminderRules.ReadKey(k, m[k], keyPath, ps)
		default:
			ps.Add(keyPath, "unknown key %q; approval has all, by, escalate, plan, proof, remind and tools", k)
		}
		if !ok {
			ps.Add(keyPath, `want {"tools": ["name"]} or {"all": true}`)
		}
	}
	o.ReminderRules.Check(o.Deciders, 0, path, ps)
	return o
}

// appliesToTool reports whether a person is asked about every Call of a Tool.
func (o Oversight) appliesToTool(toolName string) bool {
	return o.AppliesToAllTools || slices.Contains(o.ToolNames, toolName)
}

// PolicyFor returns the policy for a Tool's Calls, given the Tool's own; nil if they need no approval.
func (o Oversight) PolicyFor(toolName string, toolPolicy *Approval) *Approval {
	switch {
	case !o.appliesToTool(toolName):
		return toolPolicy
	case toolPolicy == nil:
		return &Approval{TimeoutAction: Reject, AllowedDecisions: decisionKinds}
	}
	unconditionalPolicy := *toolPolicy
	unconditionalPolicy.ParamsCondition = nil
	return &unconditionalPolicy
}

// DecidersFor returns who may decide on a Tool's Calls, whatever the reason for the review.
func (o Oversight) DecidersFor(toolName string, toolPolicy *Approval) DeciderRules {
	rules, _ := o.DecidersAndReminders(toolName, toolPolicy)
	return rules
}

// DecidersAndReminders returns who may decide on a Tool's Calls, whatever the reason for the review, and what happens
// until they decide.
func (o Oversight) DecidersAndReminders(toolName string,
	toolPolicy *Approval) (rules DeciderRules, reminders RemindersByRule) {
	add := func(r *DeciderRule, p ReminderRules) {
		ruleIndex := -1
		if r != nil {
			ruleIndex, rules = len(rules), append(rules, *r)
		}
		reminders.Add(p, ruleIndex)
	}
	if toolPolicy != nil {
		add(toolPolicy.Deciders, toolPolicy.ReminderRules)
	}
	for _, restriction := range o.DeciderRestrictions() {
		if appliesToAll := len(restriction.ToolNames) == 0; appliesToAll || restriction.appliesToTool(toolName) {
			add(restriction.Deciders, restriction.ReminderRules)
		}
	}
	return rules, reminders
}

// DeciderRestrictions lists the Overrides that restrict who may decide, say what happens while nobody does, or hold
// Plans: of the process, and of the processes that it is a delegate of.
func (o Oversight) DeciderRestrictions() []Oversight {
	ownOversight := o
	ownOversight.OuterOversights = nil
	if ownOversight.Deciders == nil && ownOversight.ReminderRules.IsZero() && !ownOversight.ReviewsPlans {
		return o.OuterOversights
	}
	return append([]Oversight{ownOversight}, o.OuterOversights...)
}

// RequiresPlanReview reports whether Plans wait for a person's approval, because of the process or a process that it is
// a delegate of.
func (o Oversight) RequiresPlanReview() bool {
	return o.ReviewsPlans || slices.ContainsFunc(o.OuterOversights,
		func(outer Oversight) bool { return outer.ReviewsPlans })
}

// PlanDeciders returns who may decide on a Plan: the deciders of the process and of the processes that it is a delegate
// of.
func (o Oversight) PlanDeciders() (rules DeciderRules) {
	for _, restriction := range o.DeciderRestrictions() {
		if restriction.Deciders != nil {
			rules = append(rules, *restriction.Deciders)
		}
	}
	return rules
}
