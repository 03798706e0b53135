package ideafile

import (
	"slices"

	"processidea/model/jsonval"
)

// DirectPlans holds the Plans of a context that run directly, as indexes into the context, by the token of the instance
// that owns them.
type DirectPlans struct {
	messages                 []Message
	planIndexesByInstance    map[string][]int
	startedIndexesByInstance map[string][]int // the Plans that an earlier process began in an instance, by token
}

// FindDirectPlans returns the DirectPlans of a context.
func FindDirectPlans(context []Message) DirectPlans {
	d := DirectPlans{messages: context, planIndexesByInstance: map[string][]int{},
		startedIndexesByInstance: map[string][]int{}}
	for n, m := range context {
		if !m.IsDirectPlan() {
			continue
		}
		d.planIndexesByInstance[m.InstanceToken] = append(d.planIndexesByInstance[m.InstanceToken], n)
		//workflowcheck:ignore -- each by itself
		for token := range m.RecordedInstanceTokens() {
			d.startedIndexesByInstance[token] = append(d.startedIndexesByInstance[token], n)
		}
	}
	return d
}

// ChooseForInstance returns the position of an instance's Plan: the first that applies to its view, its own Plans
// before the shared ones, and a Plan before the Plan that it replaces. It returns -1 if none applies. isLLMForbidden
// then reports whether there are Plans for the instance and all are PlanStageComplete. A Plan that was begun in an
// earlier process stays the instance's, even if its Calls have changed the view.
func (d DirectPlans) ChooseForInstance(token string, view InstanceView) (planIndex int, isLLMForbidden bool) {
	planIndexes := d.planIndexesByInstance[token]
	if token != "" {
		planIndexes = append(slices.Clip(planIndexes), d.planIndexesByInstance[""]...)
	}
	isLLMForbidden = len(planIndexes) > 0
	for _, n := range slices.Backward(planIndexes) {
		if d.messages[n].CallIndexOffset > 0 && d.messages[n].PlanAppliesTo(view) {
			return n, false
		}
	}
	if startedIndexes := d.startedIndexesByInstance[token]; len(startedIndexes) == 1 &&
		slices.Contains(planIndexes, startedIndexes[0]) {
		return startedIndexes[0], false
	}
	for _, n := range planIndexes {
		if d.messages[n].PlanAppliesTo(view) {
			return n, false
		}
		isLLMForbidden = isLLMForbidden && d.messages[n].PlanStage == PlanStageComplete
	}
	return -1, isLLMForbidden
}

// IsLLMForbidden reports whether the LLM is never asked: each instance has direct Plans, and all are PlanStageComplete.
func (i *Idea) IsLLMForbidden() bool {
	planIndexesByInstance := FindDirectPlans(i.Context).planIndexesByInstance
	isUnplanned := func(token string) bool {
		return len(planIndexesByInstance[token])+len(planIndexesByInstance[""]) == 0
	}
	isOptimal := func(m Message) bool { return m.PlanStage == PlanStageOptimal }
	return !slices.ContainsFunc(i.Context, isOptimal) && !slices.ContainsFunc(i.InstanceTokens(), isUnplanned)
}

// NumberDirectPlans numbers the direct Plans among messages which people add to a context. Their Calls get numbers
// above those of all earlier direct Plans, so that none is mistaken for another, and they replace the earlier Plans.
func NumberDirectPlans(context []Message, newMessages []any) []any {
	lastCallIndex := 0
	for _, m := range context {
		if m.IsDirectPlan() {
			lastCallIndex = max(lastCallIndex, m.CallIndexOffset+len(m.PlanCalls))
		}
	}
	out := slices.Clone(newMessages)
	for n, raw := range newMessages {
		m, ok := ParseMessage(raw)
		if !ok || !m.IsDirectPlan() || m.CallIndexOffset > 0 {
			continue
		}
		lastCallIndex = max(lastCallIndex, 1)
		out[n] = jsonval.WithKey(m.Source, CallIndexOffsetKey, jsonval.ToJSONValue(lastCallIndex))
		lastCallIndex += len(m.PlanCalls)
	}
	return out
}

// UnansweredLatentCallIndexes lists the positions of the Plan's Calls whose results the LLM would have to write in an
// instance.
func UnansweredLatentCallIndexes(plan Message, instanceToken string, bindings ToolBindings) []int {
	var indexes []int
	callIDs := plan.RecordedCallIDs()
	for n, w := range plan.PlanCalls {
		isDone := callIDs != nil && plan.RecordedStatusByInstance(callIDs[n],
			[]string{instanceToken})[instanceToken] == CallDone
		if bindings[w.Tool].Kind == KindLatent && w.RawObject()["_output"] == nil && !isDone {
			indexes = append(indexes, n)
		}
	}
	return indexes
}

// DirectPlanCallsOfInstance returns the Calls, as written, of the Plan that runs an instance of an Idea without a
// Request; nil if none does.
func DirectPlanCallsOfInstance(source jsonval.Object, token string) []any {
	i, _ := ReadIdea(source)
	if i == nil {
		return nil
	}
	planIndex, _ := FindDirectPlans(i.Context).ChooseForInstance(token, InstanceViewOf(i.Context, token))
	if planIndex < 0 {
		return nil
	}
	return RawWrittenCalls(i.Context[planIndex].PlanCalls)
}
