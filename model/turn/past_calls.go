package turn

import (
	"slices"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file reads what SnapshotIdea wrote, so that a process can continue from an Idea of another process's chain.

// RecordedCall is a Call of the process that wrote the Idea, with its outcome by instance token.
type RecordedCall struct {
	Request, Index         int
	WrittenCall            ideafile.WrittenCall
	StatusByInstance       map[string]ideafile.CallStatus
	ResultByInstance       jsonval.Object
	DecisionsByInstance    map[string][]approval.Decision
	ExecutedCallByInstance map[string]ExecutedCall
	// FaultByInstance is why the Call failed or is blocked. Only the record of a Plan that runs directly has it.
	FaultByInstance map[string]*diag.Fault
	// ReviewReasonByInstance is why a person had to review the Call, beside its Tool's policy.
	ReviewReasonByInstance map[string]string
}

// CallKey is the place of the Call in the Plan.
func (p RecordedCall) CallKey() ideafile.CallKey {
	return ideafile.CallKey{Request: p.Request, Index: p.Index}
}

// Keys of a record's entry beside the statuses.
const (
	recordResultsKey   = "results"
	recordDecisionsKey = "decided"
	recordFaultsKey    = "errors"
	// recordExecutedCallsKey holds the Call as it ran after people's decisions, by instance.
	recordExecutedCallsKey = "ran"
	// recordReviewReasonsKey has why a person must review the Call, by instance.
	recordReviewReasonsKey = "review"
)

// RecordedFault is a fault in a record's entry, with the instances that have it. Instances is empty in a process whose
// only instance is anonymous.
type RecordedFault struct {
	Fault          diag.Fault `json:"error"`
	InstanceTokens []string   `json:"instances,omitempty"`
}

// ReadRecord reads the record of a Message that has one: a Plan that the LLM made, or a Plan that runs directly.
func ReadRecord(m ideafile.Message, tokens []string) []RecordedCall {
	if m.IsStagelessPlanWithRecord() {
		return ReadPlanRecord(m, tokens)
	}
	return ReadDirectPlanRecord(m, tokens)
}

// ReadPlanRecord reads the record of a Plan message. The record's ids, in order, are those of the Plan's Calls. tokens
// are the instances of an entry that names none.
func ReadPlanRecord(m ideafile.Message, tokens []string) []RecordedCall {
	record := jsonval.AsObject(m.Source["record"])
	var list []RecordedCall
	for id, v := range jsonval.Sorted(record) {
		if key, ok := ideafile.ParseCallKey(id); ok && key.ID("") == id { // an id without an instance, such as 3.2
			list = append(list, newRecordedCall(key, v))
		}
	}
	slices.SortFunc(list, func(a, b RecordedCall) int { return a.CallKey().Compare(b.CallKey()) })
	if len(list) != len(m.PlanCalls) {
		return nil // the record belongs to another Plan
	}
	for n := range list {
		list[n].WrittenCall = m.PlanCalls[n]
		list[n].setStatuses(record[list[n].CallKey().ID("")], tokens)
	}
	return list
}

// ReadDirectPlanRecord reads the record of a Plan that runs directly. It returns the Calls with an entry, as Calls
// of Request 0.
func ReadDirectPlanRecord(m ideafile.Message, tokens []string) []RecordedCall {
	var list []RecordedCall
	for n, id := range m.RecordedCallIDs() {
		p := newRecordedCall(ideafile.CallKey{Index: m.CallIndexOffset + n + 1}, m.PlanRecordByCallID[id])
		p.WrittenCall = m.PlanCalls[n]
		p.StatusByInstance = m.RecordedStatusByInstance(id,
			slices.DeleteFunc(slices.Clone(tokens), p.WrittenCall.TargetsOtherInstance))
		if len(p.StatusByInstance) > 0 {
			list = append(list, p)
		}
	}
	return list
}

// newRecordedCall reads the parts of a record's entry other than the statuses.
func newRecordedCall(key ideafile.CallKey, entry any) RecordedCall {
	fields := jsonval.AsObject(entry)
	p := RecordedCall{
		Request: key.Request, Index: key.Index, StatusByInstance: map[string]ideafile.CallStatus{},
		ResultByInstance:    jsonval.AsObject(fields[recordResultsKey]),
		DecisionsByInstance: map[string][]approval.Decision{}, FaultByInstance: map[string]*diag.Fault{},
	}
	for _, item := range readList[InstanceDecision](fields[recordDecisionsKey]) {
		p.DecisionsByInstance[item.Token] = append(p.DecisionsByInstance[item.Token], item.Decision)
	}
	for _, item := range readList[RecordedFault](fields[recordFaultsKey]) {
		for _, token := range item.InstanceTokens {
			p.FaultByInstance[token] = &item.Fault
		}
		if len(item.InstanceTokens) == 0 {
			p.FaultByInstance[""] = &item.Fault
		}
	}
	_ = jsonval.ReadAs(fields[recordExecutedCallsKey], &p.ExecutedCallByInstance)
	_ = jsonval.ReadAs(fields[recordReviewReasonsKey], &p.ReviewReasonByInstance)
	return p
}

// IsFinalFor reports whether the recorded outcome of the Call in an instance is final, so that the Call is not tried
// again: it is done, or people or its Tool have ended it and the record says why. Any other Call of a Plan that runs
// directly is evaluated anew.
func (p RecordedCall) IsFinalFor(token string) bool {
	switch p.StatusByInstance[token] {
	case ideafile.CallDone, ideafile.CallUndone:
		return true
	case ideafile.CallFailed, ideafile.CallBlocked:
		return p.FaultByInstance[token] != nil
	case ideafile.CallRejected:
		return len(p.DecisionsByInstance[token]) > 0
	}
	return false
}

// Report returns the outcome of the Call in an instance, in the form of the instance's report.
func (p RecordedCall) Report(token string) CallReport {
	c := CallReport{Request: p.Request, Index: p.Index, CallState: CallState{Status: p.StatusByInstance[token],
		Fault: p.FaultByInstance[token], Result: p.ResultByInstance[token], Decisions: p.DecisionsByInstance[token]}}
	if executedCall, ok := p.ExecutedCallByInstance[token]; ok {
		c.ExecutedCall = &executedCall
	}
	c.ReviewReason = p.ReviewReasonByInstance[token]
	return c
}

// ReviewReasonOnResume returns why a person must review the Call in an instance of a process that takes it over, even
// if its Tool's policy requires none: a person had to in the process before, or was being asked there, or the Call was
// running and must not run twice. Empty: the policy decides.
func (p RecordedCall) ReviewReasonOnResume(t *ideafile.Tool, token string) string {
	switch status, reason := p.StatusByInstance[token], p.ReviewReasonByInstance[token]; {
	case reason != "":
		return reason
	case status == ideafile.CallAwaitingApproval:
		return "it waited for a person in the process before"
	case status == ideafile.CallRunning && t != nil && t.MaxAttempts == 1:
		return "it was running in the process before; it may have had its effect, and it must not run twice"
	}
	return ""
}

// RecordedDecisions reads the decisions in a record's entry of one Call.
func RecordedDecisions(entry any) (decisions []approval.Decision) {
	return jsonval.Map(readList[InstanceDecision](jsonval.AsObject(entry)[recordDecisionsKey]),
		func(d InstanceDecision) approval.Decision { return d.Decision })
}

// readList reads a list of values of one type, or returns nil if v is no such list.
func readList[T any](v any) (list []T) {
	if jsonval.ReadAs(v, &list) != nil {
		return nil
	}
	return list
}

// setStatuses reads the Call's status in each instance. A single status without instances counts for every instance of
// the Call. With several statuses and no instances, none is set, since it is unknown which instance has which.
func (p *RecordedCall) setStatuses(entry any, tokens []string) {
	tokensByStatus := jsonval.WithoutKey(jsonval.AsObject(entry), recordResultsKey, recordDecisionsKey, recordFaultsKey,
		recordExecutedCallsKey,
		recordReviewReasonsKey)
	if s, ok := entry.(string); ok {
		tokensByStatus[s] = nil
	}
	for s, v := range jsonval.Sorted(tokensByStatus) {
		statusTokens, isList := jsonval.AsStringList(v)
		if !isList && len(tokensByStatus) == 1 {
			statusTokens = p.WrittenCall.TargetTokensOrAll(tokens)
		}
		for _, token := range statusTokens {
			p.StatusByInstance[token] = ideafile.CallStatus(s)
		}
	}
}

// ReadContextError reads an error message in the form of ContextError.Message; ok is false for any other form.
func ReadContextError(m ideafile.Message) (t ContextError, ok bool) {
	e := jsonval.AsObject(m.Source["error"])
	code, isCode := e["code"].(string)
	text, isText := e["message"].(string)
	if m.Type != ideafile.TypeError || !isCode || !isText {
		return t, false
	}
	t.Fault = diag.Fault{Code: code, Message: text}
	t.CallID = jsonval.AsText(m.Source["call"])
	t.InstanceTokens, _ = jsonval.AsStringList(m.Source["instances"])
	return t, true
}

// DropOutcomesWritingTo changes the records of an Idea in place after a path was removed from an instance's State:
// Calls that wrote there no longer count as done, and may run again.
func DropOutcomesWritingTo(source jsonval.Object, token string, path jsonval.Path) {
	idea, _ := ideafile.ReadIdea(source)
	dropOutcomes(idea, []string{token}, func(_ ideafile.Message, p RecordedCall, _ string) bool {
		outputPath, ok := idea.OutputPathOf(p.WrittenCall)
		return ok && slices.ContainsFunc(outputPath.Paths(), path.Overlaps)
	})
}

// DropFailedOutcomes changes the records of an Idea in place after a person has reopened instances: Calls of their
// direct Plans that failed for want of a value or of a person's consent may be tried again.
func DropFailedOutcomes(source jsonval.Object, tokens []string) {
	idea, _ := ideafile.ReadIdea(source)
	dropOutcomes(idea, tokens, func(m ideafile.Message, p RecordedCall, token string) bool {
		return m.IsDirectPlan() && p.StatusByInstance[token] != ideafile.CallDone
	})
}

// dropOutcomes drops the recorded outcomes of some Calls in some instances from the records of an Idea.
func dropOutcomes(idea *ideafile.Idea, affectedTokens []string,
	shouldDrop func(ideafile.Message, RecordedCall, string) bool) {
	tokens := idea.InstanceTokens()
	for _, m := range idea.Context {
		record := jsonval.AsObject(m.Source["record"])
		callIDs := m.RecordedCallIDs()
		for _, p := range ReadRecord(m, tokens) {
			id := p.CallKey().ID("")
			if m.IsDirectPlan() {
				id = callIDs[p.Index-1-m.CallIndexOffset]
			}
			droppedTokens := map[string]bool{}
			for _, token := range affectedTokens {
				if _, hasStatus := p.StatusByInstance[token]; hasStatus && shouldDrop(m, p, token) {
					droppedTokens[token] = true
					delete(record, id+"@"+token)
				}
			}
			if len(droppedTokens) > 0 {
				record[id] = withoutInstanceStatuses(record[id], tokens, droppedTokens)
			}
		}
	}
}

// withoutInstanceStatuses returns a record's entry without the status of its Call in the dropped instances. tokens are
// the instances of an entry that names none.
func withoutInstanceStatuses(entry any, tokens []string, droppedTokens map[string]bool) jsonval.Object {
	if s, ok := entry.(string); ok {
		entry = jsonval.Object{s: nil}
	}
	out := jsonval.Object{}
	for key, v := range jsonval.AsObject(entry) {
		statusTokens, isList := jsonval.AsStringList(v)
		switch {
		case !ideafile.IsCallStatus(key):
			out[key] = v
			continue
		case !isList:
			statusTokens = tokens
		}
		if tokensLeft := jsonval.Filter(statusTokens, func(t string) bool {
			return !droppedTokens[t]
		}); len(tokensLeft) > 0 {
			out[key] = jsonval.ToJSONValue(tokensLeft)
		}
	}
	return out
}

// IsHistoryMessage reports whether a Message is a record or an error of the process whose Idea this one starts from.
func IsHistoryMessage(msg ideafile.Message) bool {
	_, isError := ReadContextError(msg)
	return isError || msg.IsStagelessPlanWithRecord()
}
