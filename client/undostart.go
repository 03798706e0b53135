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

// undoIdea makes the Idea of the undoing process: a Plan for each instance, which never asks the LLM, with the Tools,
// policies and data of the original process. It is a fork of that process, so forgetting the original forgets it too.
// The results of its Calls are not written to State, where other values are.
func (u *Undoing) undoIdea(last jsonval.Object) jsonval.Object {
	meta := jsonval.AsObject(chain.Fork(last)["meta"]) // who started or changed the original may be excluded here too
	for _, k := range []string{"request", "template", protocol.UndoesMeta} {
		delete(meta, k)
	}
	meta[protocol.UndoesMeta] = jsonval.OverlayObject(jsonval.Object{"process": u.Process}, u.options.By.payload())
	config := jsonval.Object{}
	for _, k := range []string{"approval", "batch", "instanceName", "mcp"} {
		if v := jsonval.At(last, "config", k); v != nil {
			config[k] = v
		}
	}
	tools := jsonval.Object{}
	for name, tool := range jsonval.AsObject(jsonval.At(last, "schema", "tools")) {
		tools[name] = jsonval.WithoutKey(jsonval.AsObject(tool), "_outputPath", "_outputMethod")
	}
	files := jsonval.Object{}
	for n, s := range u.Undo {
		if s.DelegateUndo != nil {
			file := undoneFile(s.DelegateUndo.Process)
			files[file] = u.delegateIdeas[file]
			tools[delegateTool(n)] = jsonval.Object{"title": "take back " + s.DelegateUndo.Process, "_delegate": file}
		}
	}
	return jsonval.Object{"meta": meta, "config": config, "schema": jsonval.Object{"tools": tools},
		"context":             u.undoContext(),
		ideafile.DelegatesKey: jsonval.OverlayObject(last[ideafile.DelegatesKey], files)}
}

// delegateTool names the Tool of the nth step, which runs the Idea that undoes a process.
func delegateTool(n int) string { return fmt.Sprintf("~undo-%d", n+1) }

// undoContext returns the messages of the instances whose Calls are undone, and the Plans that undo them.
func (u *Undoing) undoContext() []any {
	var shared, own []any
	var order [][2]string
	steps := map[[2]string][]undo.Step{}
	for n, s := range u.Undo {
		if s.DelegateUndo != nil {
			s.Tool = delegateTool(n)
		}
		key := [2]string{s.Process, s.Instance}
		if steps[key] == nil {
			order = append(order, key)
		}
		steps[key] = append(steps[key], s)
	}
	for n, key := range order {
		i := u.of[key]
		for _, m := range i.Idea.Context {
			switch {
			case m.PayloadKind == "" || m.PayloadKind == ideafile.TypeState:
			case m.InstanceToken == "" && n == 0:
				shared = append(shared, m.Source)
			case m.InstanceToken == i.Token && i.Token != "":
				own = append(own, m.Source)
			}
		}
		state := jsonval.Object{"type": ideafile.TypeState, ideafile.TypeState: i.State}
		plan := jsonval.Object{"type": ideafile.TypePlan, "name": "undo", "stage": ideafile.StageComplete,
			"plan": u.stepCalls(steps[key])}
		if i.Token != "" {
			state["_instance"], plan["_instance"] = i.Token, i.Token
		}
		own = append(own, state, plan)
	}
	return append(shared, own...)
}

// stepCalls returns the undoing Calls of one instance.
func (u *Undoing) stepCalls(steps []undo.Step) []any {
	var calls []any
	index := map[string]int{}
	for n, s := range steps {
		index[s.CallID] = n + 1
		review := u.options.Review && s.DelegateUndo == nil // for a delegate, its own Calls are reviewed
		calls = append(calls,
			s.Call(func(id string) ideafile.CallKey { return ideafile.CallKey{Index: index[id]} }, review))
	}
	return calls
}

// PrepareUndo pauses a running process, and waits until none of its Calls runs: then all that it did is on record, and
// it can undo its Calls itself. paused is false if the process has ended, or was paused before; it is true even if its
// Calls did not end in time. GiveUpUndo resumes the process if the caller then orders no undo. The error is a
// *RefusedError if another process is undoing this one. A process that Temporal no longer knows counts as ended.
func (c *Client) PrepareUndo(ctx context.Context, id string, o UndoOptions) (paused bool, err error) {
	open, err := c.isOpen(ctx, id)
	if err != nil || !open {
		return false, c.checkNotUndone(ctx, id, err)
	}
	if o.As != "" {
		return false, undoesItselfError(id, o.As)
	}
	return c.Process(id).pauseAndWait(ctx, o.By)
}

// GiveUpUndo resumes a process that PrepareUndo paused, since nothing is undone.
func (c *Client) GiveUpUndo(ctx context.Context, id string, o UndoOptions) error {
	by := By{Name: o.By.Name, Reason: "nothing is taken back"}
	return c.Process(id).Resume(ctx, ideafile.Limits{}, by)
}

func undoesItselfError(id, as string) error {
	return undoRefused(id, "it is at work and takes back by itself, so it cannot be done as process "+as)
}

// IsUndoUnderWay reports whether a running process refused an undo, without an effect, because it is already undoing.
func IsUndoUnderWay(err error) bool {
	refused, is := errors.AsType[*RefusedError](err)
	return is && refused.Code == approval.CodeUndoUnderWay
}

func undoRefused(id, reason string) error {
	return &RefusedError{Process: id, Signal: approval.SteerUndo, Reason: reason}
}

// PlanUndo is Archive.Undo, and also finds out whether the process is running: then it may have no Idea yet.
func (c *Client) PlanUndo(ctx context.Context, id string, o UndoOptions) (u *Undoing, err error) {
	if o.AtWork, err = c.isOpen(ctx, id); err != nil {
		return nil, err
	}
	u, err = c.archive.Undo(ctx, id, o)
	if o.AtWork && errors.Is(err, ErrNotFound) && o.ToIdea == 0 {
		return &Undoing{Process: id, As: id, AtWork: true, Plan: undo.EmptyPlan()}, nil
	}
	return u, err
}

// checkNotUndone returns a *RefusedError if another process is undoing this one.
func (c *Client) checkNotUndone(ctx context.Context, id string, err error) error {
	if err != nil {
		return err
	}
	ids, _, err := c.archive.Chain(id).undoings(ctx)
	for _, as := range ids {
		open, err := c.isOpen(ctx, as)
		if err != nil {
			return err
		}
		if open {
			return undoRefused(id, as+" takes it back already: wait for its end")
		}
	}
	return err
}

// checkStepsNotUndone is checkNotUndone for the delegates that the steps undo.
func (c *Client) checkStepsNotUndone(ctx context.Context, steps []undo.Step, err error) error {
	for _, s := range steps {
		if s.DelegateUndo != nil {
			err = c.checkStepsNotUndone(ctx, s.DelegateUndo.Undo, c.checkNotUndone(ctx, s.DelegateUndo.Process, err))
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
// and has finished when StartUndo returns, unless u.UnderWay is set. The error is a *RefusedError if the process is not
// paused, if another one is undoing it, or if there is nothing to undo.
func (c *Client) StartUndo(ctx context.Context, u *Undoing) (*Process, error) {
	open, err := c.isOpen(ctx, u.Process)
	switch {
	case err != nil:
		return nil, err
	case u.IsNothing():
		return nil, undoRefused(u.Process, "there is nothing to take back; a dry run says why")
	case open:
		u.As = u.Process
		return c.Process(u.As), c.Process(u.As).Undo(ctx, u)
	}
	err = c.checkStepsNotUndone(ctx, u.Undo, c.checkNotUndone(ctx, u.Process, nil))
	if err == nil && u.undoNumber == 0 {
		err = c.archive.Chain(u.Process).chains.NameUndo(ctx, u.Process, u.As)
	}
	if err != nil {
		return nil, err
	}
	for {
		p, err := c.Start(ctx, StartOptions{ID: u.As, Idea: u.idea, By: u.options.By.Name, undoes: true})
		if err == nil && !p.Attached() || err != nil && !errors.Is(err, ErrOtherStart) {
			return p, err
		}
		open, isErr := c.isOpen(ctx, u.As)
		if isErr != nil || open && err == nil {
			return p, isErr // somebody else started the same undo just now
		}
		if open && u.undoNumber > 0 {
			return nil, undoRefused(u.Process, u.As+" takes it back already")
		}
		if u.undoNumber == 0 {
			return nil, u.idInUseError()
		}
		u.undoNumber++ // it was ended before it began
		u.As = undoID(u.Process, u.undoNumber)
	}
}

// Undo makes a paused process undo what Archive.Undo planned. It returns when that is done, or when u.UnderWay is set:
// the process is then still paused; Resume resumes it. The error is a *RefusedError if not everything could be undone.
func (p *Process) Undo(ctx context.Context, u *Undoing) (err error) {
	calls := slices.Clone(u.Withdrawn)
	for _, s := range u.Plan.Undo {
		calls = append(calls, s.CallID)
	}
	payload := u.options.By.payload()
	payload["calls"], payload[ideafile.UndoReviewKey] = jsonval.ToJSONValue(calls), u.options.Review
	began := time.Now()
	leave := func(ctx context.Context) bool {
		u.Waits = p.undoCallsThatWait(ctx, u)
		end, ends := ctx.Deadline()
		u.UnderWay = len(u.Waits) > 0 || u.options.Wait > 0 && time.Since(began) > u.options.Wait ||
			ends && time.Until(end) < 2*queryTimeout // the next query would be cut off
		return u.UnderWay
	}
	waited := p.pollUntil(ctx, func() (bool, error) { // it may not know yet that its delegates are idle
		_, err = p.steerUnless(ctx, approval.SteerUndo, payload, leave)
		refused, is := errors.AsType[*RefusedError](err)
		early := is && refused.Code == approval.CodeNotAtRest
		return !early || time.Since(began) > reportGrace, nil
	})
	if u.UnderWay {
		err = nil
	}
	return errors.Join(waited, err)
}

// undoCallsThatWait lists the Calls of the plan that wait for a person.
func (p *Process) undoCallsThatWait(ctx context.Context, u *Undoing) (ids []string) {
	waiting, _ := p.queryWaiting(ctx) // a process that does not answer is queried again
	for _, a := range waiting.Approvals {
		if slices.ContainsFunc(u.Plan.Undo, func(s undo.Step) bool {
			key, _ := ideafile.ParseCallKey(s.CallID)
			return key.Undo().ID(s.Instance) == a.CallID
		}) {
			ids = append(ids, a.CallID)
		}
	}
	return ids
}
