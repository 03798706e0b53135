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

// Choice selects the Calls to undo. Its zero value selects all done Calls.
type Choice struct {
	// AfterIdea is the number of an Idea: what was done when it was made is kept; 0: nothing is kept.
	AfterIdea int
	// Instance is the only instance to undo, if HasInstance is set.
	Instance    string
	HasInstance bool
	// CallID is the only Call to undo, with all Calls that read from it; empty: no such limit.
	CallID string
	// CallIDs are the only Calls to undo; empty: no such limit.
	CallIDs []string
	// RequiresReview is set if a person reviews each undo Call first. That person can say whether a Call of unknown outcome
	// took effect, so such Calls are undone too.
	RequiresReview bool
}

// Step undoes one Call.
type Step struct {
	CallID string         `json:"call"`
	Tool   string         `json:"tool"`
	Params jsonval.Object `json:"params"`
	// DelegateUndo takes the place of Tool and Params if the Call ran a process.
	DelegateUndo *DelegateUndo `json:"within,omitempty"`
	// AfterCallIDs are the ids of the Calls that must be undone before. Process and Instance are those of the Call.
	AfterCallIDs []string `json:"-"`
	ProcessID    string   `json:"-"`
	Instance     string   `json:"-"`
	// OriginalCall is the Call to undo.
	OriginalCall *Call `json:"-"`
}

// NotUndone is a Call that is not undone, and the reason. Tool is the one that ran.
type NotUndone struct {
	CallID       string `json:"call"`
	Tool         string `json:"tool,omitempty"`
	Reason       string `json:"because"`
	ProcessID    string `json:"-"`
	OriginalCall *Call  `json:"-"`
	// Reader is the Call for whose sake it is kept, and with whose name Because begins; nil: there is none.
	Reader *Call `json:"-"`
}

// DelegateToUndo returns the process that the Call ran, if what it did must be undone there; empty if there is none.
func (l NotUndone) DelegateToUndo() string {
	if l.OriginalCall.UndoMethod.Kind != ideafile.UndoByProcess || l.Reader != nil ||
		l.OriginalCall.UndoneByProcess+l.OriginalCall.RanByProcessID != "" {
		return ""
	}
	return l.OriginalCall.DelegateProcessID
}

func newNotUndone(c *Call, reason string) NotUndone {
	return NotUndone{c.ID, c.Tool, reason, c.ProcessID, c, nil}
}

// Plan is the Plan that undoes Calls.
type Plan struct {
	// Steps are the steps, in a possible order.
	Steps []Step `json:"undo"`
	// CannotUndo are the Calls that cannot be undone, Kept the Calls that are not undone for another reason.
	CannotUndo []NotUndone `json:"cannot"`
	KeptCalls  []NotUndone `json:"kept"`
	// WithdrawnCallIDs are the chosen Calls that had no effect outside State.
	WithdrawnCallIDs []string `json:"withdrawn"`
	// CallIDsToWithdraw are the Withdrawn Calls from which no remaining Call read.
	CallIDsToWithdraw []string `json:"-"`
}

// EmptyPlan undoes nothing.
func EmptyPlan() Plan {
	return Plan{Steps: []Step{}, CannotUndo: []NotUndone{}, KeptCalls: []NotUndone{}, WithdrawnCallIDs: []string{}}
}

// DelegateUndo is the Plan that undoes what the delegate of a Call did.
type DelegateUndo struct {
	ProcessID string `json:"process"`
	Plan
}

// ToolFinder finds the Tool that undoes a Call; nil if there is none.
type ToolFinder func(call Call, name string) *ideafile.Tool

// PlanUndo makes the Plan that undoes the chosen Calls. state returns the current State of a Call's instance. It
// returns an error if a Call or an instance of the Choice does not exist or is not done.
func PlanUndo(calls []Call, choice Choice, findTool ToolFinder, stateOf func(Call) any) (Plan, error) {
	g := newGraph(calls)
	isChosen, err := g.chooseCalls(choice)
	if err != nil {
		return Plan{}, err
	}
	p := EmptyPlan()
	stepByCallIndex := map[int]Step{}
	keepReasonByCallIndex := map[int]string{}
	for n := range g.calls {
		c := &g.calls[n]
		if !isChosen[n] {
			continue
		}
		step, decision, reason := decideUndo(c, choice.RequiresReview, findTool, stateOf)
		switch decision {
		case decisionUndo:
			stepByCallIndex[n] = step
		case decisionCannot:
			p.CannotUndo = append(p.CannotUndo, newNotUndone(c, reason))
			keepReasonByCallIndex[n] = "reads from it and is not taken back"
		case decisionKeep:
			if p.KeptCalls = append(p.KeptCalls, newNotUndone(c, reason)); c.ReadingForkID+c.ReadingCallOfCaller != "" {
				keepReasonByCallIndex[n] = "reads from it and is not taken back"
			}
		default:
			p.WithdrawnCallIDs = append(p.WithdrawnCallIDs, c.ID)
		}
	}
	for n := range g.calls {
		if c := &g.calls[n]; !isChosen[n] && c.UndoneByProcess == "" && leavesEffect(c) {
			keepReasonByCallIndex[n] = "reads from it and is not to be taken back"
		}
	}
	p.CallIDsToWithdraw = slices.Clone(p.WithdrawnCallIDs)
	p.keepCallsThatOthersRead(g, stepByCallIndex, keepReasonByCallIndex)
	p.orderSteps(g, stepByCallIndex)
	return p, nil
}

type undoDecision int

const (
	decisionNothing undoDecision = iota
	decisionUndo
	decisionCannot
	decisionKeep
)

// leavesEffect reports whether a Call may have had an effect outside State. A failed Call may have had one, in its
// delegate.
func leavesEffect(c *Call) bool {
	if c.DelegateUndo != nil {
		return len(c.DelegateUndo.Steps)+len(c.DelegateUndo.CannotUndo) > 0
	}
	return c.UndoMethod.Kind != ideafile.UndoNotNeeded && (c.RanSuccessfully || hasUnknownOutcome(c))
}

// hasUnknownOutcome reports whether nobody knows if the Call took effect.
func hasUnknownOutcome(c *Call) bool {
	return c.Status == ideafile.Running || c.Status == ideafile.Failed && ideafile.MayHaveTakenEffect(c.Fault)
}

// isDone reports whether a Call is done, or may have been. Undo Calls themselves are not undone.
func isDone(c *Call) bool {
	return !c.Key.IsUndo() && (c.Status == ideafile.Done || hasUnknownOutcome(c) || c.failedInDelegate() ||
		c.DelegateUndo != nil && leavesEffect(c))
}

// decideUndo decides how one Call is undone, or why it is not.
func decideUndo(c *Call, isReviewed bool, findTool ToolFinder,
	stateOf func(Call) any) (step Step, decision undoDecision, reason string) {
	switch {
	case c.UndoneByProcess != "":
		return step, decisionKeep, "it was taken back by " + c.UndoneByProcess
	case c.RanByProcessID != "":
		return step, decisionKeep,
			"it was done by " + c.RanByProcessID + ", from which this process was forked: take it back there"
	case c.failedInDelegate():
		return step, decisionKeep, "it failed in a process of its own, " + c.DelegateProcessID +
			": take back there what that did"
	case !leavesEffect(c):
		return step, decisionNothing, ""
	case c.Undoes != nil:
		return step, decisionKeep, "it took " + c.Undoes.CallID + " of " + c.Undoes.ProcessID +
			" back: what was taken back is not done again by an undo"
	case c.UndoneWithCallID != "":
		return step, decisionKeep, "it is taken back with " + c.UndoneWithCallID
	case c.MustWaitForOthers:
		return step, decisionKeep, "its instance has ended: it is taken back when all instances have"
	case c.ReadingForkID != "":
		return step, decisionKeep,
			c.ReadingForkID + " was forked from this process and reads from it: take back first what that did"
	case c.ReadingCallOfCaller != "":
		return step, decisionKeep,
			c.ReadingCallOfCaller + " read what came from it: take back " + c.CallOfCaller + " instead"
	case c.DelegateUndo != nil && len(c.DelegateUndo.CannotUndo) > 0:
		l := c.DelegateUndo.CannotUndo[0]
		return step, decisionCannot,
			"it ran " + c.DelegateProcessID + ", where " + l.OriginalCall.Name() + " cannot be taken back: " + l.Reason
	case c.DelegateUndo != nil:
		return Step{CallID: c.ID, Tool: c.Tool, Params: jsonval.Object{}, DelegateUndo: c.DelegateUndo,
			ProcessID: c.ProcessID, Instance: c.Instance, OriginalCall: c}, decisionUndo, ""
	case c.UndoMethod.Kind == ideafile.UndoByProcess:
		return step, decisionCannot, "it has a process of its own: take back " + c.DelegateProcessID
	case hasUnknownOutcome(c) && !isReviewed:
		return step, decisionCannot, "it is not known whether it took effect: a person must look and say"
	case c.Tool == "" && c.UnknownReason != "":
		return step, decisionCannot, "it is not known what ran: " + c.UnknownReason
	case c.UndoMethod.Kind == ideafile.UndoImpossible:
		return step, decisionCannot, "nothing takes " + c.Tool + " back"
	}
	tool := findTool(*c, c.UndoMethod.Tool)
	if tool == nil || tool.DelegateFile != "" {
		return step, decisionCannot, "there is no tool " + c.UndoMethod.Tool + " that would take it back"
	}
	params, err := ResolveUndoParams(*c, tool, stateOf(*c))
	switch {
	case err != nil && c.Params == nil:
		return step, decisionCannot, "its parameters are not known: " + c.UnknownReason
	case err != nil:
		return step, decisionCannot, err.Error()
	}
	step = Step{CallID: c.ID, Tool: tool.Name, Params: params, ProcessID: c.ProcessID, Instance: c.Instance,
		OriginalCall: c}
	return step, decisionUndo, ""
}

// ResolveUndoParams resolves the parameters of the undo Tool from the Call's result and parameters and the State of its
// instance. The error says what is missing or does not fit.
func ResolveUndoParams(c Call, tool *ideafile.Tool, state any) (jsonval.Object, error) {
	payloadByKind := jsonval.Object{ideafile.ResultKind: c.Result, ideafile.TypeState: state}
	if c.Params != nil {
		payloadByKind[ideafile.ParamsKind] = c.Params
	}
	template := c.UndoMethod.Params
	if template == nil {
		template = jsonval.Object{}
	}
	v, err := refexpr.ResolveReferences(template, func(ref refexpr.Reference) (any, bool) {
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

// chooseCalls lists the Calls of a Choice.
func (g *graph) chooseCalls(choice Choice) (map[int]bool, error) {
	isChosen := map[int]bool{}
	if choice.CallID != "" {
		callIndex, err := g.findDoneCallIndex(choice.CallID)
		if err != nil {
			return nil, err
		}
		visitReachable(g.readersByCall, callIndex, func(n int) { isChosen[n] = isDone(&g.calls[n]) })
		return isChosen, nil
	}
	foundInstance := !choice.HasInstance
	for n := range g.calls {
		c := &g.calls[n]
		matches := !choice.HasInstance || c.Instance == choice.Instance ||
			spelling.MatchesToken(choice.Instance, c.Instance)
		foundInstance = foundInstance || matches
		matches = matches && (choice.CallIDs == nil || slices.ContainsFunc(choice.CallIDs,
			func(id string) bool { return ideafile.CallIDWithExactToken(id, c.Instance) == c.ID }))
		if matches && isDone(c) && (choice.AfterIdea == 0 || c.IdeaNumber > choice.AfterIdea || c.IdeaNumber == 0) {
			isChosen[n] = true
		}
	}
	if !foundInstance {
		return nil, fmt.Errorf("no instance %q has a Call", choice.Instance)
	}
	return isChosen, nil
}

// findDoneCallIndex finds a Call that is done.
func (g *graph) findDoneCallIndex(id string) (int, error) {
	for n := range g.calls {
		c := &g.calls[n]
		switch {
		case c.ID != ideafile.CallIDWithExactToken(id, c.Instance):
			continue
		case c.Key.IsUndo():
			key, _ := ideafile.ParseCallKey(c.ID) // Key may number Requests differently
			return 0, approval.NothingDoneError(fmt.Sprintf(
				"Call %s takes %s back: what was taken back is not done again by an undo", c.Name(),
				key.OriginalKey().ID(c.Instance)))
		}
		if !isDone(c) {
			return 0, approval.NothingDoneError(fmt.Sprintf("Call %s is not done: it is %s", c.Name(), c.Status))
		}
		return n, nil
	}
	var ids []string
	for n := range g.calls {
		ids = append(ids, g.calls[n].ID)
	}
	return 0, fmt.Errorf("there is no Call %s", id+diag.DidYouMeanOrListNames(id, ids))
}

// keepCallsThatOthersRead keeps the Calls from which Calls that stay have read.
func (p *Plan) keepCallsThatOthersRead(g *graph, stepByCallIndex map[int]Step, keepReasonByCallIndex map[int]string) {
	for reader := range g.calls {
		reason, remains := keepReasonByCallIndex[reader]
		if !remains {
			continue
		}
		visitReachable(g.sourcesByCall, reader, func(n int) {
			if n == reader {
				return
			}
			p.CallIDsToWithdraw = slices.DeleteFunc(p.CallIDsToWithdraw, func(id string) bool {
				return id == g.calls[n].ID
			})
			if _, ok := stepByCallIndex[n]; !ok {
				return
			}
			delete(stepByCallIndex, n)
			l := newNotUndone(&g.calls[n], g.calls[reader].Name()+" "+reason)
			l.Reader = &g.calls[reader]
			p.KeptCalls = append(p.KeptCalls, l)
		})
	}
}

// orderSteps sorts the steps, instance by instance: a Call is undone before the Calls that it read from or came after;
// otherwise the latest first.
func (p *Plan) orderSteps(g *graph, stepByCallIndex map[int]Step) {
	var instances [][2]string
	callsByInstance := map[[2]string][]int{}
	for n := range g.calls {
		if _, exists := stepByCallIndex[n]; !exists {
			continue
		}
		key := g.calls[n].instanceKey()
		if callsByInstance[key] == nil {
			instances = append(instances, key)
		}
		callsByInstance[key] = append(callsByInstance[key], n)
	}
	for _, key := range instances {
		p.orderStepsOfInstance(g, stepByCallIndex, callsByInstance[key])
	}
}

func (p *Plan) orderStepsOfInstance(g *graph, stepByCallIndex map[int]Step, remaining []int) {
	isOrdered := map[int]bool{}
	for len(remaining) > 0 {
		position := len(remaining) - 1 // the records may give no order, but there must be one
		for k, n := range slices.Backward(remaining) {
			if !slices.ContainsFunc(g.nearestFollowers(n, stepByCallIndex), func(m int) bool { return !isOrdered[m] }) {
				position = k
				break
			}
		}
		n := remaining[position]
		remaining, isOrdered[n] = slices.Delete(remaining, position, position+1), true
		step := stepByCallIndex[n]
		for _, m := range g.nearestFollowers(n, stepByCallIndex) {
			if isOrdered[m] {
				step.AfterCallIDs = append(step.AfterCallIDs, stepByCallIndex[m].CallID)
			}
		}
		p.Steps = append(p.Steps, step)
	}
}
