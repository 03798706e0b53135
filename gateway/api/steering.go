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
	steering, errs := []string{"steering"}, []int{http.StatusNotFound, http.StatusConflict}
	steer := func(verb, summary, description string) huma.Operation {
		return huma.Operation{
			OperationID: verb + "-process", Method: http.MethodPost, Path: "/api/processes/{id}/" + verb, Summary: summary, Tags: steering, Errors: errs,
			Description:  description + " It answers once that has taken effect; 409 refused: it changed nothing.",
			MaxBodyBytes: largestIdea, DefaultStatus: http.StatusNoContent,
		}
	}
	operation(a, access.Steer, steer("pause", "Pause a process", "Lets the Calls that run finish, and starts nothing new."), a.pause)
	operation(a, access.Steer, steer("resume", "Let a paused process go on", "Lets a paused process go on, with new limits where they are given."), a.resume)
	operation(a, access.Steer, steer("revise", "Correct a process",
		"Brings corrections: values of State, inputs, instructions, Plans, limits, or instances that are worked on again."), a.revise)
	operation(a, access.Steer, steer("add", "Add instances to a process", "Brings new instances to a process that is at work."), a.add)
	operation(a, access.Steer, steer("cancel", "End a process", "Breaks off its Request and its Calls; nothing more runs."), a.cancel)
	operation(a, access.Steer, huma.Operation{
		OperationID: "resume-processes", Method: http.MethodPost, Path: "/api/processes/resume", Summary: "Let all paused processes go on", Tags: steering,
		Description: "Lets every paused process go on that somebody started, with its parts and delegates, or those that are paused with a code. It answers " +
			"once that has taken effect, and says what became of each.",
		MaxBodyBytes: largestIdea,
	}, a.resumeAll)
	operation(a, access.Start, huma.Operation{
		OperationID: "fork-process", Method: http.MethodPost, Path: "/api/processes/{id}/fork", Summary: "Start a process from an Idea of another", Tags: steering,
		Description: "Starts a new process that goes on where the other one stood in an Idea. The other one is left as it is; effects that Calls had are " +
			"there for both.",
		Errors: errs, MaxBodyBytes: largestIdea, DefaultStatus: http.StatusCreated,
		Responses: map[string]*huma.Response{"200": startedResponse, "201": startedResponse},
	}, a.fork)
}

type reasonBody struct {
	_      struct{} `additionalProperties:"false"`
	Reason string   `json:"reason,omitempty" doc:"why, for the record"`
}

type reasonInput struct {
	Target
	Body *reasonBody
}

func (in *reasonInput) by(ctx context.Context) client.By {
	by := client.By{Name: access.From(ctx).Name}
	if in.Body != nil {
		by.Reason = in.Body.Reason
	}
	return by
}

// Steer does something to a process, for as long as the gateway's patience lasts.
func (a *API) Steer(ctx context.Context, id string, do func(context.Context, *client.Process) error) (*struct{}, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	p, err := a.Client.Attach(ctx, id)
	if err == nil {
		err = do(ctx, p)
	}
	a.Acted(id)
	return nil, err
}

func (a *API) pause(ctx context.Context, in *reasonInput) (*struct{}, error) {
	return a.Steer(ctx, in.ID, func(ctx context.Context, p *client.Process) error { return p.Pause(ctx, in.by(ctx)) })
}

func (a *API) cancel(ctx context.Context, in *reasonInput) (*struct{}, error) {
	return a.Steer(ctx, in.ID, func(ctx context.Context, p *client.Process) error { return p.Cancel(ctx) })
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

type resumeInput struct {
	Target
	Body *struct {
		_      struct{}   `additionalProperties:"false"`
		Reason string     `json:"reason,omitempty" doc:"why, for the record"`
		Limits *NewLimits `json:"limits,omitempty"`
	}
}

func (a *API) resume(ctx context.Context, in *resumeInput) (*struct{}, error) {
	by, set := client.By{Name: access.From(ctx).Name}, ideafile.Limits{}
	if in.Body != nil {
		var err error
		if set, err = in.Body.Limits.read(); err != nil {
			return nil, err
		}
		by.Reason = in.Body.Reason
	}
	return a.Steer(ctx, in.ID, func(ctx context.Context, p *client.Process) error { return p.Resume(ctx, set, by) })
}

type resumeAllInput struct {
	Body *struct {
		_       struct{} `additionalProperties:"false"`
		Because string   `json:"because,omitempty" doc:"only those that are paused with this code; absent: all" example:"llm_unreachable"`
		Reason  string   `json:"reason,omitempty" doc:"why, for the record"`
	}
}

// ResumedList is what became of processes that were to go on.
type ResumedList struct {
	Processes []client.Resumed `json:"processes" nullable:"false"`
}

func (a *API) resumeAll(ctx context.Context, in *resumeAllInput) (*struct{ Body ResumedList }, error) {
	by, because := client.By{Name: access.From(ctx).Name}, ""
	if in.Body != nil {
		by.Reason, because = in.Body.Reason, in.Body.Because
	}
	all, err := a.ResumeAll(ctx, because, by)
	if err != nil {
		return nil, err
	}
	return &struct{ Body ResumedList }{ResumedList{all}}, nil
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

type reviseInput struct {
	Target
	Body struct {
		_       struct{}   `additionalProperties:"false"`
		Context []Object   `json:"context,omitempty" nullable:"false" doc:"messages as an Idea's context holds them, which come after all others"`
		Reopen  []string   `json:"reopen,omitempty" nullable:"false" doc:"tokens of instances that have ended and are worked on again"`
		Limits  *NewLimits `json:"limits,omitempty"`
		Reason  string     `json:"reason,omitempty" doc:"why, for the record"`
	}
}

func (a *API) revise(ctx context.Context, in *reviseInput) (*struct{}, error) {
	context_, err := readValues(in.Body.Context, "body.context")
	if err != nil {
		return nil, err
	}
	set, err := in.Body.Limits.read()
	if err != nil {
		return nil, err
	}
	by := client.By{Name: access.From(ctx).Name, Reason: in.Body.Reason}
	return a.Steer(ctx, in.ID, func(ctx context.Context, p *client.Process) error {
		return p.Revise(ctx, client.Correction{Context: context_, Reopen: in.Body.Reopen, Limits: set}, by)
	})
}

type addInput struct {
	Target
	Body struct {
		_         struct{} `additionalProperties:"false"`
		Instances []Object `json:"instances,omitempty" nullable:"false" doc:"rows of data, each an instance's input"`
		Context   []Object `json:"context,omitempty" nullable:"false" doc:"messages with an _instance that is new"`
		Reason    string   `json:"reason,omitempty" doc:"why, for the record"`
	}
}

func (a *API) add(ctx context.Context, in *addInput) (*struct{}, error) {
	rows, err := readObjects(in.Body.Instances, "body.instances")
	if err != nil {
		return nil, err
	}
	messages, err := readValues(in.Body.Context, "body.context")
	if err != nil {
		return nil, err
	}
	by := client.By{Name: access.From(ctx).Name, Reason: in.Body.Reason}
	return a.Steer(ctx, in.ID, func(ctx context.Context, p *client.Process) error {
		return p.Add(ctx, client.Addition{Instances: rows, Context: messages}, by)
	})
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
