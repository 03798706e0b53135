package desk

import (
	"context"
	"errors"
	"time"

	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/gateway/api"
)

// trial is the result of a simulation.
type trial struct {
	*simulation.Report
	States []instanceState // of the first instances
	Left   int
}

// longestTrial is how long a person waits for a simulation.
const longestTrial = 3 * time.Minute

// simulate simulates the files, and shows the result on the page.
func (d *Desk) simulate(ctx context.Context, p *startPage, source ideafiles.Source) error {
	if d.Simulate == nil {
		return api.Unprocessable(
			"Simulations are not available here: they need a server of their own, which starter run and starter " +
				"dev have. On your own machine, use starter simulate.")
	}
	ctx, cancel := context.WithTimeout(ctx, longestTrial)
	defer cancel()
	report, err := d.Simulate(ctx, source)
	if errors.Is(err, context.DeadlineExceeded) {
		return api.Unprocessable("The simulation did not end within %s, and was stopped.",
			plural(int(longestTrial/time.Minute), "minute"))
	}
	if err != nil {
		return err
	}
	p.Trial = trialOf(report)
	return nil
}

func trialOf(r *simulation.Report) *trial {
	t, tell, tokens := &trial{Report: r}, newTeller(), ideafiles.SortedTokens(r.Instances)
	for n, token := range tokens {
		const atOnce = 5
		if n == atOnce || tell.Left <= 0 {
			t.Left = len(tokens) - n
			break
		}
		state := tell.Build(string(r.Instances[token].Status), r.Instances[token].State)
		t.States = append(t.States, instanceState{Token: short(token), State: state})
	}
	return t
}
