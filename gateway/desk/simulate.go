package desk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/model/loop"
)

// trial is what a simulation came to, in plain words.
type trial struct {
	Status    loop.Status
	Sums      []fact
	Tools     []fact
	Open      []string
	OpenLeft  int
	Made      []string
	Unasked   []string
	Instances []instanceState
	Left      int
	Output    *fact
}

// longestTrial is how long a person waits for a simulation.
const longestTrial = 3 * time.Minute

// simulate tries the files out, and tells on the page what it came to.
func (d *Desk) simulate(ctx context.Context, p *startPage, source ideafiles.Source) error {
	if d.Simulate == nil {
		return unfit(
			"A simulation is not offered here: it runs on a server of its own, which starter run and starter dev " +
				"have. On a machine of your own, starter simulate does the same.")
	}
	ctx, cancel := context.WithTimeout(ctx, longestTrial)
	defer cancel()
	report, err := d.Simulate(ctx, source)
	if errors.Is(err, context.DeadlineExceeded) {
		return unfit(fmt.Sprintf("The simulation had not ended after %s, and was broken off.",
			plural(int(longestTrial/time.Minute), "minute")))
	}
	if err != nil {
		return err
	}
	p.Trial = trialOf(report)
	return nil
}

func trialOf(r *simulation.Report) *trial {
	t := &trial{Status: r.Status, Made: shortList(r.MadeUp), Unasked: shortList(r.Unasked)}
	about := ""
	if r.Estimated {
		about = "about "
	}
	t.Sums = []fact{
		{Name: "Instances", Text: fmt.Sprint(len(r.Instances))},
		{Name: "Requests", Text: plural(r.Total.Requests, "Request") + ", " + about + r.Total.TokenUsage.String()},
		{Name: "People", Text: "would have been asked about " + plural(r.Approvals, "Call")},
	}
	for _, name := range slices.Sorted(maps.Keys(r.Tools)) {
		var parts []string
		for _, status := range slices.Sorted(maps.Keys(r.Tools[name])) {
			parts = append(parts, fmt.Sprintf("%d %s", r.Tools[name][status], status))
		}
		t.Tools = append(t.Tools, fact{Name: short(name), Text: strings.Join(parts, ", ")})
	}
	t.Open = shortList(r.Open)
	t.OpenLeft = len(r.Open) - len(t.Open)
	if r.Output != nil {
		t.Output = factOf(r.Output)
	}
	tell := newTeller()
	tokens := ideafiles.SortedTokens(r.Instances)
	for n, token := range tokens {
		const atOnce = 5
		if n == atOnce || tell.Left <= 0 {
			t.Left = len(tokens) - n
			break
		}
		state := tell.Tell(string(r.Instances[token].Status), r.Instances[token].State)
		t.Instances = append(t.Instances, instanceState{Token: short(token), State: state})
	}
	return t
}

// shortList is the first of a list of texts.
func shortList(all []string) (short []string) {
	const most = 50
	for _, one := range all[:min(len(all), most)] {
		short = append(short, long(one))
	}
	return short
}

// settled counts the instances that need nothing more.
func settled(instances map[string]loop.InstanceResult) (n int) {
	for _, i := range instances {
		if i.Status.HasEnded() {
			n++
		}
	}
	return n
}
