package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"processidea/client/schedules"
	"processidea/gateway/access"
	"processidea/model/jsonval"
)

func (a *API) addScheduleOperations() {
	const tag, listPath, schedulePath = "schedules", "/api/schedules", "/api/schedules/{id}"
	newChangeOperation := func(id, path, summary, description string) huma.Operation {
		op := newPostOperation(tag, id, path, summary, description)
		op.DefaultStatus = http.StatusNoContent
		return op
	}
	makeOperation := newPostOperation(tag, "make-schedule", listPath, "Make a schedule",
		"Has Temporal start a process by the clock. The schedule holds all that its processes start from.")
	makeOperation.DefaultStatus, makeOperation.MaxBodyBytes, makeOperation.Errors = http.StatusCreated,
		maxIdeaBodyBytes,
		[]int{http.StatusConflict}
	addOperation(a, access.Start, makeOperation, a.makeSchedule)
	addGet(a, tag, "list-schedules", listPath, "List schedules",
		"Lists the schedules that start processes, by their ids. What was done a moment ago may be missing.",
		func(ctx context.Context, _ *struct{}) (list ScheduleList, err error) {
			list.Schedules, err = sharedAnswer(ctx, a, "schedules", schedules.ForClient(a.Client).List)
			return list, err
		})
	addGet(a, tag, "get-schedule", schedulePath, "See how a schedule stands",
		"Tells when a schedule starts processes, whether it is paused, what comes next, and what it started last.",
		func(ctx context.Context, in *ScheduleTarget) (*schedules.Schedule, error) {
			return schedules.ForClient(a.Client).Find(ctx, in.ID)
		})
	addOperation(a, access.Steer, newChangeOperation("pause-schedule", schedulePath+"/pause", "Pause a schedule",
		"Has a schedule start nothing. What it has started goes on."),
		a.changeScheduleHandler((*schedules.Schedules).Pause))
	addOperation(a, access.Steer, newChangeOperation("resume-schedule", schedulePath+"/resume",
		"Let a paused schedule go on",
		"Has a paused schedule start processes again. Times that have passed are not made up for."),
		a.changeScheduleHandler((*schedules.Schedules).Resume))
	addOperation(a, access.Start, newChangeOperation("start-scheduled", schedulePath+"/now",
		"Start a process of a schedule at once",
		"Starts one more process, besides those at its times."), a.startScheduled)
	endOperation := newChangeOperation("end-schedule", schedulePath, "Remove a schedule",
		"Removes a schedule. What it has started goes on.")
	endOperation.Method = http.MethodDelete
	addOperation(a, access.Steer, endOperation, a.endSchedule)
}

type scheduleBody struct {
	_ struct{} `additionalProperties:"false"`
	schedules.Options
	ID      string `json:"id" maxLength:"179" doc:"names the schedule; its processes are named after it and the time"`
	Every   string `json:"every,omitempty" doc:"in place of cron: how long from one start to the next" example:"12h"`
	CatchUp string `json:"catchUp,omitempty" doc:"how late a missed start may still happen; absent: a year" example:"10m"`
}

func (b *scheduleBody) toOptions() (o schedules.Options, err error) {
	o = b.Options
	o.ID = b.ID
	if o.Every, err = readDuration("body.every", b.Every); err == nil {
		o.CatchUpWindow, err = readDuration("body.catchUp", b.CatchUp)
	}
	return o, err
}

func readDuration(requestPath, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := jsonval.ParseDuration(text)
	if err != nil {
		return 0, invalidAt(requestPath, err)
	}
	return d, nil
}

type scheduleOutput struct {
	Location string `header:"Location" doc:"the schedule's page"`
	Body     *schedules.Schedule
}

func (a *API) makeSchedule(ctx context.Context, in *struct{ Body scheduleBody }) (*scheduleOutput, error) {
	o, err := in.Body.toOptions()
	if err != nil {
		return nil, err
	}
	o.StartedBy = access.PersonFrom(ctx).Name
	err = schedules.ForClient(a.Client).Create(ctx, o)
	a.answers.forgetAnswers()
	if err != nil {
		return nil, err
	}
	schedule, err := schedules.ForClient(a.Client).Find(ctx, o.ID)
	return &scheduleOutput{"/api/schedules/" + url.PathEscape(o.ID), schedule}, err
}

// ScheduleList is the schedules that start processes.
type ScheduleList struct {
	Schedules []schedules.Schedule `json:"schedules" nullable:"false"`
}

// ScheduleTarget names a schedule.
type ScheduleTarget struct {
	ID string `path:"id" doc:"the id of a schedule" example:"nightly"`
}

type changeScheduleInput struct {
	ScheduleTarget
	Body *ReasonBody
}

type scheduleChange = func(s *schedules.Schedules, ctx context.Context, id, note string) error

func (a *API) changeScheduleHandler(do scheduleChange) func(context.Context, *changeScheduleInput) (*struct{}, error) {
	return func(ctx context.Context, in *changeScheduleInput) (*struct{}, error) {
		note := access.PersonFrom(ctx).Name
		if in.Body != nil && in.Body.Reason != "" {
			note += ": " + in.Body.Reason
		}
		err := do(schedules.ForClient(a.Client), ctx, in.ID, note)
		a.answers.forgetAnswers()
		return nil, err
	}
}

func (a *API) startScheduled(ctx context.Context, in *ScheduleTarget) (*struct{}, error) {
	return nil, schedules.ForClient(a.Client).StartNow(ctx, in.ID, access.PersonFrom(ctx).Name)
}

func (a *API) endSchedule(ctx context.Context, in *ScheduleTarget) (*struct{}, error) {
	err := schedules.ForClient(a.Client).Delete(ctx, in.ID)
	a.answers.forgetAnswers()
	return nil, err
}
