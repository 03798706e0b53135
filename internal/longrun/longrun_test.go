package longrun_test

import (
	"maps"
	"testing"

	"processidea/internal/longrun"
)

func TestTheLongRunHasAllRowsAndTheOrdinaryOneSomeOfEachTable(t *testing.T) {
	table := map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}
	for oneIn, want := range map[int]int{1: 7, 3: 2, 7: 1, 20: 1} {
		t.Setenv("PROCESSIDEA_LONG", "1")
		if all := maps.Collect(longrun.SampleRows(t, oneIn, table)); !maps.Equal(all, table) {
			t.Errorf("one in %d, long: %v", oneIn, all)
		}
		t.Setenv("PROCESSIDEA_LONG", "")
		some := maps.Collect(longrun.SampleRows(t, oneIn, table))
		if testing.Short() {
			want = 1
		}
		if len(some) < want || len(some) > want+1 {
			t.Errorf("one in %d: %v", oneIn, some)
		}
		for name, row := range some {
			if table[name] != row {
				t.Errorf("row %s is %d", name, row)
			}
		}
	}
	if none := maps.Collect(longrun.SampleRows(t, 2, map[string]int{})); len(none) > 0 {
		t.Errorf("an empty table has %v", none)
	}
}
