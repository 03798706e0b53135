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
	Words  *shown.Words
	States []instanceState // of the first instances
	Left   int
}

// longestTrial is how long a person waits for a simulation.
const longestTrial = 3 * time.Minute

// simulate simulates the files, and shows the result on the page.
func (d *Desk) simulate(ctx context.Context, p *startPage, source ideafiles.Source, words *shown.Words) error {
	if d.Simulate == nil {
		return api.Unprocessable("Simulations are not available here.")
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
	p.Trial = trialOf(report, words, client.LanguageOf(ctx))
	return nil
}

func trialOf(r *simulation.Report, words *shown.Words, l shown.Language) *simulationView {
	t, tell, tokens := &simulationView{Report: r, Words: words}, newTeller(l), ideafiles.SortedTokens(r.Instances)
	for n, token := range tokens {
		const atOnce = 5
		if n == atOnce || tell.Left <= 0 {
			t.Left = len(tokens) - n
			break
		}
		state := tell.BuildAt(nil, string(r.Instances[token].Status), words.StateFormat(), r.Instances[token].State)
		t.States = append(t.States, instanceState{Token: token, Name: clipName(words.NameOf(token)), State: state})
	}
	return t
}
