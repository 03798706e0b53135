package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/undo"
)

func (a *API) addUndo() {
	operation(a, access.Start, starting(post(steering, "undo-process", "/api/processes/{id}/undo",
		"Take back what a process did",
		"Starts a process that takes back what the Calls of another did, as their Tools say, and answers with its "+
			"Plan: what is taken back, what cannot be and why, and what stays because something reads it. One at work is "+
			"paused first, takes back by itself before the answer, and goes on when it is resumed. With dryRun it "+
			"answers alone, and nothing is done. 409 refused: the process is taken back already, or not all could be."),
		undoResponse), a.undo)
}

// undoResponse is one for both statuses, so that both have the form of the body.
var undoResponse = &huma.Response{Description: "What is, or would be, taken back, and the process that does it"}

type undoInput struct {
	Target
	Body struct {
		_        struct{} `additionalProperties:"false"`
		To       int      `json:"to,omitempty" minimum:"1" doc:"leave what was done when the Idea of this number was made; absent: nothing"`
		Instance *string  `json:"instance,omitempty" doc:"only what was done in the instance of this token; absent: in all"`
		Call     string   `json:"call,omitempty" doc:"only what this Call did, and all that read from it"`
		DryRun   bool     `json:"dryRun,omitempty" doc:"say what would be taken back, and do nothing"`
		Reason   string   `json:"reason" minLength:"1" doc:"why, for the record"`
	}
}

type undoOutput struct {
	Status   int
	Location string `header:"Location" doc:"the page of the process that takes back; absent of a dry run"`
	Body     client.Undoing
}

func (a *API) undo(ctx context.Context, in *undoInput) (*undoOutput, error) {
	b := in.Body
	choice := undo.Choice{ToIdea: b.To, CallID: b.Call}
	if b.Instance != nil {
		choice.Instance, choice.IsInstance = *b.Instance, true
	}
	by := client.By{Name: access.From(ctx).Name, Reason: b.Reason}
	if !b.DryRun {
		if _, err := a.Client.PrepareUndo(ctx, in.ID, by); err != nil {
			return nil, err
		}
	}
	u, err := a.Client.Archive().Undo(ctx, in.ID, client.UndoOptions{
		Choice: choice, Tools: a.Tools, By: by,
	})
	if err != nil {
		return nil, err
	}
	if b.DryRun {
		return &undoOutput{Status: http.StatusOK, Body: *u}, nil
	}
	p, err := a.Client.StartUndo(ctx, u)
	if err != nil {
		return nil, err
	}
	a.Acted(p.ID())
	return &undoOutput{Status: http.StatusCreated, Location: pageOf(p.ID()), Body: *u}, nil
}
