package split_test

import (
	"fmt"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// Each part is told what of an act is its own, and the act ends when all have: what one refuses is said, but that one
// has nothing to take back only if all have nothing.
func TestPartsTakeBackWhatAPersonWantsOfTheWhole(t *testing.T) {
	t.Parallel()
	token := "5"
	nothing, done := approval.Fate{RefusalReason: "none", HasNothingToDo: true}, approval.Fate{}
	for name, c := range map[string]struct {
		order         approval.UndoOrder
		orders        string          // by part
		fates         []approval.Fate // of the parts, in turn
		refused, came string
		code          string
	}{
		"all": {orders: "1: [], 2: []", fates: []approval.Fate{done, done}},
		"an instance": {order: approval.UndoOrder{InstanceToken: &token}, orders: "2: []",
			fates: []approval.Fate{done}},
		"a Call": {order: approval.UndoOrder{CallID: "1.1@1"}, orders: "1: []", fates: []approval.Fate{done}},
		"Calls": {order: approval.UndoOrder{CallIDs: []string{"1.1@1", "1.1@4", "1.2@2"}},
			orders: "1: [1.1@1 1.2@2], 2: [1.1@4]", fates: []approval.Fate{done, done}},
		"one has nothing":  {orders: "1: [], 2: []", fates: []approval.Fate{nothing, done}},
		"all have nothing": {orders: "1: [], 2: []", fates: []approval.Fate{nothing, nothing}, came: "part 1: none; part 2: none"},
		"one fails": {orders: "1: [], 2: []", fates: []approval.Fate{{RefusalReason: "no"}, done},
			came: "part 1: no"},
		"one fails alone": {orders: "1: [], 2: []", fates: []approval.Fate{{RefusalReason: "no"}, nothing},
			came: "part 1: no"},
		"one has no rest": {orders: "1: [], 2: []", fates: []approval.Fate{{RefusalReason: "wait", RefusalCode: "c"},
			done}, came: "part 1: wait", code: "c"},
		"one ends":       {orders: "1: [], 2: []", fates: []approval.Fate{done}, came: "part 2: it has ended"},
		"a stranger":     {order: approval.UndoOrder{CallID: "1.1@99"}, refused: `no instance "99"`},
		"what has ended": {order: approval.UndoOrder{CallID: "1.1@7"}, refused: "nothing of it is at work"},
		"Calls of nobody": {order: approval.UndoOrder{CallIDs: []string{"1.1@99"}},
			refused: "nothing of it is at work"},
	} {
		_, p := newSplit(t, 9, "")
		for n := range p.Parts {
			p.Parts[n].HasStarted = true
		}
		p.Parts[2].Report.Status = loop.StatusCompleted
		if _, err := p.BeginUndo(c.order, "~whole"); err != loop.ErrUndoWhileRunning {
			t.Errorf("%s, at work: %v", name, err)
		}
		p.PauseReason = &diag.Fault{}
		orders, err := p.BeginUndo(c.order, "~whole")
		if got := modeltest.ErrorText(err); c.refused != "" || got != "" {
			if p.Undo != nil || c.refused == "" || !strings.Contains(got, c.refused) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if _, err := p.BeginUndo(c.order, "~whole"); err != loop.ErrUndoNotAtRest {
			t.Errorf("%s, twice: %v", name, err)
		}
		var got []string
		for n, o := range orders {
			got = append(got, fmt.Sprintf("%d: %v", p.Undo.PendingPartNumbers[n], o.CallIDs))
		}
		if strings.Join(got, ", ") != c.orders {
			t.Errorf("%s: %q", name, got)
		}
		for n, f := range c.fates {
			if o, _ := p.TakeEndedUndo(); o != nil {
				t.Errorf("%s: it has ended before part %d", name, n+1)
			}
			f.Signal, f.ID = approval.SteerUndo, p.Undo.ID
			if left := p.ConsumeUndoFates(p.Undo.PendingPartNumbers[0],
				[]approval.Fate{f, {ID: "x"}, f}); len(left) != 1 || left[0].ID != "x" {
				t.Errorf("%s: %+v are left", name, left)
			}
		}
		p.Parts[1].Report.Status = loop.StatusFailed
		o, err := p.TakeEndedUndo()
		if why, _ := err.(approval.Refusal); o == nil || o.CallID != c.order.CallID ||
			modeltest.ErrorText(err) != c.came || why.Code != c.code {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if o, _ := p.TakeEndedUndo(); o != nil || p.Undo != nil {
			t.Errorf("%s has ended twice", name)
		}
	}
}
