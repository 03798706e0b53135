package client

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/client/internal/offload"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/blobs"
)

// Actor is who steers a process, and why. Both may be empty.
type Actor struct {
	Name   string `json:"-"`
	Reason string `json:"reason,omitempty" doc:"why, for the record"`
}

// CheckName returns why the name is not allowed, for acts without a signal: a process checks the names in signals
// itself. The error wraps ErrInvalid.
func (b Actor) CheckName() error {
	if err := policy.CheckPersonName(b.Name); b.Name != "" && err != nil {
		return kind.Errorf(ErrInvalid, "by %w", err)
	}
	return nil
}

func (b Actor) payload() map[string]any {
	return toObject(struct {
		Actor
		Name string `json:"by,omitempty"`
	}{b, b.Name})
}

// Correction is what Revise changes.
type Correction struct {
	// Messages is messages as in an Idea's context; they come after all others.
	Messages Objects `json:"context,omitempty" nullable:"false" doc:"messages as in an Idea's context; they come after all others"`
	// InstanceTokensToReopen names instances that have ended and are to be worked on again.
	InstanceTokensToReopen []string `json:"reopen,omitempty" nullable:"false" doc:"tokens of ended instances to work on again"`
	// Limits are the new limits; 0 keeps a limit.
	Limits ideafile.Limits `json:"-"`
}

// InstanceAddition is what Add adds: rows of data as in StartOptions.InstanceRows, messages with a new "_instance", or
// both.
type InstanceAddition struct {
	InstanceRows []map[string]any `json:"instances,omitempty" nullable:"false" doc:"rows of data, each an instance's input"`
	Messages     Objects          `json:"context,omitempty" nullable:"false" doc:"messages with an _instance that is new"`
}

// Object is a JSON object, with numbers as json.Number.
type Object map[string]any

// Objects are JSON objects, with numbers as json.Number: messages as in an Idea's context, or Calls as the LLM writes
// them.
type Objects []any

// Pause lets running Calls finish and starts nothing new, until Resume. Like the methods below it waits until it has
// taken effect; the error is a *RefusedError if the process refused it. Without a worker it waits for one.
func (p *Process) Pause(ctx context.Context, actor Actor) error {
	return p.steer(ctx, approval.SteerPause, actor.payload())
}

// Resume resumes a paused process. Limits are the new totals; 0 keeps a limit.
func (p *Process) Resume(ctx context.Context, limits ideafile.Limits, actor Actor) error {
	return p.steer(ctx, approval.SteerResume, withLimits(actor.payload(), limits))
}

// Revise corrects a process: values of State, inputs, instructions, Plans or limits, or instances to be worked on
// again. It makes a new Idea.
func (p *Process) Revise(ctx context.Context, c Correction, actor Actor) error {
	payload := withLimits(actor.payload(), c.Limits)
	messages := []any(c.Messages)
	for _, token := range c.InstanceTokensToReopen {
		messages = append(messages[:len(messages):len(messages)],
			map[string]any{"type": ideafile.TypeState, "_instance": token, ideafile.ReopenKey: true})
	}
	if messages != nil {
		payload["context"] = messages
	}
	return p.steer(ctx, approval.SteerRevise, payload)
}

// AddInstances adds new instances to a running process. They are in its next Request.
func (p *Process) AddInstances(ctx context.Context, a InstanceAddition, actor Actor) error {
	messages := []any(a.Messages)
	if len(a.InstanceRows) > 0 {
		idea, err := p.Idea(ctx)
		if err != nil {
			return err
		}
		rowMessages, problems := ideafiles.MessagesFromRows(normalizeRows(a.InstanceRows), idea)
		if err := ideafiles.ErrorFromProblems(p.id, problems); err != nil {
			return err
		}
		messages = append(rowMessages, messages...)
	}
	payload := actor.payload()
	payload["context"] = messages
	return p.steer(ctx, approval.SteerAddInstances, payload)
}

// AddInstanceRows adds the rows of a file: JSON Lines or CSV, by its name. limit is jsonval.TrustedTableNodeLimit for a
// file of one's own, and jsonval.UntrustedNodeLimit for one that a stranger sent. The error is an *InvalidError if rows
// are invalid. Rows with warnings are added all the same.
func (p *Process) AddInstanceRows(ctx context.Context, file string, data []byte, limit jsonval.NodeLimit,
	actor Actor) (warnings diag.Problems, err error) {
	idea, err := p.Idea(ctx)
	if err != nil {
		return nil, err
	}
	messages, problems := ideafiles.ReadRowsAsMessages(file, data, idea, limit)
	if err := ideafiles.ErrorFromProblems(filepath.Base(file), problems); err != nil {
		return nil, err
	}
	return problems, p.AddInstances(ctx, InstanceAddition{Messages: messages}, actor)
}

// Cancel ends the process: it interrupts its Request and its Calls, and nothing more runs. It returns once the process
// has ended. The error is a *RefusedError if the process had already ended or ended another way meanwhile.
func (p *Process) Cancel(ctx context.Context) error {
	const name = "cancel"
	info, err := p.describe(ctx)
	switch {
	case err != nil:
		return err
	case info.GetCloseTime() != nil:
		return &RefusedError{ProcessID: p.id, Signal: name, Reason: "the process has ended"}
	}
	if err := p.client.temporal.CancelWorkflow(ctx, p.id, ""); err != nil && !isNotFound(err) {
		return fmt.Errorf("cancel %s: %w", p.id, err)
	}
	err = p.pollUntilDone(ctx, func() (bool, error) {
		info, err := p.describe(ctx)
		return err == nil && info.GetCloseTime() != nil, p.client.query(ctx, p.id, protocol.QueryStatus, new(any))
	})
	if err != nil {
		return err
	}
	r, err := p.Result(ctx)
	if err == nil && r.Status != loop.StatusCancelled {
		err = &RefusedError{ProcessID: p.id, Signal: name, Reason: "the process had just ended as " + string(r.Status)}
	}
	return err
}

// withLimits adds the given limits to a signal.
func withLimits(payload map[string]any, l ideafile.Limits) map[string]any {
	limits := map[string]any{}
	add := func(name string, n float64, limit any) {
		switch {
		case n < 0: // no limit
			limits[name] = nil
		case n > 0:
			limits[name] = limit
		}
	}
	for name, n := range map[string]int{"requests": l.Requests, "tokens": l.Tokens, "calls": l.Calls} {
		add(name, float64(n), n)
	}
	add("money", float64(l.Money), l.Money)
	add("duration", float64(l.Duration), l.Duration.String())
	if len(limits) > 0 {
		payload["limits"] = limits
	}
	return payload
}

// steer signals the process and waits until the signal has taken effect.
func (p *Process) steer(ctx context.Context, signalName string, payload map[string]any) error {
	_, err := p.steerAndCountVotes(ctx, signalName, payload)
	return err
}

func (p *Process) steerAndCountVotes(ctx context.Context, signalName string,
	payload map[string]any) (VoteCount, error) {
	return p.steerAndWaitUnlessStopped(ctx, signalName, payload, nil)
}

// steerAndWaitUnlessStopped is steerAndCountVotes, and returns errActUnderWay if leave says so.
func (p *Process) steerAndWaitUnlessStopped(
	ctx context.Context, signalName string, payload map[string]any, shouldStopWaiting stopWaitingFunc,
) (VoteCount, error) {
	payload, err := offload.Idea(blobs.WithProcess(ctx, p.id), p.client.archive.blobStore, payload)
	if err != nil {
		return VoteCount{}, err
	}
	return p.signalAndAwaitOutcome(ctx, p.id, signalName, "", payload,
		func() error { return errors.New("the process has ended") }, shouldStopWaiting)
}
