package desk

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"processidea/client"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
)

// ownDecisionsPage lists what its reader decided.
type ownDecisionsPage struct {
	frame
	pagination
	Decisions           []client.PastDecision
	OrderApprovedCounts []orderApprovedCount
}

// orderApprovedCount is how many cases of a process standing orders of the reader approved.
type orderApprovedCount struct {
	ProcessID, ProcessTitle string
	Count                   int
}

const ownDecisionsPerPage = 100

func (v *visit) showOwnDecisions() error {
	pageNo, _ := strconv.Atoi(v.URL.Query().Get("page"))
	pageNo = min(max(pageNo, 1), math.MaxInt/ownDecisionsPerPage)
	identity := policy.Identity{Name: v.user.Name, Account: v.user.Account}
	key := v.keyWithChangeCount(v.Context(), fmt.Sprintf("decided\n%d %v", pageNo, identity))
	decisionPage, err := findWithinPageTime(v.Context(), v.storeTasks, key,
		func(ctx context.Context, _ *task) (client.DecisionPage, error) {
			return v.Client.DecisionsBy(ctx, identity, (pageNo-1)*ownDecisionsPerPage, ownDecisionsPerPage)
		})
	if err != nil {
		return err
	}
	pageHref := func(page int) string { return "/desk/decided?page=" + strconv.Itoa(page) }
	p := ownDecisionsPage{frame: v.frame("What you have decided"), Decisions: decisionPage.Decisions,
		pagination: paginate(decisionPage.TotalCount, ownDecisionsPerPage, pageNo, pageHref)}
	processIDs := slices.Sorted(maps.Keys(decisionPage.OrderApprovedCountByProcess))
	for _, id := range processIDs[:min(len(processIDs), maxOrderedProcesses)] {
		title := v.Client.Process(id).Presenter(v.Context()).ProcessTitle
		p.OrderApprovedCounts = append(p.OrderApprovedCounts, orderApprovedCount{id, processTitle(id, title),
			decisionPage.OrderApprovedCountByProcess[id]})
	}
	return v.show("mine", p)
}

// maxOrderedProcesses bounds the processes that the page names for what was approved in advance.
const maxOrderedProcesses = 20

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
