package instance

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/protocol"
	"processidea/workflows/internal/display"
)

// This file answers queries of an instance and shows it in the Temporal UI.

func (i *instance) registerQueryHandlers(ctx workflow.Context) error {
	return display.RegisterQueries(ctx, []display.Query{
		{Name: protocol.QueryStatus, Handler: func() (protocol.InstanceView, error) { return i.view(), nil },
			Description: "The instance's State and its Calls: {state, calls}."},
		{Name: protocol.QueryApprovals, Handler: func() (protocol.ApprovalsView, error) { return i.approvals(), nil },
			Description: "What waits for a person, and the case it is about: {approvals, input, state}."},
	})
}

func (i *instance) approvals() protocol.ApprovalsView {
	return protocol.ApprovalsView{Approvals: append([]approval.PendingCall{}, i.dataflow.PendingApprovals()...),
		ApprovalContext: i.approvalContext()}
}

// approvalContext is the part of the instance that deciders see.
func (i *instance) approvalContext() protocol.ApprovalContext {
	return protocol.ApprovalContext{Input: i.dataflow.InstanceInput(), State: i.dataflow.State()}
}

func (i *instance) view() protocol.InstanceView {
	v := protocol.InstanceView{
		State: i.dataflow.State(), Calls: []protocol.CallView{},
		Refusals: i.inbox.Fates.Refusals(), RefusalCount: i.inbox.Fates.RefusedCount,
	}
	for _, rec := range i.dataflow.CallRecords() {
		c := protocol.CallView{
			ID: rec.ID, Tool: rec.Tool, Status: rec.Status, OutputPath: rec.OutputPath,
			DeciderOrWriter: rec.SkippedBecauseOf,
			UntakenBranch:   rec.UntakenBranchReference, Error: rec.Fault,
			Decisions: rec.Decisions, Remarks: rec.Remarks, UnwrittenPaths: rec.UnwrittenPaths,
		}
		if n := len(rec.Decisions); n > 0 && c.DeciderOrWriter == "" {
			c.DeciderOrWriter = rec.Decisions[n-1].DecidedBy
		}
		v.Calls = append(v.Calls, c)
	}
	v.Writes = shownWrites(i.dataflow.StateWrites())
	return v
}

func shownWrites(writes []statelog.Write) (list []protocol.StateWrite) {
	for _, w := range writes[max(0, len(writes)-maxShownWrites):] {
		s := protocol.StateWrite{Path: w.Path, OutputMethod: w.OutputMethod, Author: w.Author, WrittenAt: w.WrittenAt}
		members, isObject := w.Value.(jsonval.Object)
		if !isObject || len(w.Path) > 0 {
			list = append(list, s)
			continue
		}
		for key := range jsonval.Sorted(members) {
			s.Path = jsonval.Path{key}
			list = append(list, s)
		}
	}
	return list[max(0, len(list)-maxShownWrites):]
}

// maxShownWrites is how many writes to State the query lists.
const maxShownWrites = 500

// maxShownCalls is how many Calls the details list; the query has them all.
const maxShownCalls = 20

// showDetails shows the state of the instance.
func (i *instance) showDetails(ctx workflow.Context) {
	var b strings.Builder
	name := i.start.InstanceToken
	if name == "" {
		name = "the only one"
	}
	fmt.Fprintf(&b, "**Instance %s** of `%s`: %s\n\n", display.EscapeMarkdown(name), i.setup.ProcessID, i.statusText())
	var pendingApprovals []protocol.Approval
	for _, p := range i.dataflow.PendingApprovals() {
		pendingApprovals = append(pendingApprovals, protocol.Approval{Process: i.setup.ProcessID,
			Instance: i.start.InstanceToken, PendingCall: p,
			ApprovalContext: i.approvalContext()})
	}
	display.WritePendingAndRefused(&b, nil, pendingApprovals, &i.inbox.Fates)
	writeCallDetails(&b, i.dataflow.CallRecords())
	display.SetDetails(ctx, b.String())
}

func writeCallDetails(b *strings.Builder, records []*dataflow.CallRecord) {
	if len(records) > maxShownCalls {
		fmt.Fprintf(b, "The last %d of %d Calls:\n\n", maxShownCalls, len(records))
		records = records[len(records)-maxShownCalls:]
	}
	if len(records) > 0 {
		b.WriteString("\n| Call | Tool | Result goes to | Status |\n| --- | --- | --- | --- |\n")
	}
	for _, rec := range records {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n",
			display.EscapeMarkdown(rec.ID), display.EscapeMarkdown(rec.Tool),
			display.EscapeMarkdown(outputPathText(rec)), display.EscapeMarkdown(callStatusText(rec)))
	}
}

// statusText describes what the instance does or waits for.
func (i *instance) statusText() string {
	runningCount := 0
	for _, rec := range i.dataflow.CallRecords() {
		if rec.Status == ideafile.CallRunning {
			runningCount++
		}
	}
	switch {
	case i.endStatus != "":
		return string(i.endStatus)
	case i.IsHeldByPause && runningCount > 0:
		return fmt.Sprintf("the process is paused: %d Calls are still running", runningCount)
	case runningCount > 0:
		return fmt.Sprintf("%d Calls are running", runningCount)
	case i.IsHeldByPause:
		return "the process is paused: nothing new starts"
	case i.dataflow.HasOpenRequest():
		return "waits for what the LLM is still saying"
	case len(i.dataflow.PendingApprovals()) > 0:
		return "waits for a person"
	case len(i.dataflow.CallsAwaitingLLM()) > 0:
		return "waits for the LLM to write results or to fit values"
	}
	return "waits for the next Request"
}

func outputPathText(rec *dataflow.CallRecord) string {
	if len(rec.OutputPath) == 0 {
		return "nowhere"
	}
	return rec.OutputPath.ReferenceText()
}

func callStatusText(rec *dataflow.CallRecord) string {
	s := string(rec.Status)
	switch {
	case rec.SkippedBecauseOf == dataflow.SkippedByConditionCause:
		s += ": its " + ideafile.WhenKey + " does not hold"
	case rec.UntakenBranchReference != "":
		s += ": " + rec.SkippedBecauseOf + " did not lead to " + rec.UntakenBranchReference
	case rec.SkippedBecauseOf != "":
		s += ": written by " + rec.SkippedBecauseOf
	}
	if rec.Fault != nil {
		s += ": " + rec.Fault.Message
	}
	for _, n := range rec.UnwrittenPaths {
		s += "; " + n.Path + " was not written, as " + n.EarlierAuthor + " had written it"
	}
	return jsonval.Clip(s, 200)
}
