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

// simulationTimeout is how long a simulation may take: nothing in it takes long by itself.
const simulationTimeout = 5 * time.Minute

// checkIdeas checks and simulates every Idea file of the folder.
func (o Options) checkIdeas(ctx context.Context, r *Report) error {
	if o.IdeaFolder == "" {
		return nil
	}
	sources, err := ideafiles.FindAll(o.IdeaFolder)
	if err != nil {
		return err
	}
	for _, s := range sources {
		activity.RecordHeartbeat(ctx, s.GivenPath)
		r.IdeaCount++
		prepared, err := o.prepare(s)
		if err != nil {
			r.addProblem("%s: %v", s.GivenPath, err)
			continue
		}
		if err := o.simulate(ctx, s, prepared, r); err != nil {
			return err
		}
	}
	return nil
}

// prepare returns the simulation of Idea files, after a check that this version has every Tool, and so could run them
// for real.
func (o Options) prepare(s ideafiles.Source) (*simulation.PreparedProcess, error) {
	_, problems, err := ideafiles.Load(s, o.Tools)
	if err != nil {
		return nil, err
	}
	if len(problems.Errors()) > 0 {
		return nil, &ideafiles.InvalidError{Source: s.GivenPath, Problems: problems.Errors()}
	}
	prepared, _, err := simulation.Prepare(s, o.Tools, simulation.Options{UsesOnlySchemas: s.RepliesPath == ""})
	return prepared, err
}

// simulate runs a simulation on this version.
func (o Options) simulate(ctx context.Context, s ideafiles.Source, prepared *simulation.PreparedProcess,
	r *Report) error {
	simulationCtx, cancel := context.WithTimeout(ctx, simulationTimeout)
	defer cancel()
	defer activities.StartHeartbeats(ctx)()
	startOptions := prepared.StartOptions(client.NewProcessID("gate-" + s.Name()))
	startOptions.WorkerVersion = o.Version
	p, err := o.newClient().Start(simulationCtx, startOptions)
	if err != nil {
		return err
	}
	result, err := p.Result(simulationCtx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case simulationCtx.Err() != nil:
		r.addProblem("%s: its simulation %s has not ended after %s", s.GivenPath, p.ID(), simulationTimeout)
		return p.Cancel(ctx)
	case err != nil:
		return err
	case result.Status != loop.StatusCompleted:
		r.addProblem("%s: its simulation %s ended as %s", s.GivenPath, p.ID(), result.Status)
	}
	return nil
}
