package desk

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"processidea/client"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
)

// minePage lists what its reader decided.
type minePage struct {
	frame
	part
	List []client.PastDecision
}

// decidedByMe is one page of a person's decisions, and how many decisions there are.
type decidedByMe struct {
	list  []client.PastDecision
	total int
}

const ownDecisionsPerPage = 100

func (v *visit) showMine() error {
	number, _ := strconv.Atoi(v.URL.Query().Get("page"))
	number = min(max(number, 1), math.MaxInt/ownDecisionsPerPage)
	who := policy.Identity{Name: v.who.Name, Account: v.who.Account}
	key := v.keyWithActs(v.Context(), fmt.Sprintf("decided\n%d %v", number, who))
	found, err := findWithinPatience(v.Context(), v.storeWorks, key,
		func(ctx context.Context, _ *work) (all decidedByMe, err error) {
			all.list, all.total, err = v.Client.DecidedBy(ctx, who, (number-1)*ownDecisionsPerPage, ownDecisionsPerPage)
			return all, err
		})
	if err != nil {
		return err
	}
	at := func(page int) string { return "/desk/decided?page=" + strconv.Itoa(page) }
	return v.show("mine", minePage{v.frame("What you have decided"),
		partOf(found.total, ownDecisionsPerPage, number, at), found.list})
}

// outcomeText says what became of the Call or Plan that a person decided on.
func outcomeText(d client.PastDecision) string {
	switch {
	case d.CallID == "":
		return "see the page of the process"
	case d.Last == nil:
		return "nobody has decided yet"
	case d.Last.Outcome == nil:
		return "not recorded yet"
	}
	outcomes := map[ideafile.CallStatus]string{ideafile.Done: "it has happened", ideafile.Undone: "it was taken back",
		ideafile.Failed: "it failed"}
	return cmp.Or(outcomes[d.Last.Outcome.Status], "it did not happen")
}
