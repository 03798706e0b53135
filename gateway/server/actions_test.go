package server_test

import (
	"testing"
)

func TestWhatAProcessHasTakenOfBilledActionsIsCountedWhenSomebodyAsks(t *testing.T) {
	h := open(t)
	id := h.pays(`{"values": {"order": "A1", "cents": 1}}`)
	page := "/desk/processes/" + id
	h.browse().open(page).is(200).says("Count them")
	var taken map[string]any
	eventually(t, "the server lists the process and its instance", func() bool {
		taken = h.get("/api/processes/" + id + "/actions").is(200).object()
		return taken["runs"] == float64(2)
	})
	sum := 0.
	for _, n := range taken["kinds"].(map[string]any) {
		sum += n.(float64)
	}
	if starts := taken["kinds"].(map[string]any)["starts"]; starts != float64(2) || taken["total"] != sum {
		t.Errorf("%v", taken)
	}
	h.browse().open(page + "?actions=count").is(200).says("in 2 workflow runs").says("2 starts")
	h.get("/api/processes/nobody/actions").problem(404, "not-found")
}
