package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/worker/engine"
)

// runner is one process, started or found.
type runner struct {
	*app
	session  *session
	material *material
	options  runOptions
	tape     *tape
}

func (r *runner) run(ctx context.Context) error {
	attached, err := r.start(ctx)
	if err != nil {
		return err
	}
	r.introduce(attached)
	if r.options.detach && !attached {
		return r.finish(r.begun())
	}
	if r.options.detach {
		result, err := r.session.look(ctx, r.options.id)
		if err != nil {
			return err
		}
		return r.finish(result)
	}
	result, err := r.follow(ctx)
	if errors.Is(err, errInterrupted) {
		r.note("leave %s as it is; to go on: %s", r.options.id, r.again())
	}
	if err != nil {
		return err
	}
	return r.finish(result)
}

func (r *runner) start(ctx context.Context) (attached bool, err error) {
	m := r.material
	if r.options.forkOf != "" {
		if err := r.nameFork(ctx); err != nil {
			return false, err
		}
	}
	id := r.options.id
	if err := r.unclaimed(ctx); err != nil {
		return false, err
	}
	light, err := offload(ctx, r.session.values, m.idea)
	if err != nil {
		return false, err
	}
	delegation, err := m.delegation(ctx, r.session.values)
	if err != nil {
		return false, err
	}
	_, attached, err = engine.StartOrAttach(ctx, r.session, r.session.namespace, engine.StartProcess{
		ID: id, Idea: m.read, File: m.digest(),
		Start: protocol.Start{Idea: light, Replies: m.script, WithSolution: m.withSolution, Delegation: delegation},
	})
	switch {
	case errors.Is(err, engine.ErrOtherFile):
		return false, misuse("run %s as %s: %w, or with other replies", m.source.given, id, engine.ErrOtherFile)
	case err != nil && ctx.Err() != nil:
		return false, errInterrupted
	case err != nil:
		return false, startError(err)
	}
	if r.tape != nil {
		err = r.tape.start(id, attached)
	}
	return attached, err
}

// introduce says what runs, and where it can be seen.
func (r *runner) introduce(attached bool) {
	verb := "run"
	if attached {
		verb = "attach to"
	}
	if page := r.session.page(r.options.id); page != "" {
		r.note("%s %s: see %s", verb, r.options.id, page)
		return
	}
	r.note("%s %s", verb, r.options.id)
}

// follow waits for the process. When the program goes away whose server was used, the process goes on at the next one,
// which may be this.
func (r *runner) follow(ctx context.Context) (loop.Result, error) {
	var over <-chan time.Time
	if r.options.wait > 0 {
		over = time.After(r.options.wait)
	}
	somebody := r.newPerson(r.session, r.options.id)
	for {
		f := follower{session: r.session, id: r.options.id, progress: r.newProgress(r.options.id), over: over, person: somebody}
		result, err := f.follow(ctx)
		if !errors.Is(err, errAbandoned) {
			return result, err
		}
		p := r.session.place
		r.session.close()
		s, err := p.enter(ctx, r.options.server)
		if err != nil {
			return result, err
		}
		r.session = s
		if somebody != nil {
			somebody.session = s
		}
		r.note("the program that ran the server has ended; %s goes on here", r.options.id)
	}
}

// begun is a process of which nothing is known yet but its instances.
func (r *runner) begun() loop.Result {
	result := loop.Result{Process: r.options.id, Status: loop.StatusRunning, Instances: map[string]loop.InstanceResult{}}
	for _, token := range r.material.read.Tokens() {
		result.Instances[token] = loop.InstanceResult{Status: ideafile.InstanceWorking}
	}
	return result
}

// startError tells a server that refuses from one that does not answer.
func startError(err error) error {
	var refused *serviceerror.InvalidArgument
	var noNamespace *serviceerror.NamespaceNotFound
	if errors.As(err, &refused) || errors.As(err, &noNamespace) {
		return &exit{exitUsage, err}
	}
	return fmt.Errorf("start process: %w", err)
}
