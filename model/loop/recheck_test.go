package loop_test

import (
	"fmt"
	"testing"

	"processidea/model/modeltest"
)

// A process draws its share of each Request, and a part all of a Request or nothing.
func TestAPartAsksAgainAboutAllOfARequestOrNothing(t *testing.T) {
	t.Parallel()
	for isPart, want := range map[bool]map[int]bool{false: {2: true}, true: {0: true, 4: true}} {
		got := map[int]bool{}
		for part := range 6 {
			idea := modeltest.IdeaFrom(t, fmt.Sprintf(`{"meta": {"seed": "s/%d"}, "schema": {"tools": {`+modeltest.ScenarioTools+`}},
				"config": {"quality": {"recheck": 0.5, "before": true}}, "context": [{"type": "state", "_instance": "1", "a": 1},
				{"type": "state", "_instance": "2", "a": 2}, {"type": "state", "_instance": "3", "a": 3},
				{"type": "state", "_instance": "4", "a": 4}]}`, part))
			got[len(modeltest.NewScenarioOf(t, idea, isPart).ExpectRequest().HeldTokens)] = true
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("as a part: %v, so many are drawn: %v", isPart, got)
		}
	}
}
