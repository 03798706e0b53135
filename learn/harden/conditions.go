package harden

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"processidea/learn/condition"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// callCondition is the condition that was found for a Call.
type callCondition struct {
	refexpr.Condition
	conditionText     string
	readsOnlyStart    bool // it reads nothing that a Call writes
	appliesByInstance map[*instanceRun]bool
}

// conditionSearch looks for what separates the instances that had a Call from those that did not.
type conditionSearch struct {
	call         *mergedCall
	visibleCalls []*mergedCall // the Calls whose results existed when it was planned
	hiddenCalls  []*mergedCall // earlier Calls of the Plan that may not have ended: what they write is ignored
	search       condition.Search
}

// findConditions looks for conditions of Calls that would run in instances that ended without them, and reports whether
// it found one. For each other such Call it notes the reason, which is reported when the Call is dropped.
func (h *hardener) findConditions(unplannedCalls map[*mergedCall]bool) bool {
	hasFound := false
	for _, c := range h.mergedCalls {
		if !unplannedCalls[c] || c.condition != nil || c.noConditionReason != "" {
			continue
		}
		s := h.newConditionSearch(c)
		separatingCondition, doubt := s.search.Find()
		if doubt != nil {
			if c.noConditionReason = doubt.Reason; s.isReachedEverywhere() {
				c.noConditionReason =
					"it did not run everywhere it was planned, so a person must decide whether it should: " +
						h.describeUnsuccessful(c)
			}
			if planCondition := h.joinedPlanCondition(s); planCondition != nil {
				c.condition, hasFound = planCondition, true
			}
			continue
		}
		hasFound = true
		c.condition = &callCondition{Condition: refexpr.Condition{When: separatingCondition.When,
			Unless: separatingCondition.Unless},
			conditionText: separatingCondition.Text, readsOnlyStart: s.readsOnlyStart(separatingCondition.ReadPaths),
			appliesByInstance: s.inClassByInstance(h.instances)}
		noteSuffix := ""
		if len(separatingCondition.Alternatives) > 0 {
			noteSuffix = "; so does " + strings.Join(separatingCondition.Alternatives, "; and ") +
				": where they disagree, it is left to the LLM"
		}
		if len(separatingCondition.UndecidedSituationTexts) > 0 {
			noteSuffix += "; left to the LLM, because no run had it: " +
				diag.SummarizeNames(separatingCondition.UndecidedSituationTexts)
		}
		if noteSuffix != "" {
			noteSuffix += "; more runs decide it, or you: change the condition"
		}
		h.addNote("found: %s runs where %s: this separates %s that had it from %s that had not%s", c,
			separatingCondition.Text,
			instanceCountText(separatingCondition.InClassCount),
			instanceCountText(separatingCondition.SampleCount-separatingCondition.InClassCount), noteSuffix)
	}
	return hasFound
}

// wasReachedIn reports whether a Call was planned in an instance, and not blocked there.
func (c *mergedCall) wasReachedIn(r *instanceRun) bool {
	pastCall := c.pastCallByInstance[r]
	return pastCall != nil && pastCall.Status != ideafile.CallBlocked
}

// isReachedEverywhere reports whether the Call was reached in every instance, so that no condition can separate them.
func (s *conditionSearch) isReachedEverywhere() bool {
	return !slices.ContainsFunc(s.search.Samples, func(sample condition.Sample) bool { return !sample.IsInClass })
}

// describeUnsuccessful lists the instances in which a Call was reached but gave no result, with its status in each.
func (h *hardener) describeUnsuccessful(c *mergedCall) string {
	var statusTexts []string
	for _, r := range h.instances {
		if pastCall := c.pastCallByInstance[r]; pastCall != nil &&
			(pastCall.Status != ideafile.CallDone || !pastCall.HasResult) {
			statusTexts = append(statusTexts, string(pastCall.Status)+" in "+r.displayName)
		}
	}
	return diag.SummarizeNames(statusTexts)
}

func instanceCountText(n int) string {
	if n == 1 {
		return "1 instance"
	}
	return strconv.Itoa(n) + " instances"
}

// newConditionSearch collects what each instance could see when the Call was planned, or could have been planned.
func (h *hardener) newConditionSearch(c *mergedCall) *conditionSearch {
	s := &conditionSearch{call: c}
	for _, d := range h.mergedCalls {
		if d == c {
			break
		}
		if d.alwaysEndedBefore(c) && !d.isAlternativeOf(c) {
			s.visibleCalls = append(s.visibleCalls, d)
		} else {
			s.hiddenCalls = append(s.hiddenCalls, d)
		}
	}
	s.search.NameOfPlace = func(p jsonval.Path) string { return refexpr.Reference{Kind: p[0], Path: p[1:]}.String() }
	for _, r := range h.instances {
		s.search.Samples = append(s.search.Samples,
			condition.Sample{Name: r.displayName, View: s.viewOf(r), IsInClass: c.wasReachedIn(r)})
	}
	return s
}

func (s *conditionSearch) inClassByInstance(instances []*instanceRun) map[*instanceRun]bool {
	inClass := map[*instanceRun]bool{}
	for n, r := range instances {
		inClass[r] = s.search.Samples[n].IsInClass
	}
	return inClass
}

// alwaysEndedBefore reports whether a Call always ended before another one was planned. For two Calls that no instance
// had both, the Request numbers decide. For two Calls of a Plan that ran directly, a Call ended before a later one only
// if the condition of the later one reads what it writes.
func (c *mergedCall) alwaysEndedBefore(later *mergedCall) bool {
	if !c.sharesInstanceWith(later) {
		_, lastRequest := c.requestRange()
		firstRequest, _ := later.requestRange()
		return lastRequest < firstRequest
	}
	hasEarlier := false
	//workflowcheck:ignore -- the order does not matter
	for r, pastCall := range later.pastCallByInstance {
		earlier := c.pastCallByInstance[r]
		switch {
		case earlier == nil:
		case pastCall.Key.Request == 0 && slices.ContainsFunc(c.outputPaths(), func(p jsonval.Path) bool {
			return slices.ContainsFunc(pastCall.pathsReadByCondition, p.Overlaps)
		}):
			hasEarlier = true
		case earlier.Key.Request >= pastCall.Key.Request:
			return false
		default:
			hasEarlier = true
		}
	}
	return hasEarlier
}

func (c *mergedCall) sharesInstanceWith(o *mergedCall) bool {
	//workflowcheck:ignore -- the order does not matter
	for r := range c.pastCallByInstance {
		if o.pastCallByInstance[r] != nil {
			return true
		}
	}
	return false
}

// requestRange returns the first and the last Request that planned a Call in any instance.
func (c *mergedCall) requestRange() (first, last int) {
	first = math.MaxInt
	//workflowcheck:ignore -- the order does not matter
	for _, pastCall := range c.pastCallByInstance {
		first, last = min(first, pastCall.Key.Request), max(last, pastCall.Key.Request)
	}
	return first, last
}

// viewOf is what an instance could see: what it began with, and what the visible Calls wrote.
func (s *conditionSearch) viewOf(r *instanceRun) jsonval.Object {
	view := r.viewAtStart()
	for _, d := range s.visibleCalls {
		pastCall := d.pastCallByInstance[r]
		if pastCall == nil || pastCall.Status != ideafile.CallDone {
			continue
		}
		for _, p := range d.outputPaths() {
			v, ok := jsonval.ValueAt(r.finalState, p)
			if !ok || statelog.IsUpdateWrite(pastCall.parsedCall.OutputMethod, p) || s.isWrittenByHiddenCall(p) {
				continue
			}
			if updated, ok := jsonval.SetAt(view[ideafile.TypeState], p, v); ok {
				view[ideafile.TypeState] = updated
			}
		}
	}
	return view
}

// isWrittenByHiddenCall reports whether a Call that may not have ended writes at a path.
func (s *conditionSearch) isWrittenByHiddenCall(p jsonval.Path) bool {
	return slices.ContainsFunc(s.hiddenCalls,
		func(d *mergedCall) bool { return slices.ContainsFunc(d.outputPaths(), p.Overlaps) })
}

// readsOnlyStart reports whether no visible Call writes at any of these places.
func (s *conditionSearch) readsOnlyStart(readPaths []jsonval.Path) bool {
	return !slices.ContainsFunc(readPaths, func(p jsonval.Path) bool {
		return p[0] == ideafile.TypeState && slices.ContainsFunc(s.visibleCalls, func(d *mergedCall) bool {
			return slices.ContainsFunc(d.outputPaths(), p[1:].Overlaps)
		})
	})
}

// joinedPlanCondition joins the conditions that a Call had in Plans that ran directly. It is nil if the result does not
// separate the instances.
func (h *hardener) joinedPlanCondition(s *conditionSearch) *callCondition {
	var whenSchemas, unlessSchemas []any
	for n, r := range h.instances {
		plan, hasPlan := r.directPlan()
		if !hasPlan {
			return nil
		}
		ownCondition := s.conditionInPlan(plan)
		switch planWhen := plan.Source["when"]; {
		case s.search.Samples[n].IsInClass:
			whenSchemas = addSchema(whenSchemas, allOfSchemas(planWhen, ownCondition.When))
		case ownCondition.When != nil:
			unlessSchemas = addSchema(unlessSchemas, allOfSchemas(planWhen, ownCondition.Unless))
		default:
			unlessSchemas = addSchema(unlessSchemas, planWhen)
		}
	}
	if len(whenSchemas) == 0 || len(unlessSchemas) == 0 {
		return nil
	}
	joinedCondition := &callCondition{Condition: refexpr.Condition{When: joinSchemas("anyOf", whenSchemas),
		Unless: joinSchemas("anyOf", unlessSchemas)},
		conditionText: "the Plan that it ran by says so", appliesByInstance: s.inClassByInstance(h.instances)}
	readPaths := joinedCondition.PathsRead(ideafile.TypeState)
	for n := range readPaths {
		readPaths[n] = append(jsonval.Path{ideafile.TypeState}, readPaths[n]...)
	}
	joinedCondition.readsOnlyStart = s.readsOnlyStart(readPaths)
	for _, sample := range s.search.Samples {
		if (joinedCondition.Decide(sample.View) == refexpr.Do) != sample.IsInClass ||
			joinedCondition.Decide(sample.View) == refexpr.VerdictUndecided {
			return nil
		}
	}
	h.addNote("kept: %s runs where the processes' own Plans say so", s.call)
	return joinedCondition
}

// conditionInPlan is the condition that the Call has in a Plan.
func (s *conditionSearch) conditionInPlan(plan ideafile.Message) refexpr.Condition {
	for _, w := range plan.PlanCalls {
		rawCall := w.RawObject()
		if s.call.matchesRawCall(rawCall) {
			return conditionOf(rawCall)
		}
	}
	return refexpr.Condition{}
}

// matchesRawCall reports whether a Call of a Plan is this one, apart from its condition.
func (c *mergedCall) matchesRawCall(rawCall jsonval.Object) bool {
	return jsonval.EqualNumerically(withoutCondition(rawCall), c.rawCall)
}

// conditionOf is the condition that is written in a Call.
func conditionOf(rawCall jsonval.Object) refexpr.Condition {
	return refexpr.Condition{When: rawCall[ideafile.WhenKey], Unless: rawCall[ideafile.UnlessKey]}
}

func withoutCondition(rawCall jsonval.Object) jsonval.Object {
	return jsonval.WithoutKey(rawCall, ideafile.WhenKey, ideafile.UnlessKey)
}

func allOfSchemas(a, b any) any { return joinSchemas("allOf", addSchema(addSchema(nil, a), b)) }

// addSchema appends a JSON Schema to a list, unless it is empty or already there.
func addSchema(schemas []any, schema any) []any {
	if schema == nil || jsonval.ContainsValue(schemas, schema) {
		return schemas
	}
	return append(schemas, schema)
}

// joinSchemas combines JSON Schemas by a keyword, allOf or anyOf; nil if there are none.
func joinSchemas(keyword string, schemas []any) any {
	switch len(schemas) {
	case 0:
		return nil
	case 1:
		return schemas[0]
	}
	return jsonval.Object{keyword: schemas}
}
