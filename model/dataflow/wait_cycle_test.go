package dataflow

import (
	"maps"
	"slices"
	"testing"
)

func TestThoseWhoWaitForEachOtherStay(t *testing.T) {
	t.Parallel()
	g := waitGraph[int]{1: {2}, 2: {1}, 3: {1, 4}, 5: {1}, 6: {3}, 7: {7}, 8: {}}
	g.PruneNodesWaitingOutside() // 3 waits for 4 too, which waits for nobody
	if got := slices.Sorted(maps.Keys(g)); !slices.Equal(got, []int{1, 2, 5, 7, 8}) {
		t.Errorf("%v", got)
	}
	for n, closed := range map[int]bool{1: true, 2: true, 5: false, 7: true, 8: true} {
		if g.IsInClosedCycle(n) != closed {
			t.Errorf("%d: %v", n, !closed)
		}
	}
}
