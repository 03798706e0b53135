package print

import (
	"fmt"
	"slices"
	"strings"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// StatusText describes the status of a process in one line.
func StatusText(v client.Status) string {
	parts := []string{string(v.Status)}
	pendingPlanCount := 0
	for _, w := range v.WaitingFor {
		if !strings.HasPrefix(w, protocol.WaitingForPersonPrefix) {
			parts = append(parts, w)
		}
		for _, h := range v.HoldUps {
			if h.Remedy != "" && h.String() == w {
				parts[len(parts)-1] += " (" + h.Remedy + ")"
			}
		}
		if strings.HasPrefix(w, protocol.WaitingForPlanPrefix) {
			pendingPlanCount++
		}
	}
	if pendingPlanCount > 0 {
		parts = append(parts, "waits for "+Plural(pendingPlanCount, "decision")+" on a Plan ("+ProgramName+" plan "+
			ShellQuote(v.ProcessID)+")")
	}
	if v.PendingDecisionCount > pendingPlanCount {
		parts = append(parts, "waits for "+Plural(v.PendingDecisionCount-pendingPlanCount,
			"decision")+" ("+ProgramName+" approvals "+
			ShellQuote(v.ProcessID)+")")
	}
	if len(v.Instances) > 1 {
		parts = append(parts, instanceStatusTally(v.ProcessResult))
	}
	if calls := callCountsText(v.Calls); calls != "" {
		parts = append(parts, "calls: "+calls)
	}
	return strings.Join(parts, " · ")
}

// MostFrequentFailureText returns the most frequent reason why Calls did not succeed, or "" if all succeeded.
func MostFrequentFailureText(v client.Status) string {
	if len(v.Failures) == 0 {
		return ""
	}
	failure := slices.MaxFunc(v.Failures, func(a, b turn.CallFailure) int { return a.CallCount - b.CallCount })
	return string(failure.Status) + " " + failure.String()
}

// instanceStatusTally counts the instances by status.
func instanceStatusTally(r loop.ProcessResult) string {
	countByStatus := map[ideafile.InstanceStatus]int{}
	for _, i := range r.Instances {
		countByStatus[i.Status]++
	}
	return ideafile.TallyText(ideafile.InstanceStatuses(), countByStatus)
}

// callCountsText lists the Calls by outcome, without zeros.
func callCountsText(c turn.CallCounts) string {
	var parts []string
	for _, e := range []struct {
		n    int
		what string
	}{{c.Done, "done"}, {c.Failed, "failed"}, {c.Rejected, "rejected"}, {c.Skipped, "skipped"},
		{c.Blocked, "blocked"}, {c.Undone, "undone"}} {
		if e.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", e.n, e.what))
		}
	}
	return strings.Join(parts, ", ")
}
