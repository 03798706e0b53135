package policy

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Override is what `config.approval` adds to the approval policies of the Tools.
//
// Invariant: it removes nothing. A Call that its Tool's policy asks about is still asked about, and its Rules hold.
type Override struct {
	AllTools  bool     `json:"all,omitempty"`
	ToolNames []string `json:"tools,omitempty"`
	// Plan holds every Plan, as a whole, until a person has approved it.
	Plan bool `json:"plan,omitempty"`
	// Deciders limit who may decide on the Calls of these Tools or, if no Tools are named, on every Call that a person
	// is asked about.
	Deciders *Rule `json:"by,omitempty"`
	// WhileWaiting says what happens while nobody decides, on the same Calls as Deciders.
	WhileWaiting WhileWaiting `json:"whileWaiting,omitzero"`
	// Outer are the Overrides of the processes that this one is a delegate of. Their deciders apply here too.
	Outer []Override `json:"outer,omitempty"`
}

// ReadOverride reads `config.approval` of a process, strictly.
func ReadOverride(m jsonval.Object, path string, ps *diag.Problems) (o Override) {
	for k := range jsonval.Sorted(m) {
		at, ok := jsonval.JSONPathWithKey(path, k), true
		switch k {
		case "all":
			o.AllTools, ok = m[k].(bool)
		case "tools":
			o.ToolNames, ok = jsonval.AsStringList(m[k])
		case "plan":
			if o.Plan, ok = m[k].(bool); !ok {
				ps.Add(at, "want true or false, not %s", jsonval.TypeOf(m[k]))
				continue
			}
		case "by":
			o.Deciders = ReadRule(m[k], at, ps)
		case "proof": // after "by"
			var err error
			if o.Deciders, err = ReadProof(m[k], o.Deciders); err != nil {
				ps.Add(at, "%s", err)
			}
		case "remind", "escalate":
			o.WhileWaiting.ReadKey(k, m[k], at, ps)
		default:
			ps.Add(at, "unknown key %q; approval has all, by, escalate, plan, proof, remind and tools", k)
		}
		if !ok {
			ps.Add(at, `want {"tools": ["name"]} or {"all": true}`)
		}
	}
	o.WhileWaiting.Check(o.Deciders, 0, path, ps)
	return o
}

// appliesToTool reports whether a person is asked about every Call of a Tool.
func (o Override) appliesToTool(tool string) bool {
	return o.AllTools || slices.Contains(o.ToolNames, tool)
}

// PolicyFor returns the policy for a Tool's Calls, given the Tool's own; nil if they need no approval.
func (o Override) PolicyFor(tool string, own *Approval) *Approval {
	switch {
	case !o.appliesToTool(tool):
		return own
	case own == nil:
		return &Approval{TimeoutAction: Reject, AllowedDecisions: allKinds}
	}
	always := *own
	always.ParamsCondition = nil
	return &always
}

// DecidersFor returns who may decide on a Tool's Calls, whatever the reason for the review.
func (o Override) DecidersFor(tool string, own *Approval) Rules {
	rules, _ := o.PeopleFor(tool, own)
	return rules
}

// PeopleFor returns who may decide on a Tool's Calls, whatever the reason for the review, and what happens until they
// decide.
func (o Override) PeopleFor(tool string, own *Approval) (rules Rules, whileWaiting Governing) {
	add := func(r *Rule, p WhileWaiting) {
		beside := -1
		if r != nil {
			beside, rules = len(rules), append(rules, *r)
		}
		whileWaiting.Add(p, beside)
	}
	if own != nil {
		add(own.Deciders, own.WhileWaiting)
	}
	for _, limit := range o.DeciderRestrictions() {
		if everyTool := len(limit.ToolNames) == 0; everyTool || limit.appliesToTool(tool) {
			add(limit.Deciders, limit.WhileWaiting)
		}
	}
	return rules, whileWaiting
}

// DeciderRestrictions lists the Overrides that restrict who may decide, say what happens while nobody does, or hold
// Plans: of the process, and of the processes that it is a delegate of.
func (o Override) DeciderRestrictions() []Override {
	own := o
	own.Outer = nil
	if own.Deciders == nil && own.WhileWaiting.IsZero() && !own.Plan {
		return o.Outer
	}
	return append([]Override{own}, o.Outer...)
}

// HoldsPlans reports whether Plans wait for a person's approval, because of the process or a process that it is a
// delegate of.
func (o Override) HoldsPlans() bool {
	return o.Plan || slices.ContainsFunc(o.Outer, func(outer Override) bool { return outer.Plan })
}

// PlanDeciders returns who may decide on a Plan: the deciders of the process and of the processes that it is a delegate
// of.
func (o Override) PlanDeciders() (rules Rules) {
	for _, limit := range o.DeciderRestrictions() {
		if limit.Deciders != nil {
			rules = append(rules, *limit.Deciders)
		}
	}
	return rules
}
