package undo

import (
	"fmt"
	"slices"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// Selection selects the Calls to undo. Its zero value selects all done Calls.
type Selection struct {
	// AfterIdeaNumber is the number of an Idea: what was done when it was made is kept; 0: nothing is kept.
	AfterIdeaNumber int
	// Instance is the only instance to undo, if HasInstance is set.
	Instance    string
	HasInstance bool
	// CallID is the only Call to undo, with all Calls that read from it; empty: no such limit.
	CallID string
	// CallIDs are the only Calls to undo; empty: no such limit.
	CallIDs []string
	// RequiresReview is set if a person reviews each undo Call first. That person can say whether a Call of unknown
	// outcome took effect, so such Calls are undone too.
	RequiresReview bool
}

// Step undoes one Call.
type Step struct {
	CallID string         `json:"call"`
	Tool   string         `json:"tool"`
	Params jsonval.Object `json:"params"`
	// DelegateUndo takes the place of Tool and Params if the Call ran a process.
	DelegateUndo *DelegateUndo `json:"within,omitempty"`
	// AfterCallIDs are the ids of the Calls that must be undone before. ProcessID and Instance are those of the Call.
	AfterCallIDs  []string `json:"-"`
	ProcessID     string   `json:"-"`
	InstanceToken string   `json:"-"`
	// OriginalCall is the Call to undo.
	OriginalCall *Call `json:"-"`
}

// NotUndoneCall is a Call that is not undone, and the reason. Tool is the one that ran.
type NotUndoneCall struct {
	CallID       string `json:"call"`
	Tool         string `json:"tool,omitempty"`
	Reason       string `json:"because"`
	ProcessID    string `json:"-"`
	OriginalCall *Call  `json:"-"`
	// RemainingReader is the Call for whose sake it is kept, and with whose name Reason begins; nil: there is none.
	RemainingReader *Call `json:"-"`
}

// DelegateProcessIDToUndo returns the process that the Call ran, if what it did must be undone there; empty if there is
// none.
func (l NotUndoneCall) DelegateProcessIDToUndo() string {
	if l.OriginalCall.UndoMethod.Kind != ideafile.UndoByProcess || l.RemainingReader != nil ||
		l.OriginalCall.UndoneByProcessID+l.OriginalCall.RanByProcessID != "" {
		return ""
	}
	return l.OriginalCall.DelegateProcessID
}

func newNotUndoneCall(c *Call, reason string) NotUndoneCall {
	return NotUndoneCall{c.ID, c.Tool, reason, c.ProcessID, c, nil}
}

// Plan is the Plan that undoes Calls.
type Plan struct {
	// Steps are the steps, in a possible order.
	Steps []Step `json:"undo"`
	// IrreversibleCalls are the Calls that cannot be undone, Kept the Calls that are not undone for another reason.
	IrreversibleCalls []NotUndoneCall `json:"cannot"`
	KeptCalls         []NotUndoneCall `json:"kept"`
	// CallIDsWithoutOutsideEffect are the chosen Calls that had no effect outside State.
	CallIDsWithoutOutsideEffect []string `json:"withdrawn"`
	// CallIDsToWithdraw are the Withdrawn Calls from which no remaining Call read.
	CallIDsToWithdraw []string `json:"-"`
}

// EmptyPlan undoes nothing.
func EmptyPlan() Plan {
	return Plan{Steps: []Step{}, IrreversibleCalls: []NotUndoneCall{}, KeptCalls: []NotUndoneCall{},
		CallIDsWithoutOutsideEffect: []string{}}
}

// DelegateUndo is the Plan that undoes what the delegate of a Call did.
type DelegateUndo struct {
	ProcessID string `json:"process"`
	Plan
}

// UndoToolFinder finds the Tool that undoes a Call; nil if there is none.
type UndoToolFinder func(call Call, name string) *ideafile.Tool

// PlanUndo makes the Plan that undoes the chosen Calls. stateOf returns the current State of a Call's instance. It
// returns an error if a Call or an instance of the Selection does not exist or is not done.
func PlanUndo(calls []Call, choice Selection, findTool UndoToolFinder, stateOf func(Call) any) (Plan, error) {
	g := newCallGraph(calls)
	isChosen, err := g.chooseCalls(choice)
	if err != nil {
		return Plan{}, err
	}
	p := EmptyPlan()
	stepByCallIndex := map[int]Step{}
	keepReasonByReaderIndex := map[int]string{}
	for n := range g.calls {
		c := &g.calls[n]
		if !isChosen[n] {
			continue
		}
		step, decision, reason := decideUndo(c, choice.RequiresReview, findTool, stateOf)
		switch decision {
		case decisionUndo:
			stepByCallIndex[n] = step
		case decisionIrreversible:
			p.IrreversibleCalls = append(p.IrreversibleCalls, newNotUndoneCall(c, reason))
			keepReasonByReaderIndex[n] = "reads from it and is not taken back"
		case decisionKeep:
			if p.KeptCalls = append(p.KeptCalls, newNotUndoneCall(c,
				reason)); c.ReadingForkID+c.ReadingCallerCallName != "" {
				keepReasonByReaderIndex[n] = "reads from it and is not taken back"
			}
		default:
			p.CallIDsWithoutOutsideEffect = append(p.CallIDsWithoutOutsideEffect, c.ID)
		}
	}
	for n := range g.calls {
		if c := &g.calls[n]; !isChosen[n] && c.UndoneByProcessID == "" && mayHaveOutsideEffect(c) {
			keepReasonByReaderIndex[n] = "reads from it and is not to be taken back"
		}
	}
	p.CallIDsToWithdraw = slices.Clone(p.CallIDsWithoutOutsideEffect)
	p.keepCallsThatOthersRead(g, stepByCallIndex, keepReasonByReaderIndex)
	p.orderSteps(g, stepByCallIndex)
	return p, nil
}

type undoDecision int

const (
	decisionNoOutsideEffect undoDecision = iota
	decisionUndo
	decisionIrreversible
	decisionKeep
)

// mayHaveOutsideEffect reports whether a Call may have had an effect outside State. A failed Call may have had one, in
// its delegate.
func mayHaveOutsideEffect(c *Call) bool {
	if c.DelegateUndo != nil {
		return len(c.DelegateUndo.Steps)+len(c.DelegateUndo.IrreversibleCalls) > 0
	}
	return c.UndoMethod.Kind != ideafile.UndoNotNeeded && (c.RanSuccessfully || hasUnknownOutcome(c))
}

// hasUnknownOutcome reports whether nobody knows if the Call took effect.
func hasUnknownOutcome(c *Call) bool {
	return c.Status == ideafile.CallRunning || c.Status == ideafile.CallFailed && ideafile.MayHaveTakenEffect(c.Fault)
}

// isUndoCandidate reports whether a Call is done, or may have been. Undo Calls themselves are not undone.
func isUndoCandidate(c *Call) bool {
	return !c.Key.IsUndo() && (c.Status == ideafile.CallDone || hasUnknownOutcome(c) || c.hasFailedInDelegate() ||
		c.DelegateUndo != nil && mayHaveOutsideEffect(c))
}

// decideUndo decides how one Call is undone, or why it is not.
func decideUndo(c *Call, requiresReview bool, findTool UndoToolFinder,
	stateOf func(Call) any) (step Step, decision undoDecision, reason string) {
	switch {
	case c.UndoneByProcessID != "":
		return step, decisionKeep, "it was taken back by " + c.UndoneByProcessID
	case c.RanByProcessID != "":
		return step, decisionKeep,
			"it was done by " + c.RanByProcessID + ", from which this process was forked: take it back there"
	case c.hasFailedInDelegate():
		return step, decisionKeep, "it failed in a process of its own, " + c.DelegateProcessID +
			": take back there what that did"
	case !mayHaveOutsideEffect(c):
		return step, decisionNoOutsideEffect, ""
	case c.Undoes != nil:
		return step, decisionKeep, "it took " + c.Undoes.CallID + " of " + c.Undoes.ProcessID +
			" back: what was taken back is not done again by an undo"
	case c.UndoneWithCallID != "":
		return step, decisionKeep, "it is taken back with " + c.UndoneWithCallID
	case c.MustWaitForOtherInstances:
		return step, decisionKeep, "its instance has ended: it is taken back when all instances have"
	case c.ReadingForkID != "":
		return step, decisionKeep,
			c.ReadingForkID + " was forked from this process and reads from it: take back first what that did"
	case c.ReadingCallerCallName != "":
		return step, decisionKeep,
			c.ReadingCallerCallName + " read what came from it: take back " + c.CallerCallName + " instead"
	case c.DelegateUndo != nil && len(c.DelegateUndo.IrreversibleCalls) > 0:
		l := c.DelegateUndo.IrreversibleCalls[0]
		return step, decisionIrreversible,
			"it ran " + c.DelegateProcessID + ", where " + l.OriginalCall.Name() + " cannot be taken back: " + l.Reason
	case c.DelegateUndo != nil:
		return Step{CallID: c.ID, Tool: c.Tool, Params: jsonval.Object{}, DelegateUndo: c.DelegateUndo,
			ProcessID: c.ProcessID, InstanceToken: c.InstanceToken, OriginalCall: c}, decisionUndo, ""
	case c.UndoMethod.Kind == ideafile.UndoByProcess:
		return step, decisionIrreversible, "it has a process of its own: take back " + c.DelegateProcessID
	case hasUnknownOutcome(c) && !requiresReview:
		return step, decisionIrreversible, "it is not known whether it took effect: a person must look and say"
	case c.Tool == "" && c.ToolOrParamsUnknownReason != "":
		return step, decisionIrreversible, "it is not known what ran: " + c.ToolOrParamsUnknownReason
	case c.UndoMethod.Kind == ideafile.UndoImpossible:
		return step, decisionIrreversible, "nothing takes " + c.Tool + " back"
	}
	tool := findTool(*c, c.UndoMethod.Tool)
	if tool == nil || tool.DelegateFile != "" {
		return step, decisionIrreversible, "there is no tool " + c.UndoMethod.Tool + " that would take it back"
	}
	params, err := ResolveUndoParams(*c, tool, stateOf(*c))
	switch {
	case err != nil && c.Params == nil:
		return step, decisionIrreversible, "its parameters are not known: " + c.ToolOrParamsUnknownReason
	case err != nil:
		return step, decisionIrreversible, err.Error()
	}
	step = Step{CallID: c.ID, Tool: tool.Name, Params: params, ProcessID: c.ProcessID, InstanceToken: c.InstanceToken,
		OriginalCall: c}
	return step, decisionUndo, ""
}

// ResolveUndoParams resolves the parameters of the undo Tool from the Call's result and parameters and the State of its
// instance. The error says what is missing or does not fit.
func ResolveUndoParams(c Call, tool *ideafile.Tool, state any) (jsonval.Object, error) {
	payloadByKind := jsonval.Object{ideafile.ResultReferenceKind: c.Result, ideafile.TypeState: state}
	if c.Params != nil {
		payloadByKind[ideafile.ParamsReferenceKind] = c.Params
	}
	paramsTemplate := c.UndoMethod.Params
	if paramsTemplate == nil {
		paramsTemplate = jsonval.Object{}
	}
	v, err := refexpr.ResolveReferences(paramsTemplate, func(ref refexpr.Reference) (any, bool) {
		if _, isKnown := payloadByKind[ref.Kind]; !isKnown {
			return nil, false
		}
		return refexpr.ValueOrBlobHandleAt(payloadByKind[ref.Kind], ref.Path)
	})
	params := jsonval.AsObject(v)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be given what it needs: %s", tool.Name, diag.WithoutPackagePrefix(err))
	}
	for name, v := range jsonval.Sorted(tool.SchemaByParam) {
		schema := v
		if value, ok := params[name]; ok && !jsonval.ContainsBlobHandle(value) {
			if err := schema.Validate(value); err != nil {
				return nil, fmt.Errorf("%s does not take the parameter %q: %s", tool.Name, name,
					diag.WithoutPackagePrefix(err))
			}
		}
	}
	return params, nil
}

// chooseCalls lists the Calls of a Selection.
func (g *callGraph) chooseCalls(choice Selection) (map[int]bool, error) {
	isChosen := map[int]bool{}
	if choice.CallID != "" {
		callIndex, err := g.findDoneCallIndex(choice.CallID)
		if err != nil {
			return nil, err
		}
		visitReachable(g.readerIndexesByCall, callIndex, func(n int) { isChosen[n] = isUndoCandidate(&g.calls[n]) })
		return isChosen, nil
	}
	hasFoundInstance := !choice.HasInstance
	for n := range g.calls {
		c := &g.calls[n]
		matches := !choice.HasInstance || c.InstanceToken == choice.Instance ||
			spelling.MatchesInstanceToken(choice.Instance, c.InstanceToken)
		hasFoundInstance = hasFoundInstance || matches
		matches = matches && (choice.CallIDs == nil || slices.ContainsFunc(choice.CallIDs,
			func(id string) bool { return ideafile.CallIDWithExactToken(id, c.InstanceToken) == c.ID }))
		if matches && isUndoCandidate(c) && (choice.AfterIdeaNumber == 0 ||
			c.FirstDoneIdeaNumber > choice.AfterIdeaNumber ||
			c.FirstDoneIdeaNumber == 0) {
			isChosen[n] = true
		}
	}
	if !hasFoundInstance {
		return nil, fmt.Errorf("no instance %q has a Call", choice.Instance)
	}
	return isChosen, nil
}

// findDoneCallIndex finds a Call that is done.
func (g *callGraph) findDoneCallIndex(callID string) (int, error) {
	for n := range g.calls {
		c := &g.calls[n]
		switch {
		case c.ID != ideafile.CallIDWithExactToken(callID, c.InstanceToken):
			continue
		case c.Key.IsUndo():
			key, _ := ideafile.ParseCallKey(c.ID) // Key may number Requests differently
			return 0, approval.NothingToDoError(fmt.Sprintf(
				"Call %s takes %s back: what was taken back is not done again by an undo", c.Name(),
				key.OriginalKey().ID(c.InstanceToken)))
		}
		if !isUndoCandidate(c) {
			return 0, approval.NothingToDoError(fmt.Sprintf("Call %s is not done: it is %s", c.Name(), c.Status))
		}
		return n, nil
	}
	var ids []string
	for n := range g.calls {
		ids = append(ids, g.calls[n].ID)
	}
	return 0, fmt.Errorf("there is no Call %s", callID+diag.DidYouMeanOrListNames(callID, ids))
}

// keepCallsThatOthersRead keeps the Calls from which Calls that stay have read.
func (p *Plan) keepCallsThatOthersRead(g *callGraph, stepByCallIndex map[int]Step,
	keepReasonByReaderIndex map[int]string) {
	for readerIndex := range g.calls {
		reason, remains := keepReasonByReaderIndex[readerIndex]
		if !remains {
			continue
		}
		visitReachable(g.sourceIndexesByCall, readerIndex, func(n int) {
			if n == readerIndex {
				return
			}
			p.CallIDsToWithdraw = slices.DeleteFunc(p.CallIDsToWithdraw, func(id string) bool {
				return id == g.calls[n].ID
			})
			if _, ok := stepByCallIndex[n]; !ok {
				return
			}
			delete(stepByCallIndex, n)
			l := newNotUndoneCall(&g.calls[n], g.calls[readerIndex].Name()+" "+reason)
			l.RemainingReader = &g.calls[readerIndex]
			p.KeptCalls = append(p.KeptCalls, l)
		})
	}
}

// orderSteps sorts the steps, instance by instance: a Call is undone before the Calls that it read from or came after;
// otherwise the latest first.
func (p *Plan) orderSteps(g *callGraph, stepByCallIndex map[int]Step) {
	var instanceKeys [][2]string
	callIndexesByInstance := map[[2]string][]int{}
	for n := range g.calls {
		if _, exists := stepByCallIndex[n]; !exists {
			continue
		}
		instanceKey := g.calls[n].instanceKey()
		if callIndexesByInstance[instanceKey] == nil {
			instanceKeys = append(instanceKeys, instanceKey)
		}
		callIndexesByInstance[instanceKey] = append(callIndexesByInstance[instanceKey], n)
	}
	for _, instanceKey := range instanceKeys {
		p.orderStepsOfInstance(g, stepByCallIndex, callIndexesByInstance[instanceKey])
	}
}

func (p *Plan) orderStepsOfInstance(g *callGraph, stepByCallIndex map[int]Step, remainingIndexes []int) {
	isOrdered := map[int]bool{}
	for len(remainingIndexes) > 0 {
		position := len(remainingIndexes) - 1 // the records may give no order, but there must be one
		for k, n := range slices.Backward(remainingIndexes) {
			if !slices.ContainsFunc(g.nearestFollowerIndexes(n, stepByCallIndex),
				func(m int) bool { return !isOrdered[m] }) {
				position = k
				break
			}
		}
		n := remainingIndexes[position]
		remainingIndexes, isOrdered[n] = slices.Delete(remainingIndexes, position, position+1), true
		step := stepByCallIndex[n]
		for _, m := range g.nearestFollowerIndexes(n, stepByCallIndex) {
			if isOrdered[m] {
				step.AfterCallIDs = append(step.AfterCallIDs, stepByCallIndex[m].CallID)
			}
		}
		p.Steps = append(p.Steps, step)
	}
}
