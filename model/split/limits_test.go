package split_test

import (
	"testing"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
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
		p.ApplyReport(split.PartReport{PartNumber: 1, ReportNumber: 1, Status: loop.StatusRunning, QuotaUse: c.used})
		numbers, f := p.AllocateQuotas()
		if len(numbers) != c.told || f != nil {
			t.Errorf("%s, %+v used: %v are told, %v", c.config, c.used, numbers, f)
		}
	}
}

// Parts whose instances have all ended, and that rest, wait for second answers alone. The output is limited again.
func TestNoLimitOfTimeStopsPartsThatAreOnlyAskedAgain(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 4, `, "limits": {"duration": "1m"}`)
	startAll(p)
	late, settled := modeltest.StartTime.Add(2*time.Minute), ideafile.InstanceSettled
	for n, c := range []struct {
		what     string
		report   split.PartReport
		isPaused bool
	}{
		{"its instances work", split.PartReport{PartNumber: 1, Status: loop.StatusRunning, IsAtRest: true,
			StatusByInstance: map[string]ideafile.InstanceStatus{"1": settled, "2": settled}}, true},
		{"the other part has told nothing", split.PartReport{PartNumber: 1, Status: loop.StatusRunning, IsAtRest: true,
			StatusByInstance: map[string]ideafile.InstanceStatus{"1": settled, "2": settled, "3": settled}}, true},
		{"it seals", split.PartReport{PartNumber: 2, Status: loop.StatusRunning,
			StatusByInstance: map[string]ideafile.InstanceStatus{"4": settled}}, true},
		{"both rest", split.PartReport{PartNumber: 2, Status: loop.StatusRunning, IsAtRest: true,
			StatusByInstance: map[string]ideafile.InstanceStatus{"4": settled}}, false},
		{"one is paused", split.PartReport{PartNumber: 2, Status: loop.StatusPaused, IsAtRest: true,
			StatusByInstance: map[string]ideafile.InstanceStatus{"4": settled}}, true},
		{"one has ended", split.PartReport{PartNumber: 2, Status: loop.StatusCompleted,
			StatusByInstance: map[string]ideafile.InstanceStatus{"4": settled}}, false},
		{"both have ended", split.PartReport{PartNumber: 1, Status: loop.StatusCompleted,
			StatusByInstance: map[string]ideafile.InstanceStatus{"1": settled, "2": settled, "3": settled}}, true},
	} {
		startAll(p)
		c.report.ReportNumber = n + 1
		p.ApplyReport(c.report)
		if f, until := p.DurationLimitFault(late); (f != nil) != c.isPaused || (f == nil) != until.IsZero() {
			t.Errorf("%s: %v until %s", c.what, f, until)
		}
	}
	if f, until := p.DurationLimitFault(modeltest.StartTime); f != nil || !until.Equal(modeltest.StartTime.Add(time.Minute)) {
		t.Errorf("in time: %v until %s", f, until)
	}
}

// A pause could overtake what was given just before, which nobody would begin then.
func TestTheLimitPausesOnlyOnceAllThatWasGivenCanHaveBegun(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 4, `, "limits": {"calls": 5}`)
	startAll(p)
	needs := func(number, sequence, calls, needed int, heard turn.Quota, unheard bool) {
		p.ApplyReport(split.PartReport{PartNumber: number, ReportNumber: sequence, Status: loop.StatusRunning,
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
