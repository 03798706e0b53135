package split_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/quality"
	"processidea/model/split"
	"processidea/model/turn"
)

// tally counts n instances, of which some were decided otherwise.
func tally(n, differed int) (t quality.Tally) {
	for at := range n {
		t.AddComparison(turn.AnswerComparison{InstancePositionInPrompt: at%3 + 1, HasDiffered: at < differed})
	}
	return t
}

// Parts that have begun stay as they are: what follows is for those that have not.
func TestTheSizeOfPartsFollowsWhatWasMeasured(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		onLimit       string
		rechecked     [2]quality.Tally // of the two parts that have begun
		size          int
		parts, paused string
	}{
		"above the limit":         {`"shrink"`, [2]quality.Tally{tally(29, 10), tally(91, 30)}, 2, "[1 2 3 4][5 6 7 8][9 10][11 12]", ""},
		"one that differs":        {`"shrink"`, [2]quality.Tally{tally(15, 1), tally(15, 0)}, 4, "[1 2 3 4][5 6 7 8][9 10 11 12]", ""},
		"below, at what is said":  {`"shrink"`, [2]quality.Tally{tally(200, 0), tally(200, 0)}, 4, "[1 2 3 4][5 6 7 8][9 10 11 12]", ""},
		"above, and only told":    {`"tell"`, [2]quality.Tally{tally(60, 20), tally(60, 20)}, 4, "[1 2 3 4][5 6 7 8][9 10 11 12]", ""},
		"above, and to be paused": {`"pause"`, [2]quality.Tally{tally(60, 20), tally(60, 20)}, 4, "[1 2 3 4][5 6 7 8][9 10 11 12]", turn.CodeDisagreement},
	} {
		_, p := newSplit(t, 12, `, "partsAtOnce": 2, "batch": 4, "quality": {"limit": 0.02, "onLimit": `+c.onLimit+`}`)
		for n := range c.rechecked {
			startAll(p)
			p.ApplyReport(split.PartReport{PartNumber: n + 1, ReportNumber: 1, Status: loop.StatusRunning})
		}
		for n, rechecked := range c.rechecked {
			p.ApplyReport(split.PartReport{PartNumber: n + 1, ReportNumber: 2, Status: loop.StatusRunning,
				RecheckTally: rechecked})
		}
		var parts strings.Builder
		for _, part := range p.Parts {
			fmt.Fprint(&parts, part.InstanceTokens)
		}
		q := p.Quality()
		if p.InstancesPerPart != c.size || parts.String() != c.parts || q.RequestSize.Initial != 4 ||
			q.RequestSize.Current != c.size ||
			(c.size != 4) != strings.Contains(q.RequestSize.Reason, "of 120 asked twice 40") {
			t.Errorf("%s: %d a part, %s, %+v", name, p.InstancesPerPart, parts.String(), q.RequestSize)
		}
		if (c.paused != "") != (p.PauseReason != nil && p.PauseReason.Code == c.paused) {
			t.Errorf("%s: paused by %v", name, p.PauseReason)
		}
	}
}

// Whoever resumes a process that paused since answers differed has seen it: it does not pause for that again.
func TestAProcessThatWasPausedForDisagreementGoesOnWhenItIsResumed(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 12, `, "quality": {"limit": 0.02, "onLimit": "pause"}`)
	startAll(p)
	p.ApplyReport(split.PartReport{PartNumber: 1, ReportNumber: 1, Status: loop.StatusRunning,
		RecheckTally: tally(100, 50)})
	if p.PauseReason == nil {
		t.Fatal("it is not paused")
	}
	p.PauseReason = nil
	p.ApplyReport(split.PartReport{PartNumber: 1, ReportNumber: 2, Status: loop.StatusRunning,
		RecheckTally: tally(120, 70)})
	if p.PauseReason != nil {
		t.Errorf("it is paused again: %v", p.PauseReason)
	}
}

// A part whose size has grown beyond the kind's is not split again; each draws by a seed of its own.
func TestAPartKnowsItsSizeAndHasASeedOfItsOwn(t *testing.T) {
	t.Parallel()
	i, p := newSplit(t, 7, "")
	whole := jsonval.WithoutKey(ideafile.WithQualitySeed(i.Source, "s"), "config")
	for n, part := range p.Parts {
		got := string(jsonval.Encode(partSource(part, whole)))
		if want := fmt.Sprintf(`"batch":%d`, len(part.InstanceTokens)); !strings.Contains(got, want) ||
			!strings.Contains(got, fmt.Sprintf(`"seed":"s/%d"`, n+1)) {
			t.Errorf("part %d begins with %s", n+1, got)
		}
	}
}

// What is good at a smaller size says nothing of one that was measured above the limit.
func TestASizeThatWasMeasuredAboveTheLimitIsNotTakenAgain(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 40, `, "partsAtOnce": 1, "batch": 4, "quality": {"limit": 0.02}`)
	var sizes []int
	for n, rechecked := range []quality.Tally{tally(120, 40), tally(400, 0), tally(400, 0), tally(400, 0)} {
		startAll(p)
		p.ApplyReport(split.PartReport{PartNumber: n + 1, ReportNumber: 1, Status: loop.StatusCompleted,
			RecheckTally: rechecked})
		sizes = append(sizes, p.InstancesPerPart)
	}
	if got := fmt.Sprint(sizes); got != "[2 3 3 3]" {
		t.Errorf("the sizes were %s", got)
	}
}

// What MCP servers offer is known only once the process has been split.
func TestPartsBeginWithTheSizeThatIsKnownOnceTheToolsAre(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 150, `, "batch": "auto"`)
	if len(p.Parts) != 2 {
		t.Fatalf("it is %d parts at first", len(p.Parts))
	}
	p.SetInitialRequestSize(quality.RequestSize{Initial: 25, Current: 25, Reason: "the LLM chooses"})
	startAll(p)
	p.AddInstances([]string{"more"})
	if q := p.RequestSize; len(p.Parts) != 7 || len(p.Parts[0].InstanceTokens) != 25 ||
		p.Parts[5].InstanceTokens[24] != "150" || q.Reason != "the LLM chooses" {
		t.Errorf("%d parts, %+v", len(p.Parts), q)
	}
}
