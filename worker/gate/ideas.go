package gate

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/activities"
	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/model/loop"
)

// maxSimulationTime is how long a simulation may take: nothing in it takes long by itself.
const maxSimulationTime = 5 * time.Minute

// checkIdeas checks and simulates every Idea file of the folder.
func (o Options) checkIdeas(ctx context.Context, r *Report) error {
	if o.Ideas == "" {
		return nil
	}
	sources, err := ideafiles.FindAll(o.Ideas)
	if err != nil {
		return err
	}
	for _, s := range sources {
		activity.RecordHeartbeat(ctx, s.Given)
		r.Ideas++
		made, err := o.prepare(s)
		if err != nil {
			r.refuse("%s: %v", s.Given, err)
			continue
		}
		if err := o.simulate(ctx, s, made, r); err != nil {
			return err
		}
	}
	return nil
}

// prepare returns the simulation of Idea files, after a check that this version has every Tool, and so could run them
// for real.
func (o Options) prepare(s ideafiles.Source) (*simulation.Prepared, error) {
	_, problems, err := ideafiles.Load(s, o.Tools)
	if err != nil {
		return nil, err
	}
	if len(problems.Errors()) > 0 {
		return nil, &ideafiles.InvalidError{Source: s.Given, Problems: problems.Errors()}
	}
	made, _, err := simulation.Prepare(s, o.Tools, simulation.Options{Schemas: s.Replies == ""})
	return made, err
}

// simulate runs a simulation on this version.
func (o Options) simulate(ctx context.Context, s ideafiles.Source, made *simulation.Prepared, r *Report) error {
	simulating, cancel := context.WithTimeout(ctx, maxSimulationTime)
	defer cancel()
	defer activities.Heartbeat(ctx)()
	start := made.StartOptions(client.NewID("gate-" + s.Name()))
	start.Version = o.Version
	p, err := o.processes().Start(simulating, start)
	if err != nil {
		return err
	}
	result, err := p.Result(simulating)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case simulating.Err() != nil:
		r.refuse("%s: its simulation %s has not ended after %s", s.Given, p.ID(), maxSimulationTime)
		return p.Cancel(ctx)
	case err != nil:
		return err
	case result.Status != loop.StatusCompleted:
		r.refuse("%s: its simulation %s ended as %s", s.Given, p.ID(), result.Status)
	}
	return nil
}
