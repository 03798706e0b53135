package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/undo"
	"processidea/protocol"
	"processidea/store/chain"
)

// newUndoIdea makes the Idea of the undoing process: a Plan for each instance, which never asks the LLM, with the
// Tools, policies and data of the original process. It is a fork of that process, so forgetting the original forgets it
// too. The results of its Calls are not written to State, where other values are.
func (u *UndoPlan) newUndoIdea(lastIdea jsonval.Object) jsonval.Object {
	// who started or changed the original may be excluded here too
	meta := jsonval.AsObject(chain.ForkedIdea(lastIdea)["meta"])
	for _, k := range []string{"request", "template", protocol.UndoesMetaKey} {
		delete(meta, k)
	}
	meta[protocol.UndoesMetaKey] = jsonval.OverlayObject(jsonval.Object{"process": u.ProcessID},
		u.options.Actor.payload())
	config := jsonval.Object{}
	for _, k := range []string{"approval", "batch", "instanceName", "mcp"} {
		if v := jsonval.Lookup(lastIdea, "config", k); v != nil {
			config[k] = v
		}
	}
	tools := jsonval.Object{}
	for name, tool := range jsonval.AsObject(jsonval.Lookup(lastIdea, "schema", "tools")) {
		tools[name] = jsonval.WithoutKey(jsonval.AsObject(tool), "_outputPath", "_outputMethod")
	}
	files := jsonval.Object{}
	for n, s := range u.Steps {
		if s.DelegateUndo != nil {
			fileKey := undoIdeaKey(s.DelegateUndo.ProcessID)
			files[fileKey] = u.delegateUndoIdeas[fileKey]
			tools[delegateUndoToolName(n)] = jsonval.Object{"title": "take back " + s.DelegateUndo.ProcessID,
				"_delegate": fileKey}
		}
	}
	return jsonval.Object{"meta": meta, "config": config, "schema": jsonval.Object{"tools": tools},
		"context":             u.undoIdeaMessages(),
		ideafile.DelegatesKey: jsonval.OverlayObject(lastIdea[ideafile.DelegatesKey], files)}
}

// delegateUndoToolName names the Tool of the nth step, which runs the Idea that undoes a process.
func delegateUndoToolName(stepIndex int) string { return fmt.Sprintf("~undo-%d", stepIndex+1) }

// undoIdeaMessages returns the messages of the instances whose Calls are undone, and the Plans that undo them.
func (u *UndoPlan) undoIdeaMessages() []any {
	var sharedMessages, instanceMessages []any
	var instanceKeys [][2]string
	stepsByInstance := map[[2]string][]undo.Step{}
	for n, s := range u.Steps {
		if s.DelegateUndo != nil {
			s.Tool = delegateUndoToolName(n)
		}
		key := [2]string{s.ProcessID, s.InstanceToken}
		if stepsByInstance[key] == nil {
			instanceKeys = append(instanceKeys, key)
		}
		stepsByInstance[key] = append(stepsByInstance[key], s)
	}
	for n, key := range instanceKeys {
		i := u.executedInstanceByKey[key]
		for _, m := range i.Idea.Context {
			switch {
			case m.PayloadKind == "" || m.PayloadKind == ideafile.TypeState:
			case m.InstanceToken == "" && n == 0:
				sharedMessages = append(sharedMessages, m.Source)
			case m.InstanceToken == i.Token && i.Token != "":
				instanceMessages = append(instanceMessages, m.Source)
			}
		}
		state := jsonval.Object{"type": ideafile.TypeState, ideafile.TypeState: i.State}
		plan := jsonval.Object{"type": ideafile.TypePlan, "name": "undo", "stage": ideafile.PlanStageComplete,
			"plan": u.stepCalls(stepsByInstance[key])}
		if i.Token != "" {
			state["_instance"], plan["_instance"] = i.Token, i.Token
		}
		instanceMessages = append(instanceMessages, state, plan)
	}
	return append(sharedMessages, instanceMessages...)
}

// stepCalls returns the undoing Calls of one instance.
func (u *UndoPlan) stepCalls(steps []undo.Step) []any {
	var calls []any
	indexByCall := map[string]int{}
	for n, s := range steps {
		indexByCall[s.CallID] = n + 1
		needsReview := u.options.ReviewsUndoCalls && s.DelegateUndo == nil // for a delegate, its own Calls are reviewed
		calls = append(calls,
			s.RawCall(func(id string) ideafile.CallKey { return ideafile.CallKey{Index: indexByCall[id]} },
				needsReview))
	}
	return calls
}

// PauseForUndo pauses a running process, and waits until none of its Calls runs: then all that it did is on record, and
// it can undo its Calls itself. hasPaused is false if the process has ended, or was paused before; it is true even if
// its Calls did not end in time. ResumeWithoutUndo resumes the process if the caller then orders no undo. The error is
// a
// *RefusedError if another process is undoing this one. A process that Temporal no longer knows counts as ended.
func (c *Client) PauseForUndo(ctx context.Context, id string, o UndoOptions) (hasPaused bool, err error) {
	isOpen, err := c.isOpen(ctx, id)
	if err != nil || !isOpen {
		return false, c.checkNotBeingUndone(ctx, id, err)
	}
	if o.UndoProcessID != "" {
		return false, undoesItselfError(id, o.UndoProcessID)
	}
	return c.Process(id).pauseAndWait(ctx, o.Actor)
}

// ResumeWithoutUndo resumes a process that PauseForUndo paused, since nothing is undone.
func (c *Client) ResumeWithoutUndo(ctx context.Context, id string, o UndoOptions) error {
	actor := Actor{Name: o.Actor.Name, Reason: "nothing is taken back"}
	return c.Process(id).Resume(ctx, ideafile.Limits{}, actor)
}

func undoesItselfError(id, undoProcessID string) error {
	return undoRefusedError(id,
		"it is at work and takes back by itself, so it cannot be done as process "+undoProcessID)
}

// IsUndoUnderWay reports whether a running process refused an undo, without an effect, because it is already undoing.
func IsUndoUnderWay(err error) bool {
	refused, isRefusal := errors.AsType[*RefusedError](err)
	return isRefusal && refused.Code == approval.CodeUndoUnderWay
}

func undoRefusedError(id, reason string) error {
	return &RefusedError{ProcessID: id, Signal: approval.SteerUndo, Reason: reason}
}

// PlanUndo is Archive.Undo, and also finds out whether the process is running: then it may have no Idea yet.
func (c *Client) PlanUndo(ctx context.Context, id string, o UndoOptions) (u *UndoPlan, err error) {
	if o.IsProcessOpen, err = c.isOpen(ctx, id); err != nil {
		return nil, err
	}
	u, err = c.archive.PlanUndo(ctx, id, o)
	if o.IsProcessOpen && errors.Is(err, ErrNotFound) && o.AfterIdeaNumber == 0 {
		return &UndoPlan{ProcessID: id, UndoProcessID: id, IsProcessOpen: true, Plan: undo.EmptyPlan()}, nil
	}
	return u, err
}

// checkNotBeingUndone returns a *RefusedError if another process is undoing this one.
func (c *Client) checkNotBeingUndone(ctx context.Context, id string, err error) error {
	if err != nil {
		return err
	}
	ids, _, err := c.archive.Chain(id).listUndoProcessIDs(ctx)
	for _, undoProcessID := range ids {
		isOpen, err := c.isOpen(ctx, undoProcessID)
		if err != nil {
			return err
		}
		if isOpen {
			return undoRefusedError(id, undoProcessID+" takes it back already: wait for its end")
		}
	}
	return err
}

// checkStepsNotBeingUndone is checkNotBeingUndone for the delegates that the steps undo.
func (c *Client) checkStepsNotBeingUndone(ctx context.Context, steps []undo.Step, err error) error {
	for _, s := range steps {
		if s.DelegateUndo != nil {
			err = c.checkStepsNotBeingUndone(ctx, s.DelegateUndo.Steps,
				c.checkNotBeingUndone(ctx, s.DelegateUndo.ProcessID, err))
		}
	}
	return err
}

// isOpen reports whether Temporal has a process that has not ended.
func (c *Client) isOpen(ctx context.Context, id string) (bool, error) {
	info, err := c.Process(id).describe(ctx)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && info.GetCloseTime() == nil, err
}

// StartUndo starts a process that undoes another, as Archive.Undo planned. A paused process undoes its Calls itself,
// and has finished when StartUndo returns, unless u.IsUnderWay is set. The error is a *RefusedError if the process is
// not paused, if another one is undoing it, or if there is nothing to undo.
func (c *Client) StartUndo(ctx context.Context, u *UndoPlan) (*Process, error) {
	isOpen, err := c.isOpen(ctx, u.ProcessID)
	switch {
	case err != nil:
		return nil, err
	case u.IsEmpty():
		return nil, undoRefusedError(u.ProcessID, "there is nothing to take back; a dry run says why")
	case isOpen:
		u.UndoProcessID = u.ProcessID
		return c.Process(u.UndoProcessID), c.Process(u.UndoProcessID).Undo(ctx, u)
	}
	err = c.checkStepsNotBeingUndone(ctx, u.Steps, c.checkNotBeingUndone(ctx, u.ProcessID, nil))
	if err == nil && u.undoNumber == 0 {
		err = c.archive.Chain(u.ProcessID).chainStore.RecordUndoingProcess(ctx, u.ProcessID, u.UndoProcessID)
	}
	if err != nil {
		return nil, err
	}
	for {
		p, err := c.Start(ctx, StartOptions{ID: u.UndoProcessID, Idea: u.undoIdea, StartedBy: u.options.Actor.Name,
			isUndo: true})
		if err == nil && !p.IsAttached() || err != nil && !errors.Is(err, ErrIDInUse) {
			return p, err
		}
		isOpen, openErr := c.isOpen(ctx, u.UndoProcessID)
		if openErr != nil || isOpen && err == nil {
			return p, openErr // somebody else started the same undo just now
		}
		if isOpen && u.undoNumber > 0 {
			return nil, undoRefusedError(u.ProcessID, u.UndoProcessID+" takes it back already")
		}
		if u.undoNumber == 0 {
			return nil, u.idInUseError()
		}
		u.undoNumber++ // it was ended before it began
		u.UndoProcessID = nthUndoProcessID(u.ProcessID, u.undoNumber)
	}
}

// Undo makes a paused process undo what Archive.Undo planned. It returns when that is done, or when u.IsUnderWay is
// set: the process is then still paused; Resume resumes it. The error is a *RefusedError if not everything could be
// undone.
func (p *Process) Undo(ctx context.Context, u *UndoPlan) (err error) {
	callIDs := slices.Clone(u.CallIDsWithoutOutsideEffect)
	for _, s := range u.Plan.Steps {
		callIDs = append(callIDs, s.CallID)
	}
	payload := u.options.Actor.payload()
	payload["calls"], payload[ideafile.UndoReviewKey] = jsonval.ToJSONValue(callIDs), u.options.ReviewsUndoCalls
	start := time.Now()
	shouldStop := func(ctx context.Context) bool {
		u.WaitingCallIDs = p.waitingUndoCallIDs(ctx, u)
		deadline, hasDeadline := ctx.Deadline()
		u.IsUnderWay = len(u.WaitingCallIDs) > 0 || u.options.WaitLimit > 0 &&
			time.Since(start) > u.options.WaitLimit ||
			hasDeadline && time.Until(deadline) < 2*queryTimeout // the next query would be cut off
		return u.IsUnderWay
	}
	waitErr := p.pollUntilDone(ctx, func() (bool, error) { // it may not know yet that its delegates are idle
		_, err = p.steerAndWaitUnlessStopped(ctx, approval.SteerUndo, payload, shouldStop)
		refused, isRefusal := errors.AsType[*RefusedError](err)
		isTooEarly := isRefusal && refused.Code == approval.CodeNotAtRest
		return !isTooEarly || time.Since(start) > instanceReportGrace, nil
	})
	if u.IsUnderWay {
		err = nil
	}
	return errors.Join(waitErr, err)
}

// waitingUndoCallIDs lists the Calls of the plan that wait for a person.
func (p *Process) waitingUndoCallIDs(ctx context.Context, u *UndoPlan) (ids []string) {
	waitingItems, _ := p.queryWaiting(ctx) // a process that does not answer is queried again
	for _, a := range waitingItems.Approvals {
		if slices.ContainsFunc(u.Plan.Steps, func(s undo.Step) bool {
			key, _ := ideafile.ParseCallKey(s.CallID)
			return key.UndoKey().ID(s.InstanceToken) == a.CallID
		}) {
			ids = append(ids, a.CallID)
		}
	}
	return ids
}
