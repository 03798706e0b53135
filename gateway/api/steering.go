package api

import (
	"context"
	"net/http"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/gateway/access"
	"processidea/model/ideafile"
)

func (a *API) addSteeringOperations() {
	addActOperation(a, access.Steer, "pause", "Pause a process",
		"Lets the Calls that run finish, and starts nothing new.",
		func(ctx context.Context, p *client.Process, b *ReasonBody) error {
			return p.Pause(ctx, b.callerActor(ctx))
		})
	addActOperation(a, access.Steer, "resume", "Let a paused process go on",
		"Lets a paused process go on, with new limits where they are given.", resume)
	addActOperation(a, access.Steer, "revise", "Correct a process",
		"Brings corrections: values of State, inputs, instructions, Plans, limits, or instances that are "+
			"worked on again.", revise)
	addActOperation(a, access.Steer, "add", "Add instances to a process",
		"Brings new instances to a process that is at work.", addInstances)
	addActOperation(a, access.Steer, "cancel", "End a process",
		"Breaks off its Request and its Calls; nothing more runs.",
		func(ctx context.Context, p *client.Process, _ *ReasonBody) error { return p.Cancel(ctx) })
	resumeOperation := newPostOperation(steeringTag, "resume-processes", "/api/processes/resume",
		"Let all paused processes go on",
		"Resumes every paused process that somebody started, with its parts and delegates, or only those paused "+
			"with a given code. It answers once that has taken effect, and says what became of each.")
	resumeOperation.MaxBodyBytes = maxIdeaBodyBytes
	addOperation(a, access.Steer, resumeOperation, asHandler(a.serveResumeAll))
	forkOperation := newPostOperation(steeringTag, "fork-process", "/api/processes/{id}/fork",
		"Start a process from an Idea of another",
		"Starts a new process where another one stood in an Idea. That one stays as it is; what its Calls did "+
			"counts for both.")
	forkOperation.MaxBodyBytes = maxIdeaBodyBytes
	addOperation(a, access.Start, asStartOperation(forkOperation, startedResponse), a.fork)
}

const steeringTag = "steering" // a tag

// ReasonBody has the reason for an act.
type ReasonBody struct {
	_ struct{} `additionalProperties:"false"`
	client.Actor
}

// callerActor returns the caller and the reason.
func (b *ReasonBody) callerActor(ctx context.Context) (actor client.Actor) {
	if b != nil {
		actor = b.Actor
	}
	actor.Name = access.PersonFrom(ctx).Name
	return actor
}

type steerInput[B any] struct {
	ProcessTarget
	Body B // a pointer if it may be left out
}

// addActOperation adds an operation that acts on a process. do checks the body and sends the act.
func addActOperation[B any](a *API, right access.Right, verb, summary, description string,
	do func(context.Context, *client.Process, B) error) {
	op := newPostOperation(steeringTag, verb+"-process", "/api/processes/{id}/"+verb, summary,
		description+" It answers once that has taken effect; 409 refused: it changed nothing.")
	op.DefaultStatus, op.MaxBodyBytes, op.Errors = http.StatusNoContent, maxIdeaBodyBytes, []int{http.StatusConflict}
	addOperation(a, right, op, func(ctx context.Context, in *steerInput[B]) (*struct{}, error) {
		return nil, a.Steer(ctx, in.ID,
			func(ctx context.Context, p *client.Process) error { return do(ctx, p, in.Body) })
	})
}

// Steer acts on a process by do, and waits at most Patience for the outcome.
func (a *API) Steer(ctx context.Context, processID string, do func(context.Context, *client.Process) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.ActionTimeout)
	defer cancel()
	p, err := a.Client.Attach(ctx, processID)
	if err == nil {
		err = do(ctx, p)
	}
	a.NoteChange(processID)
	return err
}

// NewLimits are limits of a process, in all.
type NewLimits struct {
	_        struct{} `additionalProperties:"false"`
	Requests int      `json:"requests,omitempty" minimum:"-1" maximum:"2147483647" doc:"-1: no limit; 0 or absent: as it is"`
	Tokens   int      `json:"tokens,omitempty" minimum:"-1" maximum:"2147483647" doc:"-1: no limit; 0 or absent: as it is"`
	Calls    int      `json:"calls,omitempty" minimum:"-1" maximum:"2147483647" doc:"-1: no limit; 0 or absent: as it is"`
	Duration string   `json:"duration,omitempty" doc:"such as 36h or 90m" example:"36h"`
}

func (l *NewLimits) toLimits() (out ideafile.Limits, err error) {
	if l == nil {
		return out, nil
	}
	out = ideafile.Limits{Requests: l.Requests, Tokens: l.Tokens, Calls: l.Calls}
	out.Duration, err = readDuration("body.limits.duration", l.Duration)
	return out, err
}

type resumeInputBody struct {
	ReasonBody
	Limits *NewLimits `json:"limits,omitempty"`
}

func resume(ctx context.Context, p *client.Process, b *resumeInputBody) error {
	if b == nil {
		b = &resumeInputBody{}
	}
	limits, err := b.Limits.toLimits()
	if err != nil {
		return err
	}
	return p.Resume(ctx, limits, b.callerActor(ctx))
}

type resumeAllInputBody struct {
	ReasonBody
	PauseCode string `json:"because,omitempty" minLength:"1" doc:"only those that are paused with this code; absent: all" example:"llm_unreachable"`
}

// ResumedList is the outcome of resuming several processes.
type ResumedList struct {
	Processes []client.ResumeOutcome `json:"processes" nullable:"false"`
}

func (a *API) serveResumeAll(ctx context.Context,
	in *struct{ Body *resumeAllInputBody }) (list ResumedList, err error) {
	body := in.Body
	if body == nil {
		body = &resumeAllInputBody{}
	}
	list.Processes, err = a.ResumeAll(ctx, body.PauseCode, body.callerActor(ctx))
	return list, err
}

// ResumeAll resumes all paused processes, or only those that are paused with the code because. It waits at most
// Patience.
func (a *API) ResumeAll(ctx context.Context, pauseCode string, actor client.Actor) ([]client.ResumeOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, a.ActionTimeout)
	defer cancel()
	all, err := a.Client.ResumeAll(ctx, pauseCode, actor)
	for _, r := range all {
		a.NoteChange(r.ProcessID)
	}
	return all, err
}

type reviseInputBody struct {
	ReasonBody
	client.Correction
	Limits *NewLimits `json:"limits,omitempty"`
}

func revise(ctx context.Context, p *client.Process, b reviseInputBody) (err error) {
	if b.Correction.Limits, err = b.Limits.toLimits(); err != nil {
		return err
	}
	return p.Revise(ctx, b.Correction, b.callerActor(ctx))
}

type addInputBody struct {
	ReasonBody
	client.InstanceAddition
}

func addInstances(ctx context.Context, p *client.Process, b addInputBody) error {
	return p.AddInstances(ctx, b.InstanceAddition, b.callerActor(ctx))
}

type forkInput struct {
	ProcessTarget
	Body struct {
		_  struct{} `additionalProperties:"false"`
		At int      `json:"at" minimum:"1" doc:"the number of the Idea"`
		ID string   `json:"id,omitempty" maxLength:"200" doc:"of the new process; absent: ID-fork-N"`
		ideafiles.ForkChanges
		Replies   string           `json:"replies,omitempty" doc:"as in starting a process"`
		Delegates client.IdeaFiles `json:"delegates,omitempty" doc:"as in starting a process"`
	}
}

func (a *API) fork(ctx context.Context, in *forkInput) (*startOutput, error) {
	b := in.Body
	return a.startForCaller(ctx, client.StartOptions{ID: b.ID, ScriptedReplies: b.Replies, DelegateFiles: b.Delegates},
		func(ctx context.Context, o client.StartOptions) (*client.Process, error) {
			// The fields of Changes that name files stay empty: they would name files of this machine.
			return a.Client.StartFork(ctx, in.ID, b.At, b.ForkChanges, o)
		})
}
