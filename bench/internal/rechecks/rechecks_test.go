package rechecks

import (
	"math"
	"testing"
)

// The interval holds the truth in 93 to 97 of 100, rechecks cost their share, and the size that is
// found keeps the limit.
func TestRechecksKnowTheTruthAndSizesKeepTheLimit(t *testing.T) {
	t.Parallel()
	for _, s := range ErrorProfiles {
		o := s.Simulate()
		if o.IntervalCoverageShare < 0.93 || o.IntervalCoverageShare > 0.97 {
			t.Errorf("%s: %.1f %% of the intervals hold the truth, %.3f", s.Name, 100*o.IntervalCoverageShare,
				o.TrueDisagreement)
		}
		if math.Abs(o.RecheckTokenRatio-recheckShare) > recheckShare/10 { // rules and Tools included
			t.Errorf("%s: rechecks take %.2f %% of the tokens", s.Name, 100*o.RecheckTokenRatio)
		}
		if o.WithinLimitShare < 0.85 { // what is close to the limit cannot be told from it
			t.Errorf("%s: %.1f %% keep the limit, at %.0f a Request", s.Name, 100*o.WithinLimitShare,
				o.MeanFinalRequestSize)
		}
	}
}
