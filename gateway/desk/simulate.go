package desk

import (
	"context"
	"errors"
	"time"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/gateway/api"
	"processidea/model/ideafile/shown"
)

// simulationView is the result of a simulation.
type simulationView struct {
	*simulation.Report
	Presenter           *shown.Presenter
	States              []instanceState // of the first instances
	HiddenInstanceCount int
}

// maxSimulationTime is how long a person waits for a simulation.
const maxSimulationTime = 3 * time.Minute

// simulate simulates the files, and shows the result on the page.
func (d *Desk) simulate(ctx context.Context, p *startPage, source ideafiles.Source, presenter *shown.Presenter) error {
	if d.Simulate == nil {
		return api.Unprocessable("Simulations are not available here.")
	}
	ctx, cancel := context.WithTimeout(ctx, maxSimulationTime)
	defer cancel()
	report, err := d.Simulate(ctx, source)
	if errors.Is(err, context.DeadlineExceeded) {
		return api.Unprocessable("The simulation did not end within %s, and was stopped.",
			plural(int(maxSimulationTime/time.Minute), "minute"))
	}
	if err != nil {
		return err
	}
	p.Simulation = newSimulationView(report, presenter, client.LanguageOf(ctx))
	return nil
}

func newSimulationView(r *simulation.Report, presenter *shown.Presenter, l shown.Language) *simulationView {
	view, builder, tokens := &simulationView{Report: r, Presenter: presenter}, newFactBuilder(l),
		ideafiles.SortedInstanceTokens(r.Instances)
	for n, token := range tokens {
		const maxShownInstances = 5
		if n == maxShownInstances || builder.FactsLeft <= 0 {
			view.HiddenInstanceCount = len(tokens) - n
			break
		}
		state := builder.BuildAt(nil, string(r.Instances[token].Status), presenter.StateFormat(),
			r.Instances[token].State)
		view.States = append(view.States, instanceState{Token: token,
			Name: clipName(presenter.KnownInstanceName(token)), State: state})
	}
	return view
}
