package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/simulation"
)

// simulator simulates processes for the desk, one at a time. Each runs on its own temporary server and store, with a
// worker that reaches nothing but the LLM.
func (p Place) simulator() func(context.Context, ideafiles.Source) (*simulation.Report, error) {
	slot := make(chan struct{}, 1)
	return func(ctx context.Context, source ideafiles.Source) (*simulation.Report, error) {
		select {
		case slot <- struct{}{}:
			defer func() { <-slot }()
			return p.simulate(ctx, source)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (p Place) simulate(ctx context.Context, source ideafiles.Source) (*simulation.Report, error) {
	prepared, _, err := simulation.Prepare(source, Place{Additions: p.Additions}.Tools(),
		simulation.Options{HasLLM: HasLLM()})
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "processidea-simulation-")
	if err != nil {
		return nil, fmt.Errorf("make folder for simulation: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	isolated := Place{Dir: folder, Store: filepath.Join(folder, "store"), Additions: p.Additions, Temporal: p.Temporal,
		Note: func(string, ...any) {}}
	s, err := isolated.OpenSession(ctx, HostOptions{UIPort: -1, GatewayPort: -1, WithWorker: true, Isolated: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	process, err := s.Start(ctx, prepared.StartOptions(client.NewID("simulated-"+source.Name())))
	if err != nil {
		return nil, err
	}
	result, err := process.Result(ctx)
	if err != nil {
		return nil, err
	}
	return prepared.Report(ctx, s.Client, process, result)
}
