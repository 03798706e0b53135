package main

import (
	"strings"
	"testing"

	"processidea/client"
	"processidea/client/actions"
	"processidea/starter/internal/exit"
)

func TestShowSaysWhatAProcessAndItsInstancesHaveTakenOfActions(t *testing.T) {
	d := newDesk(t, signed(`true`))
	d.dev()
	d.signable("p", 3)
	d.do("decide", "p", "--approve", "--yes").is(exit.Done)
	d.do("watch", "p").is(exit.Done)
	var taken client.BilledActionCounts
	d.eventually("the server lists all of them", func() bool {
		d.do("show", "p", "--actions", "--json").is(exit.Done).json(&taken)
		return taken.RunCount == 4 && taken.ByKind[actions.KindSignals] >= 9
	})
	if taken.Total != taken.ByKind.Total() || taken.ByKind[actions.KindStarts] != 4 ||
		taken.ByKind[actions.KindChildren] != 3 {
		t.Errorf("%+v", taken)
	}
	if e := d.do("show", "p", "--actions").is(exit.Done); !strings.HasPrefix(e.out, "p has used ") ||
		!strings.Contains(e.out, " actions in 4 workflow runs: ") {
		t.Error(e.out)
	}
	d.do("show", "nobody", "--actions").is(exit.Usage)
	d.do("show", "p", "--at", "1", "--actions").is(exit.Usage)
}
