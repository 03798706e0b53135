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
	// ToIdea is the number of an Idea: what was done when it was made is kept; 0: nothing is kept.
	ToIdea int
	// Instance is the only instance to undo, if IsInstance is set.
	Instance   string
	IsInstance bool
	// CallID is the only Call to undo, with all Calls that read from it; empty: no such limit.
	CallID string
	// CallIDs are the only Calls to undo; empty: no such limit.
	CallIDs []string
	// Review is set if a person reviews each undo Call first. That person can say whether a Call of unknown outcome
	// took effect, so such Calls are undone too.
	Review bool
}

// Step undoes one Call.
type Step struct {
	CallID string         `json:"call"`
	Tool   string         `json:"tool"`
	Params jsonval.Object `json:"params"`
	// DelegateUndo takes the place of Tool and Params if the Call ran a process.
	DelegateUndo *DelegateUndo `json:"within,omitempty"`
	// After are the ids of the Calls that must be undone before. Process and Instance are those of the Call.
	After    []string `json:"-"`
	Process  string   `json:"-"`
	Instance string   `json:"-"`
	// Did is the Call to undo.
	Did *Call `json:"-"`
}

// NotUndone is a Call that is not undone, and the reason. Tool is the one that ran.
type NotUndone struct {
	CallID  string `json:"call"`
	Tool    string `json:"tool,omitempty"`
	Because string `json:"because"`
	Process string `json:"-"`
	Did     *Call  `json:"-"`
	// Reader is the Call for whose sake it is kept, and with whose name Because begins; nil: there is none.
	Reader *Call `json:"-"`
}

// DelegateToUndo returns the process that the Call ran, if what it did must be undone there; empty if there is none.
func (l NotUndone) DelegateToUndo() string {
	if l.Did.Method.Kind != ideafile.UndoProcess || l.Reader != nil || l.Did.UndoneBy+l.Did.DoneBefore != "" {
		return ""
	}
	return l.Did.Delegate
}

func newNotUndone(c *Call, why string) NotUndone {
	return NotUndone{c.ID, c.Tool, why, c.Process, c, nil}
}

// Plan is the Plan that undoes Calls.
type Plan struct {
	// Undo are the steps, in a possible order.
	Undo []Step `json:"undo"`
	// Cannot are the Calls that cannot be undone, Kept the Calls that are not undone for another reason.
	Cannot []NotUndone `json:"cannot"`
	Kept   []NotUndone `json:"kept"`
	// Withdrawn are the chosen Calls that had no effect outside State.
	Withdrawn []string `json:"withdrawn"`
	// Withdraw are the Withdrawn Calls from which no remaining Call read.
	Withdraw []string `json:"-"`
}

// EmptyPlan undoes nothing.
func EmptyPlan() Plan {
	return Plan{Undo: []Step{}, Cannot: []NotUndone{}, Kept: []NotUndone{}, Withdrawn: []string{}}
}

// DelegateUndo is the Plan that undoes what the delegate of a Call did.
type DelegateUndo struct {
	Process string `json:"process"`
	Plan
}

// FindTool finds the Tool that undoes a Call; nil if there is none.
type FindTool func(call Call, name string) *ideafile.Tool

// Invert makes the Plan that undoes the chosen Calls. state returns the current State of a Call's instance. It returns
// an error if a Call or an instance of the Choice does not exist or is not done.
func Invert(calls []Call, choice Choice, find FindTool, state func(Call) any) (Plan, error) {
	g := newGraph(calls)
	chosen, err := g.choose(choice)
	if err != nil {
		return Plan{}, err
	}
	p := EmptyPlan()
	steps := map[int]Step{}
	because := map[int]string{}
	for n := range g.calls {
		c := &g.calls[n]
		if !chosen[n] {
			continue
		}
		step, fate, why := invertCall(c, choice.Review, find, state)
		switch fate {
		case fateUndo:
			steps[n] = step
		case fateCannot:
			p.Cannot = append(p.Cannot, newNotUndone(c, why))
			because[n] = "reads from it and is not taken back"
		case fateKeep:
			if p.Kept = append(p.Kept, newNotUndone(c, why)); c.ReadIn+c.ReadByCaller != "" {
				because[n] = "reads from it and is not taken back"
			}
		default:
			p.Withdrawn = append(p.Withdrawn, c.ID)
		}
	}
	for n := range g.calls {
		if c := &g.calls[n]; !chosen[n] && c.UndoneBy == "" && leavesEffect(c) {
			because[n] = "reads from it and is not to be taken back"
		}
	}
	p.Withdraw = slices.Clone(p.Withdrawn)
	p.keepReadWrites(g, steps, because)
	p.order(g, steps)
	return p, nil
}

type fate int

const (
	fateNothing fate = iota
	fateUndo
	fateCannot
	fateKeep
)

// leavesEffect reports whether a Call may have had an effect outside State. A failed Call may have had one, in its
// delegate.
func leavesEffect(c *Call) bool {
	if c.DelegateUndo != nil {
		return len(c.DelegateUndo.Undo)+len(c.DelegateUndo.Cannot) > 0
	}
	return c.Method.Kind != ideafile.UndoNone && (c.Ran || isUnknown(c))
}

// isUnknown reports whether nobody knows if the Call took effect.
func isUnknown(c *Call) bool {
	return c.Status == ideafile.Running || c.Status == ideafile.Failed && ideafile.MayHaveTakenEffect(c.Fault)
}

// isDone reports whether a Call is done, or may have been. Undo Calls themselves are not undone.
func isDone(c *Call) bool {
	return !c.Key.IsUndo() && (c.Status == ideafile.Done || isUnknown(c) || c.failedWithin() ||
		c.DelegateUndo != nil && leavesEffect(c))
}

// invertCall decides how one Call is undone, or why it is not.
func invertCall(c *Call, isReviewed bool, find FindTool, state func(Call) any) (step Step, is fate, why string) {
	switch {
	case c.UndoneBy != "":
		return step, fateKeep, "it was taken back by " + c.UndoneBy
	case c.DoneBefore != "":
		return step, fateKeep,
			"it was done by " + c.DoneBefore + ", from which this process was forked: take it back there"
	case c.failedWithin():
		return step, fateKeep, "it failed in a process of its own, " + c.Delegate + ": take back there what that did"
	case !leavesEffect(c):
		return step, fateNothing, ""
	case c.Undoes != nil:
		return step, fateKeep, "it took " + c.Undoes.CallID + " of " + c.Undoes.Process +
			" back: what was taken back is not done again by an undo"
	case c.UndoneWith != "":
		return step, fateKeep, "it is taken back with " + c.UndoneWith
	case c.MustWait:
		return step, fateKeep, "its instance has ended: it is taken back when all instances have"
	case c.ReadIn != "":
		return step, fateKeep,
			c.ReadIn + " was forked from this process and reads from it: take back first what that did"
	case c.ReadByCaller != "":
		return step, fateKeep,
			c.ReadByCaller + " read what came from it: take back " + c.CallOfCaller + " instead"
	case c.DelegateUndo != nil && len(c.DelegateUndo.Cannot) > 0:
		l := c.DelegateUndo.Cannot[0]
		return step, fateCannot,
			"it ran " + c.Delegate + ", where " + l.Did.Name() + " cannot be taken back: " + l.Because
	case c.DelegateUndo != nil:
		return Step{CallID: c.ID, Tool: c.Tool, Params: jsonval.Object{}, DelegateUndo: c.DelegateUndo,
			Process: c.Process, Instance: c.Instance, Did: c}, fateUndo, ""
	case c.Method.Kind == ideafile.UndoProcess:
		return step, fateCannot, "it has a process of its own: take back " + c.Delegate
	case isUnknown(c) && !isReviewed:
		return step, fateCannot, "it is not known whether it took effect: a person must look and say"
	case c.Tool == "" && c.NotKnown != "":
		return step, fateCannot, "it is not known what ran: " + c.NotKnown
	case c.Method.Kind == ideafile.UndoNever:
		return step, fateCannot, "nothing takes " + c.Tool + " back"
	}
	tool := find(*c, c.Method.Tool)
	if tool == nil || tool.DelegateFile != "" {
		return step, fateCannot, "there is no tool " + c.Method.Tool + " that would take it back"
	}
	params, err := ParamsOf(*c, tool, state(*c))
	switch {
	case err != nil && c.Params == nil:
		return step, fateCannot, "its parameters are not known: " + c.NotKnown
	case err != nil:
		return step, fateCannot, err.Error()
	}
	step = Step{CallID: c.ID, Tool: tool.Name, Params: params, Process: c.Process, Instance: c.Instance, Did: c}
	return step, fateUndo, ""
}

// ParamsOf resolves the parameters of the undo Tool from the Call's result and parameters and the State of its
// instance. The error says what is missing or does not fit.
func ParamsOf(c Call, tool *ideafile.Tool, state any) (jsonval.Object, error) {
	of := jsonval.Object{ideafile.ResultKind: c.Result, ideafile.TypeState: state}
	if c.Params != nil {
		of[ideafile.ParamsKind] = c.Params
	}
	given := c.Method.Params
	if given == nil {
		given = jsonval.Object{}
	}
	v, err := refexpr.ResolveReferences(given, func(ref refexpr.Reference) (any, bool) {
		if _, known := of[ref.Kind]; !known {
			return nil, false
		}
		return refexpr.ValueOrBlobHandleAt(of[ref.Kind], ref.Path)
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

// choose lists the Calls of a Choice.
func (g *graph) choose(choice Choice) (map[int]bool, error) {
	chosen := map[int]bool{}
	if choice.CallID != "" {
		at, err := g.findDone(choice.CallID)
		if err != nil {
			return nil, err
		}
		visitFrom(g.readers, at, func(n int) { chosen[n] = isDone(&g.calls[n]) })
		return chosen, nil
	}
	known := !choice.IsInstance
	for n := range g.calls {
		c := &g.calls[n]
		mine := !choice.IsInstance || c.Instance == choice.Instance ||
			spelling.MatchesToken(choice.Instance, c.Instance)
		known = known || mine
		mine = mine && (choice.CallIDs == nil || slices.ContainsFunc(choice.CallIDs,
			func(id string) bool { return ideafile.CallIDInInstance(id, c.Instance) == c.ID }))
		if mine && isDone(c) && (choice.ToIdea == 0 || c.Idea > choice.ToIdea || c.Idea == 0) {
			chosen[n] = true
		}
	}
	if !known {
		return nil, fmt.Errorf("no instance %q has a Call", choice.Instance)
	}
	return chosen, nil
}

// findDone finds a Call that is done.
func (g *graph) findDone(id string) (int, error) {
	for n := range g.calls {
		c := &g.calls[n]
		switch {
		case c.ID != ideafile.CallIDInInstance(id, c.Instance):
			continue
		case c.Key.IsUndo():
			key, _ := ideafile.ParseCallKey(c.ID) // Key may number Requests differently
			return 0, approval.NothingDone(fmt.Sprintf(
				"Call %s takes %s back: what was taken back is not done again by an undo", c.Name(),
				key.Undone().ID(c.Instance)))
		}
		if !isDone(c) {
			return 0, approval.NothingDone(fmt.Sprintf("Call %s is not done: it is %s", c.Name(), c.Status))
		}
		return n, nil
	}
	var ids []string
	for n := range g.calls {
		ids = append(ids, g.calls[n].ID)
	}
	return 0, fmt.Errorf("there is no Call %s", id+diag.DidYouMeanOrListNames(id, ids))
}

// keepReadWrites keeps the Calls from which Calls that stay have read.
func (p *Plan) keepReadWrites(g *graph, steps map[int]Step, because map[int]string) {
	for reader := range g.calls {
		why, stays := because[reader]
		if !stays {
			continue
		}
		visitFrom(g.reads, reader, func(n int) {
			if n == reader {
				return
			}
			p.Withdraw = slices.DeleteFunc(p.Withdraw, func(id string) bool { return id == g.calls[n].ID })
			if _, ok := steps[n]; !ok {
				return
			}
			delete(steps, n)
			l := newNotUndone(&g.calls[n], g.calls[reader].Name()+" "+why)
			l.Reader = &g.calls[reader]
			p.Kept = append(p.Kept, l)
		})
	}
}

// order sorts the steps, instance by instance: a Call is undone before the Calls that it read from or came after;
// otherwise the latest first.
func (p *Plan) order(g *graph, steps map[int]Step) {
	var instances [][2]string
	of := map[[2]string][]int{}
	for n := range g.calls {
		if _, is := steps[n]; !is {
			continue
		}
		key := g.calls[n].place()
		if of[key] == nil {
			instances = append(instances, key)
		}
		of[key] = append(of[key], n)
	}
	for _, key := range instances {
		p.orderInstance(g, steps, of[key])
	}
}

func (p *Plan) orderInstance(g *graph, steps map[int]Step, open []int) {
	usedNumbers := map[int]bool{}
	for len(open) > 0 {
		at := len(open) - 1 // the records may give no order, but there must be one
		for k, n := range slices.Backward(open) {
			if !slices.ContainsFunc(g.nearestBehind(n, steps), func(m int) bool { return !usedNumbers[m] }) {
				at = k
				break
			}
		}
		n := open[at]
		open, usedNumbers[n] = slices.Delete(open, at, at+1), true
		step := steps[n]
		for _, m := range g.nearestBehind(n, steps) {
			if usedNumbers[m] {
				step.After = append(step.After, steps[m].CallID)
			}
		}
		p.Undo = append(p.Undo, step)
	}
}
