package ideafile

import (
	"errors"
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Quality says which answers the LLM is asked for twice, and what follows if they differ (`config.quality`).
type Quality struct {
	// RecheckShare is the share of the instances that are asked about a second time; 0: none.
	RecheckShare float64
	// DisagreementLimit is the share of these instances whose answers may differ; below 0: any.
	DisagreementLimit float64
	// HoldsCallsForRecheck (key `before`) makes the Calls of an instance that is asked about twice wait for the second
	// answer.
	HoldsCallsForRecheck bool
	// DisagreementLimitAction is what happens above the limit: ShrinkRequests, PauseProcess or ReportOnly.
	DisagreementLimitAction string
	// LLMs are asked the second time; empty: the process's own.
	LLMs LLMs
}

// RecheckLLMs are the LLMs that are asked the second time.
func (c Config) RecheckLLMs() LLMs {
	if c.Quality.LLMs != nil {
		return c.Quality.LLMs
	}
	return c.LLMs
}

// What happens when more answers differ than the limit allows.
const (
	ShrinkRequests = "shrink" // parts that have not begun get fewer instances
	PauseProcess   = "pause"
	ReportOnly     = "tell"
)

// defaultRecheckShare is the share if the file names none.
const defaultRecheckShare = 0.05

func readQuality(m jsonval.Object, path string, ps *diag.Problems) Quality {
	q := Quality{RecheckShare: defaultRecheckShare, DisagreementLimitAction: ShrinkRequests, DisagreementLimit: -1}
	for k, v := range jsonval.Sorted(m) {
		var err error
		switch k {
		case "recheck":
			q.RecheckShare, err = readFraction(v)
		case "limit":
			q.DisagreementLimit, err = readFraction(v)
		case "before":
			q.HoldsCallsForRecheck, err = readBool(v)
		case "onLimit":
			q.DisagreementLimitAction = jsonval.AsText(v)
			if !slices.Contains([]string{ShrinkRequests, PauseProcess, ReportOnly}, q.DisagreementLimitAction) {
				err = fmt.Errorf(`want "shrink", "pause" or "tell", not %s`, jsonval.QuoteForError(v))
			}
		case "llm":
			if q.LLMs = ReadLLMs(v, jsonval.JSONPathWithKey(path, k), ps); q.LLMs.UsesBatch() {
				err = errors.New("rechecks are not asked by batches, since Calls may wait for them: leave batch out")
			}
		default:
			err = fmt.Errorf("unknown key %q; quality has before, limit, llm, onLimit and recheck", k)
		}
		if err != nil {
			ps.AddAtKey(path, k, "%s", err)
		}
	}
	return q
}

// readFraction reads a share from 0 to 1. A float is exact enough, since it is for counting instances, not money.
func readFraction(v any) (float64, error) {
	share, err := jsonval.ToFloat(v)
	if err != nil || share < 0 || share > 1 {
		return 0, fmt.Errorf("want a share from 0 to 1, such as 0.05 for 5 %%, not %s", jsonval.QuoteForError(v))
	}
	return share, nil
}
