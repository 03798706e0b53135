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

func (a *API) addSchedules() {
	tags, none := []string{"schedules"}, []int{http.StatusNotFound}
	operation(a, access.Start, huma.Operation{
		OperationID: "make-schedule", Method: http.MethodPost, Path: "/api/schedules", Summary: "Make a schedule", Tags: tags,
		Description:   "Has Temporal start a process by the clock. The schedule holds all that its processes start from.",
		DefaultStatus: http.StatusCreated, MaxBodyBytes: largestIdea, Errors: []int{http.StatusConflict},
	}, a.makeSchedule)
	operation(a, access.Look, huma.Operation{
		OperationID: "list-schedules", Method: http.MethodGet, Path: "/api/schedules", Summary: "List schedules", Tags: tags,
		Description: "Lists the schedules that start processes, by their ids. What was done a moment ago may be missing.",
	}, a.listSchedules)
	operation(a, access.Look, huma.Operation{
		OperationID: "get-schedule", Method: http.MethodGet, Path: "/api/schedules/{id}", Summary: "See how a schedule stands", Tags: tags, Errors: none,
		Description: "Tells when a schedule starts processes, whether it is paused, what comes next, and what it started last.",
	}, a.getSchedule)
	operation(a, access.Steer, huma.Operation{
		OperationID: "pause-schedule", Method: http.MethodPost, Path: "/api/schedules/{id}/pause", Summary: "Pause a schedule", Tags: tags, Errors: none,
		Description: "Has a schedule start nothing. What it has started goes on.", DefaultStatus: http.StatusNoContent,
	}, a.changeSchedule((*schedules.Schedules).Pause))
	operation(a, access.Steer, huma.Operation{
		OperationID: "resume-schedule", Method: http.MethodPost, Path: "/api/schedules/{id}/resume", Summary: "Let a paused schedule go on", Tags: tags,
		Description: "Has a paused schedule start processes again. Times that have passed are not made up for.", DefaultStatus: http.StatusNoContent, Errors: none,
	}, a.changeSchedule((*schedules.Schedules).Resume))
	operation(a, access.Start, huma.Operation{
		OperationID: "start-scheduled", Method: http.MethodPost, Path: "/api/schedules/{id}/now", Summary: "Start a process of a schedule at once", Tags: tags,
		Description: "Starts one more process, beside the times of the schedule.", DefaultStatus: http.StatusNoContent, Errors: none,
	}, a.startScheduled)
	operation(a, access.Steer, huma.Operation{
		OperationID: "end-schedule", Method: http.MethodDelete, Path: "/api/schedules/{id}", Summary: "Remove a schedule", Tags: tags, Errors: none,
		Description: "Removes a schedule. What it has started goes on.", DefaultStatus: http.StatusNoContent,
	}, a.endSchedule)
}

type scheduleBody struct {
	_ struct{} `additionalProperties:"false"`
	StartFrom
	ID       string   `json:"id" maxLength:"179" doc:"names the schedule; its processes are named after it and the time"`
	Cron     []string `json:"cron,omitempty" nullable:"false" doc:"cron expressions of five fields, or @daily and its kin" example:"[\"0 3 * * *\"]"`
	Every    string   `json:"every,omitempty" doc:"in place of cron: how long from one start to the next" example:"12h"`
	TimeZone string   `json:"timeZone,omitempty" doc:"of cron, by its IANA name; absent: UTC" example:"Europe/Berlin"`
	Overlap  string   `json:"overlap,omitempty" enum:"skip,buffer-one,buffer-all,cancel-other,terminate-other,allow-all" doc:"absent: skip"`
	CatchUp  string   `json:"catchUp,omitempty" doc:"how late one may still be started that was missed; absent: a year" example:"10m"`
	Paused   bool     `json:"paused,omitempty" doc:"start none until it is resumed"`
	Note     string   `json:"note,omitempty" doc:"for people"`
}

func (b *scheduleBody) read() (o schedules.Options, err error) {
	o = schedules.Options{ID: b.ID, Cron: b.Cron, TimeZone: b.TimeZone, Overlap: b.Overlap, Paused: b.Paused, Note: b.Note}
	if o.Every, err = readDuration("body.every", b.Every); err != nil {
		return o, err
	}
	if o.CatchUp, err = readDuration("body.catchUp", b.CatchUp); err != nil {
		return o, err
	}
	o.Start, err = b.options()
	return o, err
}

func readDuration(path, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := jsonval.ParseDuration(text)
	if err != nil {
		return 0, invalidAt(path, err)
	}
	return d, nil
}

type scheduleOutput struct {
	Location string `header:"Location" doc:"the schedule's page"`
	Body     *schedules.Schedule
}

func (a *API) makeSchedule(ctx context.Context, in *struct{ Body scheduleBody }) (*scheduleOutput, error) {
	o, err := in.Body.read()
	if err != nil {
		return nil, err
	}
	o.Start.By = access.From(ctx).Name
	err = schedules.Of(a.Client).Make(ctx, o)
	a.shared.forget()
	if err != nil {
		return nil, err
	}
	made, err := schedules.Of(a.Client).Find(ctx, o.ID)
	return &scheduleOutput{"/api/schedules/" + url.PathEscape(o.ID), made}, err
}

// ScheduleList is the schedules that start processes.
type ScheduleList struct {
	Schedules []schedules.Schedule `json:"schedules" nullable:"false"`
}

type allSchedules struct{}

func (a *API) listSchedules(ctx context.Context, _ *struct{}) (*struct{ Body ScheduleList }, error) {
	all, err := share(ctx, &a.shared, allSchedules{}, schedules.Of(a.Client).List)
	if err != nil {
		return nil, err
	}
	return &struct{ Body ScheduleList }{ScheduleList{all}}, nil
}

// ScheduleTarget names a schedule.
type ScheduleTarget struct {
	ID string `path:"id" doc:"the id of a schedule" example:"nightly"`
}

func (a *API) getSchedule(ctx context.Context, in *ScheduleTarget) (*struct{ Body *schedules.Schedule }, error) {
	s, err := schedules.Of(a.Client).Find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &struct{ Body *schedules.Schedule }{s}, nil
}

type changeScheduleInput struct {
	ScheduleTarget
	Body *reasonBody
}

type scheduleChange = func(s *schedules.Schedules, ctx context.Context, id, note string) error

func (a *API) changeSchedule(do scheduleChange) func(context.Context, *changeScheduleInput) (*struct{}, error) {
	return func(ctx context.Context, in *changeScheduleInput) (*struct{}, error) {
		note := access.From(ctx).Name
		if in.Body != nil && in.Body.Reason != "" {
			note += ": " + in.Body.Reason
		}
		err := do(schedules.Of(a.Client), ctx, in.ID, note)
		a.shared.forget()
		return nil, err
	}
}

func (a *API) startScheduled(ctx context.Context, in *ScheduleTarget) (*struct{}, error) {
	return nil, schedules.Of(a.Client).Now(ctx, in.ID, access.From(ctx).Name)
}

func (a *API) endSchedule(ctx context.Context, in *ScheduleTarget) (*struct{}, error) {
	err := schedules.Of(a.Client).End(ctx, in.ID)
	a.shared.forget()
	return nil, err
}
