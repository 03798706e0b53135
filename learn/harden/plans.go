package harden

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// maxPlans bounds the number of Plans into which the Calls are divided by conditions over the start. If there were
// more, the Calls themselves have the conditions.
const maxPlans = 8

// hardenedPlan is one of the Plans: its Calls, and what must hold at the start.
type hardenedPlan struct {
	calls                    []*mergedCall
	whenSchema               any // a JSON Schema; nil: nothing
	name                     string
	hasStartConditionsInWhen bool // conditions over the start are in when, not at the Calls
}

// dividePlans divides the Calls into Plans by what was there at the start. There is one Plan for each combination of
// outcomes that the conditions had in an instance, the most frequent first. A combination that no instance showed has
// no Plan, and is left to the LLM.
func (h *hardener) dividePlans() []hardenedPlan {
	undividedPlans := []hardenedPlan{{calls: h.mergedCalls, whenSchema: h.commonWhenSchema(), name: "hardened"}}
	var conditions []*callCondition
	for _, c := range h.mergedCalls {
		if c.condition != nil && c.condition.readsOnlyStart {
			conditions = append(conditions, c.condition)
		}
	}
	if len(conditions) == 0 {
		return undividedPlans
	}
	instanceCountByOutcomes, firstInstanceByOutcomes := map[string]int{}, map[string]*instanceRun{}
	var distinctOutcomes []string
	for _, r := range h.instances {
		outcomes := ""
		for _, c := range conditions {
			outcomes += fmt.Sprintf("%t ", c.appliesByInstance[r])
		}
		if instanceCountByOutcomes[outcomes]++; firstInstanceByOutcomes[outcomes] == nil {
			firstInstanceByOutcomes[outcomes], distinctOutcomes = r, append(distinctOutcomes, outcomes)
		}
	}
	if len(distinctOutcomes) > maxPlans {
		return undividedPlans
	}
	slices.SortStableFunc(distinctOutcomes,
		func(a, b string) int { return instanceCountByOutcomes[b] - instanceCountByOutcomes[a] })
	var plans []hardenedPlan
	for _, outcomes := range distinctOutcomes {
		plans = append(plans, h.planForInstance(firstInstanceByOutcomes[outcomes], undividedPlans[0].whenSchema))
	}
	return plans
}

// planForInstance is the Plan for instances in which the conditions have the same outcomes as in r.
func (h *hardener) planForInstance(r *instanceRun, commonWhenSchema any) hardenedPlan {
	p := hardenedPlan{hasStartConditionsInWhen: true}
	var whenSchemas []any
	var conditionTexts []string
	addWhenSchema := func(source any, text string) {
		lengthBefore := len(whenSchemas)
		if whenSchemas = addSchema(whenSchemas, source); len(whenSchemas) > lengthBefore && text != "" {
			conditionTexts = append(conditionTexts, text)
		}
	}
	for _, c := range h.mergedCalls {
		switch {
		case c.condition == nil || !c.condition.readsOnlyStart:
			p.calls = append(p.calls, c)
		case c.condition.appliesByInstance[r]:
			p.calls = append(p.calls, c)
			addWhenSchema(c.condition.When, c.condition.conditionText)
		default:
			addWhenSchema(c.condition.Unless, "not "+c.condition.conditionText)
		}
	}
	addWhenSchema(commonWhenSchema, "")
	p.name = strings.TrimSuffix("hardened: "+strings.Join(conditionTexts, ", "), ": ")
	p.whenSchema = joinSchemas("allOf", whenSchemas)
	return p
}

// rawCalls are the Calls as the Plan has them. A Plan that guides the LLM has no conditions at its Calls.
func (p hardenedPlan) rawCalls(isDirectPlan bool) []any {
	calls := []any{}
	for _, c := range p.calls {
		rawCall := c.rawCall
		if c.condition != nil && isDirectPlan && !(p.hasStartConditionsInWhen && c.condition.readsOnlyStart) {
			rawCall = withoutCondition(rawCall)
			if rawCall[ideafile.WhenKey] = c.condition.When; c.condition.Unless != nil {
				rawCall[ideafile.UnlessKey] = c.condition.Unless
			}
		}
		calls = append(calls, rawCall)
	}
	return calls
}

// toMessage is the Plan as a Message of the Idea file.
func (p hardenedPlan) toMessage(h *hardener, isDirectPlan bool) jsonval.Object {
	m := jsonval.Object{"type": ideafile.TypePlan, "name": p.name, "plan": p.rawCalls(isDirectPlan)}
	if isDirectPlan {
		m["stage"] = ideafile.PlanStageOptimal
	}
	if p.whenSchema != nil {
		m["when"] = p.whenSchema
	}
	if h.hasPlanOutput {
		m["output"] = h.planOutput
	}
	var descriptions []string
	for _, c := range p.calls {
		if c.condition != nil && !isDirectPlan && !(p.hasStartConditionsInWhen && c.condition.readsOnlyStart) {
			descriptions = append(descriptions, fmt.Sprintf("%s only where %s", c, c.condition.conditionText))
		}
	}
	if len(descriptions) > 0 {
		m["description"] = strings.Join(descriptions, "; ")
	}
	return m
}

// applicablePlan is the Plan that runs an instance; ok is false if there is none.
func applicablePlan(plans []hardenedPlan, r *instanceRun) (p hardenedPlan, ok bool) {
	view := r.viewAtStart()
	for _, p := range plans {
		if p.whenSchema == nil || refexpr.FitsSchema(p.whenSchema, view) {
			return p, true
		}
	}
	return hardenedPlan{}, false
}

// viewAtStart is what an instance saw when it started.
func (r *instanceRun) viewAtStart() jsonval.Object {
	view := jsonval.Object{ideafile.TypeState: jsonval.Object{}}
	maps.Copy(view, r.startView.PayloadByKind)
	return view
}

// directPlan is the Plan that ran the instance without the LLM.
func (r *instanceRun) directPlan() (ideafile.Message, bool) {
	messages := r.chain.First().Context
	planIndex, _ := ideafile.FindDirectPlans(messages).ChooseForInstance(r.instanceToken, r.startView)
	if planIndex < 0 {
		return ideafile.Message{}, false
	}
	return messages[planIndex], true
}

// commonWhenSchema is what the Plans that ran the instances required at the start: such Plans say nothing of other
// instances. It is nil if an instance ran without such a Plan, or by a Plan that requires nothing.
func (h *hardener) commonWhenSchema() any {
	var whenSchemas []any
	for _, r := range h.instances {
		plan, hasPlan := r.directPlan()
		whenSchema := plan.Source["when"]
		if !hasPlan || whenSchema == nil {
			return nil
		}
		whenSchemas = addSchema(whenSchemas, whenSchema)
	}
	return joinSchemas("anyOf", whenSchemas)
}
