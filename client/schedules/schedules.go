package schedules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	schedulepb "go.temporal.io/api/schedule/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"processidea/client"
	"processidea/client/internal/kind"
	"processidea/connect"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// Options say what a schedule starts, and when.
type Options struct {
	// StartOptions are what each process starts from. Their ID names the schedule. Temporal names each process by this
	// ID and the time: "nightly-2026-11-23T02:00:00Z".
	client.StartOptions
	// Every is an interval of whole seconds. CronExpressions is a list of cron expressions, such as "0 2 * * 1-5" or
	// "@daily". Exactly one of them is required.
	Every           time.Duration `json:"-"`
	CronExpressions []string      `json:"cron,omitempty" nullable:"false" doc:"cron expressions of five fields, or @daily and its kin" example:"[\"0 3 * * *\"]"`
	// TimeZone applies to the cron expressions.
	TimeZone string `json:"timeZone,omitempty" doc:"of cron, by its IANA name; absent: UTC" example:"Europe/Berlin"`
	// OverlapPolicy is what happens if a process of the schedule still runs when the next one is due: a key of
	// OverlapPolicyByName.
	OverlapPolicy string `json:"overlap,omitempty" enum:"skip,buffer-one,buffer-all,cancel-other,terminate-other,allow-all" doc:"absent: skip"`
	// CatchUpWindow is how late a process may still be started that was missed while Temporal was down. It is at least
	// MinCatchUpWindow; 0: a year, Temporal's default.
	CatchUpWindow time.Duration `json:"-"`
	Paused        bool          `json:"paused,omitempty" doc:"start none until it is resumed"`
	Note          string        `json:"note,omitempty" doc:"for people"`
}

// MinCatchUpWindow is the shortest CatchUpWindow that Temporal accepts.
const MinCatchUpWindow = 10 * time.Second

// OverlapPolicyByName are the ways in which processes of a schedule may overlap.
var OverlapPolicyByName = map[string]enumspb.ScheduleOverlapPolicy{
	"skip": enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, "allow-all": enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
	"buffer-one": enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE, "buffer-all": enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL,
	"cancel-other":    enumspb.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER,
	"terminate-other": enumspb.SCHEDULE_OVERLAP_POLICY_TERMINATE_OTHER,
}

// Schedule is the current state of a schedule.
type Schedule struct {
	ID          string `json:"id"`
	ProcessPath string `json:"path"` // of the Idea's meta
	Timing      string `json:"when"` // for people: "every 1h0m0s", "0 2 * * *"
	Paused      bool   `json:"paused"`
	Note        string `json:"note"`
	// NextStarts are the times of the next starts. LatestStarts are the processes that it started last, including those
	// that still run.
	NextStarts   []time.Time      `json:"next"`
	LatestStarts []StartedProcess `json:"latest"`
}

// StartedProcess is a process that a schedule has started.
type StartedProcess struct {
	ProcessID string    `json:"process"`
	StartedAt time.Time `json:"at"`
}

// Schedules manages the schedules of a namespace.
type Schedules struct{ client *client.Client }

// ForClient returns the schedules of a client's namespace.
func ForClient(c *client.Client) *Schedules { return &Schedules{c} }

// dataConverter returns the converter for the payloads of schedules.
func (s *Schedules) dataConverter() converter.DataConverter {
	return connect.DataConverter(s.client.Archive().Store().Keys())
}

// ErrExists means that a schedule with the id exists, whatever it starts. Such an error also wraps client.ErrInvalid.
var ErrExists = errors.New("a schedule with this id exists")

// Create makes a schedule. The error wraps client.ErrInvalid if the options or the Idea are wrong, or if a schedule
// with the id exists.
func (s *Schedules) Create(ctx context.Context, o Options) error {
	if err := o.validate(); err != nil {
		return err
	}
	preparedStart, err := s.client.Prepare(ctx, o.StartOptions)
	if err != nil {
		return err
	}
	spec := sdk.ScheduleSpec{CronExpressions: o.CronExpressions, TimeZoneName: o.TimeZone}
	if o.Every > 0 {
		spec.Intervals = []sdk.ScheduleIntervalSpec{{Every: o.Every}}
	}
	_, err = s.client.Temporal().ScheduleClient().Create(ctx, sdk.ScheduleOptions{
		ID: o.ID, Spec: spec, Action: connect.ScheduledAction(ctx, s.client.Temporal(), s.client.Namespace(),
			preparedStart),
		Overlap:       OverlapPolicyByName[cmp.Or(o.OverlapPolicy, "skip")],
		CatchupWindow: o.CatchUpWindow, Note: o.Note, Paused: o.Paused,
		Memo: map[string]any{memoProcessPath: preparedStart.Idea.ProcessPath, memoTiming: o.timingText()},
	})
	switch {
	case errors.Is(err, temporal.ErrScheduleAlreadyRunning):
		return kind.WithKind(ErrExists, invalidErrorf("make schedule %s: a schedule with this id exists", o.ID))
	case kind.Is[*serviceerror.InvalidArgument](err):
		return invalidErrorf("make schedule %s: %w", o.ID, err)
	case err != nil:
		return fmt.Errorf("make schedule %s: %w", o.ID, err)
	}
	return s.removeIfNeverStarting(ctx, o)
}

// removeIfNeverStarting removes a new schedule if Temporal finds no time at which it would start anything.
func (s *Schedules) removeIfNeverStarting(ctx context.Context, o Options) error {
	schedule, err := s.Find(ctx, o.ID)
	if err != nil || len(schedule.NextStarts) > 0 {
		return err
	}
	if err := s.Delete(ctx, o.ID); err != nil {
		return err
	}
	return invalidErrorf("make schedule %s: %s never comes", o.ID, o.timingText())
}

// These memo fields are shown in lists, without a description of each schedule.
const (
	memoProcessPath = "path"
	memoTiming      = "when"
)

func invalidErrorf(format string, args ...any) error {
	return kind.Errorf(client.ErrInvalid, format, args...)
}

// timeSuffixLength is the length of the time that Temporal appends to the id of a process.
const timeSuffixLength = len("-2026-11-23T02:00:00Z")

func (o Options) validate() error {
	_, isKnown := OverlapPolicyByName[o.OverlapPolicy]
	err := client.ValidateProcessID(o.ID + strings.Repeat("0", timeSuffixLength))
	switch {
	case o.ID == "":
		return invalidErrorf("make a schedule: its id is missing")
	case err != nil:
		return fmt.Errorf("make schedule %s: %w", o.ID, err)
	case (o.Every > 0) == (len(o.CronExpressions) > 0):
		return invalidErrorf("make schedule %s: want either an interval or cron expressions", o.ID)
	case o.Every < 0 || o.Every%time.Second != 0 || o.Every > jsonval.MaxDuration:
		return invalidErrorf(
			"make schedule %s: want an interval of a second or more, in whole seconds, up to 10 years, not %s",
			o.ID, o.Every)
	case o.CatchUpWindow != 0 && (o.CatchUpWindow < MinCatchUpWindow || o.CatchUpWindow > jsonval.MaxDuration):
		return invalidErrorf("make schedule %s: missed starts are caught up within %s to 10 years, not %s", o.ID,
			MinCatchUpWindow, o.CatchUpWindow)
	case o.OverlapPolicy != "" && !isKnown:
		return invalidErrorf("make schedule %s: there is no overlap %q; there are %s", o.ID, o.OverlapPolicy,
			strings.Join(jsonval.SortedKeys(OverlapPolicyByName), ", "))
	}
	return nil
}

func (o Options) timingText() string {
	text := strings.Join(o.CronExpressions, ", ")
	if o.Every > 0 {
		text = "every " + o.Every.String()
	}
	if o.TimeZone != "" {
		text += " " + o.TimeZone
	}
	return text
}

// List returns the schedules that start processes, sorted by id.
func (s *Schedules) List(ctx context.Context) ([]Schedule, error) {
	schedules := []Schedule{}
	scheduleIterator, err := s.client.Temporal().ScheduleClient().List(ctx, sdk.ScheduleListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	dataConverter := s.dataConverter()
	for scheduleIterator.HasNext() {
		e, err := scheduleIterator.Next()
		if err != nil {
			return nil, fmt.Errorf("list schedules: %w", err)
		}
		if e.WorkflowType.Name != protocol.ProcessType {
			continue
		}
		schedule := Schedule{ID: e.ID, Paused: e.Paused, Note: e.Note, NextStarts: e.NextActionTimes}
		schedule.addDetails(e.RecentActions, e.Memo, dataConverter)
		schedules = append(schedules, schedule)
	}
	slices.SortFunc(schedules, func(a, b Schedule) int { return strings.Compare(a.ID, b.ID) })
	return schedules, nil
}

// Find returns a schedule. The error wraps client.ErrNotFound if the id has no schedule that starts processes.
func (s *Schedules) Find(ctx context.Context, id string) (*Schedule, error) {
	d, err := s.describe(ctx, id)
	if err != nil {
		return nil, s.wrapError("find", id, err)
	}
	schedule := &Schedule{ID: id, Paused: d.Schedule.State.Paused, Note: d.Schedule.State.Note,
		NextStarts: d.Info.NextActionTimes}
	schedule.addDetails(d.Info.RecentActions, d.Memo, s.dataConverter())
	return schedule, nil
}

// StarterOf returns the id of the schedule that started a process, as the process's id says; empty if there is none, or
// none any more. A schedule that nobody permits to look at may be there.
func (s *Schedules) StarterOf(ctx context.Context, processID string) (scheduleID string, err error) {
	scheduleID, isStartedBySchedule := cutTimeSuffix(processID)
	if !isStartedBySchedule {
		return "", nil
	}
	_, err = s.describe(ctx, scheduleID)
	switch {
	case kind.Is[*serviceerror.NotFound](err), kind.Is[*serviceerror.Unimplemented](err):
		return "", nil
	case kind.Is[*serviceerror.PermissionDenied](err):
		return scheduleID, nil
	}
	return scheduleID, s.wrapError("find", scheduleID, err)
}

// cutTimeSuffix returns the id of a schedule that the id of its process begins with; ok is false for any other id.
func cutTimeSuffix(processID string) (scheduleID string, ok bool) {
	idLength := len(processID) - timeSuffixLength
	if idLength <= 0 {
		return "", false
	}
	_, err := time.Parse("-"+time.RFC3339, processID[idLength:])
	return processID[:idLength], err == nil
}

// errNotProcessSchedule is for a schedule that does not start processes.
var errNotProcessSchedule = serviceerror.NewNotFound("it starts something else")

func (s *Schedules) describe(ctx context.Context, id string) (*sdk.ScheduleDescription, error) {
	d, err := s.client.Temporal().ScheduleClient().GetHandle(ctx, id).Describe(ctx)
	if err != nil {
		return nil, err
	}
	if action, ok := d.Schedule.Action.(*sdk.ScheduleWorkflowAction); !ok || action.Workflow != protocol.ProcessType {
		return nil, errNotProcessSchedule
	}
	return d, nil
}

// addDetails adds what Temporal returns in the same form in a list and in a description.
func (s *Schedule) addDetails(latestActions []sdk.ScheduleActionResult, memo *commonpb.Memo,
	dataConverter converter.DataConverter) {
	s.LatestStarts = []StartedProcess{}
	for _, r := range latestActions {
		if r.StartWorkflowResult != nil {
			s.LatestStarts = append(s.LatestStarts, StartedProcess{ProcessID: r.StartWorkflowResult.WorkflowID,
				StartedAt: r.ActualTime})
		}
	}
	if s.NextStarts == nil {
		s.NextStarts = []time.Time{}
	}
	for key, target := range map[string]*string{memoProcessPath: &s.ProcessPath, memoTiming: &s.Timing} {
		if p := memo.GetFields()[key]; p != nil {
			_ = dataConverter.FromPayload(p, target) // a schedule that another program made has none
		}
	}
}

// Pause starts no processes until Resume. Running processes continue.
func (s *Schedules) Pause(ctx context.Context, id, note string) error {
	return s.withHandle(ctx, "pause", id,
		func(h sdk.ScheduleHandle) error { return h.Pause(ctx, sdk.SchedulePauseOptions{Note: note}) })
}

// Resume starts processes again.
func (s *Schedules) Resume(ctx context.Context, id, note string) error {
	return s.withHandle(ctx, "resume", id,
		func(h sdk.ScheduleHandle) error { return h.Unpause(ctx, sdk.ScheduleUnpauseOptions{Note: note}) })
}

// StartNow starts a process now, in addition to the schedule's times. actorName is who starts it: that person counts as
// a starter for policies that exclude starters from deciding. If actorName is empty, nobody can decide under such a
// policy.
func (s *Schedules) StartNow(ctx context.Context, id, actorName string) error {
	if err := (client.Actor{Name: actorName}).CheckName(); err != nil {
		return fmt.Errorf("start a process of schedule %s: %w", id, err)
	}
	manualStart := protocol.ManualStart{By: actorName, Account: client.AccountOf(ctx),
		At: time.Now().UTC().Truncate(time.Second)}
	return s.withHandle(ctx, "start a process of", id, func(h sdk.ScheduleHandle) error {
		if err := h.Update(ctx, sdk.ScheduleUpdateOptions{DoUpdate: s.addManualStart(ctx, manualStart)}); err != nil {
			return err
		}
		// The SDK's Trigger cannot set the time, which names the process and tells it who started it.
		_, err := s.client.Temporal().WorkflowService().PatchSchedule(ctx, &workflowservice.PatchScheduleRequest{
			Namespace: s.client.Namespace(), ScheduleId: id, RequestId: uuid.NewString(),
			Patch: &schedulepb.SchedulePatch{
				TriggerImmediately: &schedulepb.TriggerImmediatelyRequest{
					ScheduledTime: timestamppb.New(manualStart.At)}},
		})
		return err
	})
}

// maxManualStarts bounds how many of the latest manual starts a schedule remembers, with who made them.
const maxManualStarts = 100

// addManualStart adds a manual start to the input of all later processes of the schedule: the process may start later,
// behind others.
func (s *Schedules) addManualStart(ctx context.Context,
	manualStart protocol.ManualStart) func(sdk.ScheduleUpdateInput) (*sdk.ScheduleUpdate, error) {
	return func(in sdk.ScheduleUpdateInput) (*sdk.ScheduleUpdate, error) {
		schedule := in.Description.Schedule
		action, isStart := schedule.Action.(*sdk.ScheduleWorkflowAction)
		if !isStart || len(action.Args) == 0 {
			return nil, errNotProcessSchedule
		}
		payload, isPayload := action.Args[0].(*commonpb.Payload)
		if !isPayload {
			return nil, errNotProcessSchedule
		}
		payload, err := s.client.Archive().Store().Resolve(ctx, payload)
		if err != nil {
			return nil, err
		}
		var start protocol.ProcessStart
		if err := s.dataConverter().FromPayload(payload, &start); err != nil {
			return nil, err
		}
		start.ManualStarts = append(start.ManualStarts, manualStart)
		start.ManualStarts = start.ManualStarts[max(0, len(start.ManualStarts)-maxManualStarts):]
		changedAction := *action
		changedAction.Args = []any{start}
		schedule.Action = &changedAction
		return &sdk.ScheduleUpdate{Schedule: &schedule}, nil
	}
}

// Delete removes the schedule, and its histories in Temporal, which contain the input of its processes. The started
// processes stay, and so do large values of that input in the store, until they are collected: no process owns them.
func (s *Schedules) Delete(ctx context.Context, id string) error {
	return s.withHandle(ctx, "end", id, func(h sdk.ScheduleHandle) error {
		if err := h.Delete(ctx); err != nil {
			return err
		}
		if err := s.deleteHistories(ctx, schedulerWorkflowPrefix+id); err != nil {
			return fmt.Errorf("the schedule has ended, but Temporal keeps its data until the retention ends: %w", err)
		}
		return nil
	})
}

// schedulerWorkflowPrefix begins the id of the server's own workflow for a schedule.
const schedulerWorkflowPrefix = "temporal-sys-scheduler:"

// deleteHistories deletes the runs of the server's own workflow for a schedule, and returns when they are gone, so that
// a forget that follows can overwrite what they leave. It is no error if the server has none, or permits nobody to
// delete them.
func (s *Schedules) deleteHistories(ctx context.Context, workflowID string) error {
	service := s.client.Temporal().WorkflowService()
	runs := []*commonpb.WorkflowExecution{{WorkflowId: workflowID}} // the last one, which the list may not show yet
	page, err := service.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: s.client.Namespace(), PageSize: 1000,
		Query: fmt.Sprintf("TemporalNamespaceDivision = 'TemporalScheduler' AND WorkflowId = %q", workflowID),
	})
	for _, e := range page.GetExecutions() {
		runs = append(runs, e.GetExecution())
	}
	// All deletions are asked for before the wait for any: if the wait is interrupted, the server goes on.
	for _, run := range runs {
		if err == nil {
			_, err = service.DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
				Namespace: s.client.Namespace(), WorkflowExecution: run,
			})
		}
		if isGoneOrNotPermitted(err) {
			err = nil
		}
	}
	waitCtx, cancel := context.WithTimeout(ctx, maxDeletionWait)
	defer cancel()
	for _, run := range runs {
		for err == nil { // until it is gone
			_, err = s.client.Temporal().DescribeWorkflowExecution(waitCtx, run.GetWorkflowId(), run.GetRunId())
			if err == nil {
				client.Sleep(waitCtx, deletionPollInterval)
			}
		}
		if isGoneOrNotPermitted(err) {
			err = nil
		}
	}
	return err
}

func isGoneOrNotPermitted(err error) bool {
	return kind.Is[*serviceerror.NotFound](err) || kind.Is[*serviceerror.PermissionDenied](err)
}

const (
	// deletionPollInterval is how often the server is asked whether it has deleted a run.
	deletionPollInterval = 200 * time.Millisecond
	maxDeletionWait      = time.Minute
)

// withHandle changes a schedule that starts processes: others of the namespace are not ours.
func (s *Schedules) withHandle(ctx context.Context, operation, id string,
	changeSchedule func(sdk.ScheduleHandle) error) error {
	_, err := s.describe(ctx, id)
	if err == nil {
		err = changeSchedule(s.client.Temporal().ScheduleClient().GetHandle(ctx, id))
	}
	return s.wrapError(operation, id, err)
}

func (*Schedules) wrapError(operation, id string, err error) error {
	switch {
	case err == nil:
		return nil
	case kind.Is[*serviceerror.NotFound](err):
		return kind.Errorf(client.ErrNotFound, "%s schedule %s: no schedule has this id", operation, id)
	}
	return fmt.Errorf("%s schedule %s: %w", operation, id, err)
}
