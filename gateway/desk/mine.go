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

// ownDecisionsPage lists what its reader decided.
type ownDecisionsPage struct {
	frame
	pagination
	Decisions []client.PastDecision
}

// ownDecisions is one page of a person's decisions, and how many decisions there are.
type ownDecisions struct {
	decisions []client.PastDecision
	total     int
}

const ownDecisionsPerPage = 100

func (v *visit) showOwnDecisions() error {
	pageNo, _ := strconv.Atoi(v.URL.Query().Get("page"))
	pageNo = min(max(pageNo, 1), math.MaxInt/ownDecisionsPerPage)
	identity := policy.Identity{Name: v.user.Name, Account: v.user.Account}
	key := v.keyWithChangeCount(v.Context(), fmt.Sprintf("decided\n%d %v", pageNo, identity))
	decisions, err := findWithinPageTime(v.Context(), v.storeTasks, key,
		func(ctx context.Context, _ *task) (all ownDecisions, err error) {
			all.decisions, all.total, err = v.Client.DecisionsBy(ctx, identity, (pageNo-1)*ownDecisionsPerPage,
				ownDecisionsPerPage)
			return all, err
		})
	if err != nil {
		return err
	}
	pageHref := func(page int) string { return "/desk/decided?page=" + strconv.Itoa(page) }
	return v.show("mine", ownDecisionsPage{v.frame("What you have decided"),
		paginate(decisions.total, ownDecisionsPerPage, pageNo, pageHref), decisions.decisions})
}

// pastOutcomeText says what became of the Call that a person decided on.
func pastOutcomeText(d client.PastDecision) string {
	switch {
	case d.LatestOnSameCall == nil:
		return "nobody has decided yet"
	case d.LatestOnSameCall.Outcome == nil:
		return "not recorded yet"
	}
	outcomes := map[ideafile.CallStatus]string{ideafile.CallDone: "done", ideafile.CallUndone: "taken back",
		ideafile.CallFailed: "failed"}
	return cmp.Or(outcomes[d.LatestOnSameCall.Outcome.Status], "not done")
}

func hasFailed(d client.PastDecision) bool {
	return d.LatestOnSameCall != nil && d.LatestOnSameCall.Outcome != nil &&
		d.LatestOnSameCall.Outcome.Status == ideafile.CallFailed
}
