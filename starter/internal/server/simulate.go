package server

import (
	"context"
	"os"
	"path/filepath"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/starter/internal/exit"
)

// serialSimulator simulates processes for the desk, one at a time. Each runs on its own temporary server and store,
// with a worker that reaches nothing but the LLM.
func (p Place) serialSimulator() func(context.Context, ideafiles.Source) (*simulation.Report, error) {
	simulationSlot := make(chan struct{}, 1)
	return func(ctx context.Context, source ideafiles.Source) (*simulation.Report, error) {
		select {
		case simulationSlot <- struct{}{}:
			defer func() { <-simulationSlot }()
			return p.simulate(ctx, source)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (p Place) simulate(ctx context.Context, source ideafiles.Source) (*simulation.Report, error) {
	prepared, _, err := simulation.Prepare(source, Place{Additions: p.Additions}.Tools(),
		simulation.Options{WorkersHaveLLM: EnvironmentHasLLM()})
	if err != nil {
		return nil, err
	}
	p.Note = func(string, ...any) {}
	isolatedPlace, cleanup, err := p.ForSimulation("")
	if err != nil {
		return nil, err
	}
	defer cleanup()
	s, err := isolatedPlace.OpenSession(ctx, SimulationHostOptions)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	process, err := s.Start(ctx, prepared.StartOptions(client.NewProcessID("simulated-"+source.Name())))
	if err != nil {
		return nil, err
	}
	result, err := process.Result(ctx)
	if err != nil {
		return nil, err
	}
	return prepared.Report(ctx, s.Client, process, result)
}

// SimulationHostOptions is a server for one simulation. Its worker reaches nothing but the LLM.
var SimulationHostOptions = HostOptions{UIPort: -1, GatewayPort: -1, RunsWorker: true, IsWorkerIsolated: true}

// ForSimulation returns a place with a server and a store that nothing real uses: in a folder, or in a temporary one,
// which cleanup removes, if that is empty.
func (p Place) ForSimulation(folder string) (isolatedPlace Place, cleanup func(), err error) {
	cleanup = func() {}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "processidea-simulation-"); err != nil {
			return p, cleanup, exit.Usagef("make folder for simulation: %w", err)
		}
		cleanup = func() { _ = os.RemoveAll(folder) }
	}
	folder, err = filepath.Abs(folder)
	return Place{DataFolder: folder, StorePlace: filepath.Join(folder, "store"), Additions: p.Additions,
		TemporalHost: p.TemporalHost,
		Note:         p.Note}, cleanup, err
}
