package desk

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/report"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/model/approval/proof"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

const (
	processesPerPage = 100
	instancesPerPage = 100
	maxListedIdeas   = 500 // that are listed: the latest
	maxDrawnCalls    = 200 // Calls of a Plan that is drawn
)

func processHref(id string) string { return "/desk/processes/" + url.PathEscape(id) }

type processesPage struct {
	frame
	Status     string
	Statuses   []loop.Status
	Rows       []client.ProcessSummary
	NextHref   string
	PauseCodes []string // why processes pause, where the cause is mostly outside of them
	Notice     string   // what became of the processes that were to be resumed
}

// showProcesses lists the processes that somebody started.
func (v *visit) showProcesses() error {
	q := v.URL.Query()
	p := processesPage{frame: v.frame("Processes"), Status: q.Get("status"), Statuses: []loop.Status{
		loop.StatusRunning, loop.StatusPaused, loop.StatusCompleted, loop.StatusFailed, loop.StatusCancelled,
	}}
	if !slices.Contains(p.Statuses, loop.Status(p.Status)) {
		p.Status = ""
	}
	key := fmt.Sprintf("processes\n%d %s %s", v.ChangeCount(), p.Status, q.Get("page"))
	find := func(ctx context.Context, _ *task) (api.ProcessPage, error) {
		return v.ListProcesses(ctx, client.ProcessFilter{Status: loop.Status(p.Status)}, processesPerPage,
			q.Get("page"))
	}
	listPage, err := findWithinPageTime(v.Context(), v.serverTasks, key, find)
	if err != nil {
		return err
	}
	p.PauseCodes, p.Notice = []string{turn.CodeLLMUnreachable, turn.CodeLLMError, turn.CodeLimitReached,
		turn.CodePaused}, resumedNotice(q)
	p.Rows = listPage.Processes
	if listPage.NextPageToken != "" {
		p.NextHref = "/desk/processes?" + url.Values{"status": {p.Status}, "page": {listPage.NextPageToken}}.Encode()
	}
	return v.show("processes", p)
}

func isHeldUp(s client.ProcessSummary) bool {
	return len(s.HoldUps) > 0 || slices.Contains(s.WaitingTexts, protocol.StatusHeldUp)
}

type processPage struct {
	frame
	Status      api.ProcessStatus
	HasEnded    bool
	CallCount   int // of the Plan
	IsDrawn     bool
	PictureHref string   // the address of the picture, which changes with it
	StepTexts   []string // what the picture shows of each step
	PlanIsLive  bool
	Counts      map[string]int // of the instances, by what the page calls their status
	Instances   []instanceRow
	ShownStatus string // the status of the listed instances; empty: any
	pagination
	AllHref              string
	Ideas                []report.Idea
	IdeasHaveCosts       bool     // some Ideas have a cost
	LatestIdeaNumber     int      // the number of the latest Idea
	EndedInstanceCount   int      // ended instances
	HiddenIdeaCount      int      // Ideas before those that are listed
	PlanHrefs            []string // the processes in which Plans wait: this one, or its parts
	WaitingCallCount     int      // Calls that wait for a person
	OtherWaitReasons     []string // beside people, whose Calls are counted
	ActionCounts         *client.BilledActionCounts
	Orders               []orderRow
	Failures             []failureRow
	UndoneProcess        jsonval.Object // the process that this one takes back, by whom, why; empty: none
	UndoHref             string         // the page on which to undo this process; empty: not offered
	HasAmounts, HasCosts bool           // of the listed instances
	RefusedForm          submittedForm  // the form that was refused, if any
}

type instanceRow struct {
	loop.InstanceResult
	Token string
	Name  string // its name for people; without one, its token
	// About says what the instance is about beside its name; empty: unknown.
	About string
	// Amount is the money that the instance is about; empty: unknown.
	Amount   string
	Href     string
	UndoHref string // the page on which to undo what it did; empty: not offered
}

// showProcess shows the status of a process.
func (v *visit) showProcess() error {
	p, err := v.newProcessPage()
	if err != nil {
		return err
	}
	return v.show("process", p)
}

// newProcessPage makes the page of the process of the address.
func (v *visit) newProcessPage() (*processPage, error) {
	id := v.processID
	hasManyInstances := func(s api.ProcessStatus) bool { return len(s.Instances) >= minLargeInstanceCount }
	status, err := findOrPrevious(v.Context(), v.Desk, v.workerTasks, v.keyWithChangeCount(v.Context(), "status\n"+id),
		hasManyInstances, func(ctx context.Context) (api.ProcessStatus, error) { return v.Status(ctx, id) })
	if err != nil {
		return nil, err
	}
	p := &processPage{frame: v.processFrame("%s"), Status: status}
	p.ReloadsItself = true
	p.HasEnded = hasEnded(status.Status)
	plan, err := v.planOrPrevious(v.Context(), id, len(status.Instances), !p.HasEnded && status.UnseenReason == "")
	if err != nil {
		return nil, err
	}
	if plan.DrawablePlan != nil {
		p.CallCount, p.PlanIsLive, p.PictureHref = len(plan.Calls), plan.isLive, planPictureHref(p.Href, plan)
	}
	if p.IsDrawn = p.CallCount > 0 && p.CallCount <= maxDrawnCalls; p.IsDrawn {
		p.StepTexts = v.planLabels(id).StatusTexts(plan.Calls, plan.InstanceCountsByStatus)
	}
	p.Ideas, p.HiddenIdeaCount = v.listIdeas(id)
	if len(p.Ideas) > 0 {
		p.LatestIdeaNumber, p.UndoneProcess = p.Ideas[0].IdeaNumber, jsonval.AsObject(p.Ideas[0].Undoes)
	}
	p.IdeasHaveCosts = slices.ContainsFunc(p.Ideas, func(i report.Idea) bool { return i.Cost != "" })
	if p.HasRight[string(access.Steer)] && p.LatestIdeaNumber > 0 && status.Simulation == nil {
		p.UndoHref = undoHref(id, url.Values{})
	}
	presenter, language := v.Client.Process(id).Presenter(v.Context()), client.LanguageOf(v.Context())
	p.addInstanceRows(v.URL.Query(), presenter, language, v.instanceFactsOf(id, status))
	p.Failures = failureRows(status.Failures, presenter)
	p.Orders = orderRows(status.Orders, presenter, language, p.Now)
	if v.URL.Query().Has("actions") { // reads every history, so the page does not reload itself
		actions, err := v.Client.Process(id).CountBilledActions(v.Context())
		if err != nil {
			return nil, err
		}
		p.ActionCounts, p.ReloadsItself = &actions, false
	}
	v.addWaitReasons(p)
	return p, nil
}

// addWaitReasons adds what the process waits for.
func (v *visit) addWaitReasons(p *processPage) {
	status := p.Status
	if p.WaitingCallCount = status.PendingDecisionCount; slices.ContainsFunc(status.WaitingFor,
		func(s string) bool { return strings.HasPrefix(s, protocol.WaitingForPlanPrefix) }) {
		// If the Plans cannot be read, another part of the page says that no worker answers.
		plans, _ := v.WaitingPlansIn(v.Context(), v.processID)
		p.WaitingCallCount -= len(plans)
		for _, plan := range plans {
			p.PlanHrefs = append(p.PlanHrefs, planHref(plan.Process))
		}
	}
	for _, one := range status.WaitingFor {
		isShownAsError := status.Error != nil && one == "paused: "+status.Error.Message
		isForPerson := strings.HasPrefix(one, protocol.WaitingForPersonPrefix)
		if !isShownAsError && !isForPerson && !strings.HasPrefix(one, turn.HeldUpPrefix) {
			p.OtherWaitReasons = append(p.OtherWaitReasons, clipParagraph(one))
		}
	}
}

func hasEnded(s loop.Status) bool { return s != loop.StatusRunning && s != loop.StatusPaused }

// listIdeas lists the Ideas of a process, the latest first, or none if the store has none yet.
func (v *visit) listIdeas(processID string) (list []report.Idea, omittedCount int) {
	links, err := v.Client.Chain(processID).Ideas(v.Context())
	if err != nil {
		return nil, 0
	}
	list = report.DescribeIdeas(links)
	slices.Reverse(list)
	omittedCount = max(len(list)-maxListedIdeas, 0)
	return list[:len(list)-omittedCount], omittedCount
}

// addInstanceRows adds the instances of the requested part of the list. It offers to take back only what can be.
func (p *processPage) addInstanceRows(q url.Values, presenter *shown.Presenter, l shown.Language,
	instanceFacts *processInstanceFacts) {
	var tokens []string
	canUndoAny := false
	p.ShownStatus, p.Counts = q.Get("status"), map[string]int{}
	for token, i := range p.Status.Instances {
		canUndoAny = canUndoAny || p.canUndo(token, instanceFacts)
		status := listedStatus(i)
		if p.Counts[status]++; i.Status.HasEnded() {
			p.EndedInstanceCount++
		}
		if p.ShownStatus == "" || status == p.ShownStatus {
			tokens = append(tokens, token)
		}
	}
	if !canUndoAny && len(p.Status.Instances) > 0 {
		p.UndoHref = ""
	}
	slices.SortFunc(tokens, ideafiles.CompareInstanceTokens)
	page, _ := strconv.Atoi(q.Get("page"))
	p.pagination = paginate(len(tokens), instancesPerPage, page, func(n int) string {
		return p.Href + "?" + url.Values{"status": {p.ShownStatus}, "page": {strconv.Itoa(n)}}.Encode() + "#instances"
	})
	for _, token := range tokens[p.First-1 : p.Last] {
		row := instanceRow{InstanceResult: p.Status.Instances[token], Token: token,
			Name: clipName(presenter.KnownInstanceName(token)), Amount: clipName(presenter.InstanceAmount(token, l)),
			Href: p.Href + "/idea?" + url.Values{"instance": {token}}.Encode()}
		if row.Name == token || presenter.InputFormat().Properties != nil {
			row.About = clipName(presenter.InputSummary(instanceFacts.input(token), row.Name, l))
		}
		if p.UndoHref != "" && token != "" && p.canUndo(token, instanceFacts) {
			row.UndoHref = undoHref(p.Status.ProcessID, url.Values{"instance": {token}})
		}
		p.HasAmounts, p.HasCosts = p.HasAmounts || row.Amount != "", p.HasCosts || row.Cost > 0
		p.Instances = append(p.Instances, row)
	}
}

// settledAfterRejection is the status under which a page lists instances that settled though a Call was rejected: to
// say that they are finished would hide it.
const settledAfterRejection = "finished with a rejected step"

// listedStatus returns the status under which a page lists an instance.
func listedStatus(i loop.InstanceResult) string {
	if i.Status == ideafile.InstanceSettled && i.RejectedCallCount > 0 {
		return settledAfterRejection
	}
	return string(i.Status)
}

// canUndo reports whether something that an instance did can be taken back: while the process is at work, only if the
// instance has not ended.
func (p *processPage) canUndo(token string, instanceFacts *processInstanceFacts) bool {
	return instanceFacts.canUndo(token) && (p.HasEnded || !p.Status.Instances[token].Status.HasEnded())
}

// drawPlan gives the Plan of a process as a picture.
func (v *visit) drawPlan() error {
	plan, err := v.findPlan(v.Context(), v.processID, v.FormValue("live") != "")
	if err != nil {
		return err
	}
	if len(plan.Calls) > maxDrawnCalls {
		return notFound("The Plan has too many steps for a picture.")
	}
	return v.writePlanSVG(v.processID, plan.Calls, plan.InstanceCountsByStatus)
}

func (v *visit) writePlanSVG(processID string, calls []any, statusCounts []map[ideafile.CallStatus]int) error {
	v.w.Header().Set("Content-Type", mediaTypeByExtension[".svg"])
	colors := plangraph.Light
	if v.FormValue("dark") != "" {
		colors = plangraph.Dark
	}
	_, _ = v.w.Write([]byte(plangraph.RenderSVG(calls, statusCounts, v.planLabels(processID), colors)))
	return nil
}

// planToDraw is a Plan with the states of its Calls: current ones, or those of the latest Idea.
type planToDraw struct {
	*client.DrawablePlan
	isLive bool
}

// minLargeInstanceCount is the number of instances from which reading a status and a Plan may outlast a page's
// patience.
const minLargeInstanceCount = 1000

// planOrPrevious returns the Plan of a process, or the previous result while reading takes long. The planToDraw is
// empty if the Plan cannot be read.
func (d *Desk) planOrPrevious(ctx context.Context, id string, instanceCount int, wantLive bool) (planToDraw, error) {
	tasks := d.workerTasks
	if instanceCount > minLargeInstanceCount {
		tasks = d.storeTasks
	}
	key := fmt.Sprintf("plan\n%t %s", wantLive, id)
	plan, err := findOrPrevious(ctx, d, tasks, key, func(planToDraw) bool { return true },
		func(ctx context.Context) (planToDraw, error) { return d.findPlan(ctx, id, wantLive) })
	var pending *pendingPageError
	if errors.As(err, &pending) {
		return plan, err
	}
	return plan, nil
}

// livePlanTimeout bounds how long a page waits for the current state of Calls. After that it shows their state in the
// latest Idea.
const livePlanTimeout = 2 * time.Second

// findPlan returns the Plan of a process with the states of its Calls: current ones if wanted and known, or else those
// of the latest Idea.
func (d *Desk) findPlan(ctx context.Context, processID string, wantLive bool) (planToDraw, error) {
	if wantLive {
		liveCtx, cancel := context.WithTimeout(ctx, livePlanTimeout)
		defer cancel()
		if plan, err := d.LivePlan(liveCtx, processID); err == nil && len(plan.Calls) > 0 {
			return planToDraw{plan, true}, nil
		}
	}
	i, err := d.loadIdea(ctx, processID, 0)
	if err != nil {
		return planToDraw{}, err
	}
	plan, err := i.loadPlan(ctx)
	return planToDraw{plan, false}, err
}

// planPictureHref returns the address of a picture. It changes with the states of the Calls, so that browsers reload
// the picture.
func planPictureHref(href string, plan planToDraw) string {
	if !plan.isLive {
		return href + "/plan.svg?"
	}
	return href + "/plan.svg?live=" + proof.Digest([]any{plan.Calls, plan.InstanceCountsByStatus})[:16]
}
