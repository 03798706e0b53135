package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/gateway/access"
	"processidea/model/ideafile"
)

func (a *API) addSteering() {
	steer(a, "pause", "Pause a process", "Lets the Calls that run finish, and starts nothing new.",
		func(ctx context.Context, p *client.Process, b *ReasonBody) error { return p.Pause(ctx, b.by(ctx)) })
	steer(a, "resume", "Let a paused process go on", "Lets a paused process go on, with new limits where they are given.", resume)
	steer(a, "revise", "Correct a process",
		"Brings corrections: values of State, inputs, instructions, Plans, limits, or instances that are worked on again.", revise)
	steer(a, "add", "Add instances to a process", "Brings new instances to a process that is at work.", add)
	steer(a, "cancel", "End a process", "Breaks off its Request and its Calls; nothing more runs.",
		func(ctx context.Context, p *client.Process, _ *ReasonBody) error { return p.Cancel(ctx) })
	operation(a, access.Steer, huma.Operation{
		OperationID: "resume-processes", Method: http.MethodPost, Path: "/api/processes/resume", Summary: "Let all paused processes go on",
		Description: "Lets every paused process go on that somebody started, with its parts and delegates, or those that are paused with a code. It answers " +
			"once that has taken effect, and says what became of each.",
		Tags: []string{steering}, MaxBodyBytes: largestIdea,
	}, answer(a.resumeAll))
	operation(a, access.Start, huma.Operation{
		OperationID: "fork-process", Method: http.MethodPost, Path: "/api/processes/{id}/fork", Summary: "Start a process from an Idea of another",
		Description: "Starts a new process that goes on where the other one stood in an Idea. The other one is left as it is; effects that Calls had are " +
			"there for both.",
		Tags: []string{steering}, Errors: []int{http.StatusConflict}, MaxBodyBytes: largestIdea, DefaultStatus: http.StatusCreated,
		Responses: map[string]*huma.Response{"200": startedResponse, "201": startedResponse},
	}, a.fork)
}

const steering = "steering" // a tag

// ReasonBody says why something is done.
type ReasonBody struct {
	_      struct{} `additionalProperties:"false"`
	Reason string   `json:"reason,omitempty" doc:"why, for the record"`
}

// by says who asks, and why.
func (b *ReasonBody) by(ctx context.Context) client.By {
	by := client.By{Name: access.From(ctx).Name}
	if b != nil {
		by.Reason = b.Reason
	}
	return by
}

type steerInput[B any] struct {
	Target
	Body B // a pointer: it may be left out
}

// steer adds an act of steering. do refuses a body that cannot be meant, and sends it.
func steer[B any](a *API, verb, summary, description string, do func(context.Context, *client.Process, B) error) {
	operation(a, access.Steer, huma.Operation{
		OperationID: verb + "-process", Method: http.MethodPost, Path: "/api/processes/{id}/" + verb, Summary: summary,
		Description: description + " It answers once that has taken effect; 409 refused: it changed nothing.",
		Tags:        []string{steering}, Errors: []int{http.StatusConflict}, MaxBodyBytes: largestIdea, DefaultStatus: http.StatusNoContent,
	}, func(ctx context.Context, in *steerInput[B]) (*struct{}, error) {
		return nil, a.Steer(ctx, in.ID, func(ctx context.Context, p *client.Process) error { return do(ctx, p, in.Body) })
	})
}

// Steer does something to a process, for as long as the gateway's patience lasts.
func (a *API) Steer(ctx context.Context, id string, do func(context.Context, *client.Process) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	p, err := a.Client.Attach(ctx, id)
	if err == nil {
		err = do(ctx, p)
	}
	a.Acted(id)
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

func (l *NewLimits) read() (out ideafile.Limits, err error) {
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
	set, err := b.Limits.read()
	if err != nil {
		return err
	}
	return p.Resume(ctx, set, b.by(ctx))
}

type resumeAllInputBody struct {
	ReasonBody
	Because string `json:"because,omitempty" doc:"only those that are paused with this code; absent: all" example:"llm_unreachable"`
}

// ResumedList is what became of processes that were to go on.
type ResumedList struct {
	Processes []client.Resumed `json:"processes" nullable:"false"`
}

func (a *API) resumeAll(ctx context.Context, in *struct{ Body *resumeAllInputBody }) (list ResumedList, err error) {
	body := in.Body
	if body == nil {
		body = &resumeAllInputBody{}
	}
	list.Processes, err = a.ResumeAll(ctx, body.Because, body.by(ctx))
	return list, err
}

// ResumeAll lets paused processes go on, for as long as the gateway's patience lasts: all, or those that are paused
// with a code.
func (a *API) ResumeAll(ctx context.Context, because string, by client.By) ([]client.Resumed, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	all, err := a.Client.ResumeAll(ctx, because, by)
	for _, r := range all {
		a.Acted(r.Process)
	}
	return all, err
}

type reviseInputBody struct {
	ReasonBody
	Context []Object   `json:"context,omitempty" nullable:"false" doc:"messages as an Idea's context holds them, which come after all others"`
	Reopen  []string   `json:"reopen,omitempty" nullable:"false" doc:"tokens of instances that have ended and are worked on again"`
	Limits  *NewLimits `json:"limits,omitempty"`
}

func revise(ctx context.Context, p *client.Process, b reviseInputBody) (err error) {
	c := client.Correction{Reopen: b.Reopen}
	if c.Context, err = readValues(b.Context, "body.context"); err != nil {
		return err
	}
	if c.Limits, err = b.Limits.read(); err != nil {
		return err
	}
	return p.Revise(ctx, c, b.by(ctx))
}

type addInputBody struct {
	ReasonBody
	Instances []Object `json:"instances,omitempty" nullable:"false" doc:"rows of data, each an instance's input"`
	Context   []Object `json:"context,omitempty" nullable:"false" doc:"messages with an _instance that is new"`
}

func add(ctx context.Context, p *client.Process, b addInputBody) (err error) {
	var rows client.Addition
	if rows.Instances, err = readObjects(b.Instances, "body.instances"); err != nil {
		return err
	}
	if rows.Context, err = readValues(b.Context, "body.context"); err != nil {
		return err
	}
	return p.Add(ctx, rows, b.by(ctx))
}

type forkInput struct {
	Target
	Body struct {
		_         struct{}          `additionalProperties:"false"`
		At        int               `json:"at" minimum:"1" doc:"the number of the Idea"`
		ID        string            `json:"id,omitempty" maxLength:"200" doc:"of the new process; absent: ID-fork-N"`
		Set       []string          `json:"set,omitempty" nullable:"false" doc:"TOKEN:path=JSON: values that are put into State"`
		Unset     []string          `json:"unset,omitempty" nullable:"false" doc:"TOKEN:path: values that are taken out of State, so that they can be written again"`
		Idea      Object            `json:"idea,omitempty" doc:"a part of an Idea that comes after it: messages, Tools, configuration"`
		LLM       string            `json:"llm,omitempty" doc:"the name of the LLM to ask"`
		Reopen    []string          `json:"reopen,omitempty" nullable:"false" doc:"tokens of instances that had ended and are planned for anew; or all"`
		Replies   string            `json:"replies,omitempty" doc:"as in starting a process"`
		Delegates map[string]Object `json:"delegates,omitempty" doc:"as in starting a process"`
	}
}

func (a *API) fork(ctx context.Context, in *forkInput) (*startOutput, error) {
	b := in.Body
	o := client.StartOptions{ID: b.ID, Replies: b.Replies, By: access.From(ctx).Name}
	if o.ID == "" {
		o.ForkOf = in.ID
	} else if err := client.ValidateID(o.ID); err != nil {
		return nil, invalidAt("body.id", err)
	}
	more, err := b.Idea.read("body.idea")
	if err != nil {
		return nil, err
	}
	if o.Delegates, err = readDelegates(b.Delegates); err != nil {
		return nil, err
	}
	idea, err := a.Client.Chain(in.ID).Fork(ctx, b.At)
	if err != nil {
		return nil, err
	}
	// Whatever names a file stays empty: it would be one of this machine.
	changes := ideafiles.Changes{More: more, Set: b.Set, Unset: b.Unset, LLM: b.LLM, Reopen: b.Reopen}
	if o.Idea, err = changes.Apply(idea); err != nil {
		return nil, err
	}
	return a.begin(ctx, o)
}
