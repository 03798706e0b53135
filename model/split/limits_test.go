package split_test

import (
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/split"
	"processidea/model/turn"
)

// A limit that the file does not say costs no signals before half of it is used.
func TestLeaveIsAskedForOnlyWhereLimitsAreSaidOrADefaultIsNear(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config string
		used   turn.QuotaUse
		told   int
	}{
		{``, turn.QuotaUse{}, 0},
		// of twice as many
		{``, turn.QuotaUse{Calls: ideafile.DefaultCallLimit - 1, Requests: ideafile.DefaultRequestLimit - 1}, 0},
		{``, turn.QuotaUse{Calls: ideafile.DefaultCallLimit}, 1},
		{``, turn.QuotaUse{Requests: ideafile.DefaultRequestLimit}, 1},
		{`, "limits": {"calls": null}`, turn.QuotaUse{Calls: 2 * ideafile.DefaultCallLimit}, 0},
		{`, "limits": {"calls": 500}`, turn.QuotaUse{}, 1},
	} {
		_, p := newSplit(t, 4, c.config)
		startAll(p)
		p.ApplyReport(split.PartReport{Number: 1, Sequence: 1, Status: loop.StatusRunning, QuotaUse: c.used})
		numbers, f := p.AllocateQuotas()
		if len(numbers) != c.told || f != nil {
			t.Errorf("%s, %+v used: %v are told, %v", c.config, c.used, numbers, f)
		}
	}
}

// A pause could overtake what was given just before, which nobody would begin then.
func TestTheLimitPausesOnlyOnceAllThatWasGivenCanHaveBegun(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 4, `, "limits": {"calls": 5}`)
	startAll(p)
	needs := func(number, sequence, calls, needed int, heard turn.Quota, unheard bool) {
		p.ApplyReport(split.PartReport{Number: number, Sequence: sequence, Status: loop.StatusRunning,
			QuotaUse: turn.QuotaUse{
				Calls: calls, NeededQuota: turn.Quota{Calls: needed}, AcknowledgedQuota: heard, HasUnacknowledgedGrants: unheard,
			}})
	}
	deals := func(step string, pauses bool) {
		t.Helper()
		if _, f := p.AllocateQuotas(); (f != nil) != pauses {
			t.Errorf("%s: %v", step, f)
		}
	}
	deals("nothing is needed", false)
	needs(1, 1, 0, 8, turn.Quota{}, false)
	deals("5 are given", false)
	needs(2, 1, 0, 4, turn.Quota{}, false)
	deals("the first has not heard", false)
	needs(1, 2, 0, 8, turn.Quota{Calls: 5}, true)
	deals("its instances have not heard", false)
	needs(1, 3, 5, 8, turn.Quota{Calls: 5}, false)
	deals("all 5 have begun", true)
}

func contextOf(i *ideafile.Idea) string { return string(jsonval.Encode(i.Source["context"])) }
