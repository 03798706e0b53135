package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
	"processidea/model/loop"
	"processidea/model/undo"
)

func (a *API) addUndoOperation() {
	addOperation(a, access.Steer, asStartOperation(newPostOperation(steeringTag, "undo-process",
		"/api/processes/{id}/undo",
		"Take back what a process did",
		"Starts a process that takes back what the Calls of another did, as their Tools say. The answer is its "+
			"Plan: what is taken back, what cannot be and why, and what stays because something reads it. A process "+
			"at work is paused first, takes back by itself before the answer, and goes on when it is resumed, or at "+
			"once where nothing is taken back; underWay: not all is taken back yet, waits: a person decides on these. "+
			"With dryRun nothing is done. 409 refused: the process is taken back "+
			"already, or not all of it could be."),
		undoResponse), a.serveUndo)
}

// undoResponse describes both statuses, so that both have the schema of the body.
var undoResponse = &huma.Response{Description: "What is, or would be, taken back, and the process that does it"}

type undoInput struct {
	ProcessTarget
	Body struct {
		_        struct{} `additionalProperties:"false"`
		To       int      `json:"to,omitempty" minimum:"1" doc:"keep what was done when the Idea of this number was made; absent: nothing"`
		Instance *string  `json:"instance,omitempty" doc:"only what was done in the instance of this token; absent: in all"`
		Call     string   `json:"call,omitempty" doc:"only what this Call did, and all that read from it"`
		As       string   `json:"as,omitempty" doc:"the id of the process that takes back; absent: ID-undo-1, or the next number; refused if the process is at work, because it takes back by itself"`
		DryRun   bool     `json:"dryRun,omitempty" doc:"say what would be taken back, and do nothing"`
		Review   bool     `json:"review,omitempty" doc:"each Call waits for a person, who has it run, answers it or rejects it"`
		Reason   string   `json:"reason,omitempty" doc:"why, for the record; a dry run needs none"`
	}
}

type undoOutput struct {
	Status   int
	Location string `header:"Location" doc:"the page of the process that takes back; absent of a dry run"`
	Body     client.UndoPlan
}

func (a *API) serveUndo(ctx context.Context, in *undoInput) (*undoOutput, error) {
	b := in.Body
	switch {
	case b.Call != "" && (b.To > 0 || b.Instance != nil):
		return nil, Unprocessable(
			"undo %s: call takes back one Call and all that read from it: leave out to and instance", in.ID)
	case !b.DryRun && b.Reason == "":
		return nil, Unprocessable("undo %s: reason is missing: say why, for the record", in.ID)
	}
	o := client.UndoOptions{Selection: undo.Selection{AfterIdeaNumber: b.To, CallID: b.Call}, UndoProcessID: b.As,
		ReviewsUndoCalls: b.Review}
	o.Actor.Reason = b.Reason
	if b.Instance != nil {
		o.Instance, o.HasInstance = *b.Instance, true
	}
	var confirmPlan func(*client.UndoPlan) bool
	if !b.DryRun {
		confirmPlan = func(*client.UndoPlan) bool { return true }
	}
	u, isStarted, err := a.Undo(ctx, in.ID, o, confirmPlan)
	if err == nil && !access.PersonFrom(ctx).May(access.Look) {
		hideParams(&u.Plan)
	}
	switch {
	case err != nil:
		return nil, err
	case !isStarted:
		return &undoOutput{Status: http.StatusOK, Body: *u}, nil
	}
	return &undoOutput{Status: http.StatusCreated, Location: processURL(u.UndoProcessID), Body: *u}, nil
}

// hideParams removes the parameters of undoing Calls, for a caller who may not look at what a process works on.
func hideParams(p *undo.Plan) {
	for n := range p.Steps {
		p.Steps[n].Params = map[string]any{}
		if delegateUndo := p.Steps[n].DelegateUndo; delegateUndo != nil {
			hideParams(&delegateUndo.Plan)
		}
	}
}

// Undo plans how to undo what a process did, and starts the undo if agree accepts the plan. A nil agree makes it a dry
// run.
func (a *API) Undo(ctx context.Context, processID string, o client.UndoOptions,
	confirmPlan func(*client.UndoPlan) bool) (
	u *client.UndoPlan, isStarted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.ActionTimeout)
	defer cancel()
	o.Tools, o.Actor.Name = a.Tools, access.PersonFrom(ctx).Name
	hasPaused := false
	if confirmPlan != nil {
		if hasPaused, err = a.Client.PauseForUndo(ctx, processID, o); hasPaused &&
			errors.Is(err, context.DeadlineExceeded) {
			err = &client.RefusedError{ProcessID: processID, Signal: approval.SteerUndo,
				Reason: loop.ErrUndoNotAtRest.Text,
				Code:   loop.ErrUndoNotAtRest.Code}
		}
		if err != nil {
			return nil, false, withPausedHint(err, hasPaused)
		}
	}
	if u, err = a.Client.PlanUndo(ctx, processID, o); err != nil {
		u = nil
	} else if isStarted = confirmPlan != nil && confirmPlan(u); isStarted {
		_, err = a.Client.StartUndo(ctx, u)
		a.NoteChange(u.UndoProcessID)
	}
	if hasPaused && (u == nil || u.IsEmpty() || client.IsUndoUnderWay(err)) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpUndoTimeout)
		defer cancel()
		err = withPausedHint(err, a.Client.ResumeWithoutUndo(ctx, processID, o) != nil)
		a.NoteChange(processID)
	}
	return u, isStarted && err == nil, err
}

// giveUpUndoTimeout bounds how long it may take to resume the process after an undo that took nothing back.
const giveUpUndoTimeout = 5 * time.Second

// withPausedHint adds to an error that the process stays paused.
func withPausedHint(err error, isPaused bool) error {
	if err != nil && isPaused {
		err = fmt.Errorf("%w; the process is paused now: resume it, or correct this", err)
	}
	return err
}
