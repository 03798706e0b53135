package ideafile

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// The stages of a Plan that runs directly.
const (
	PlanStageOptimal  = "optimal"  // an instance in which a Call fails or blocks falls back to the LLM
	PlanStageComplete = "complete" // the LLM is never asked: such an instance fails
)

// IsDirectPlan reports whether the Message is a Plan that runs without a Request. Other Plans guide the LLM.
func (m Message) IsDirectPlan() bool { return m.PlanStage != "" }

// PlanAppliesTo reports whether a Plan's `when` holds for an instance's view. A condition that cannot be evaluated does
// not hold.
func (m Message) PlanAppliesTo(view InstanceView) bool {
	if m.PlanViewCondition == nil {
		return true
	}
	values := jsonval.Object{TypeState: jsonval.Object{}}
	maps.Copy(values, view.PayloadByKind)
	return m.PlanViewCondition.MatchesForAnyBlobs(values)
}

// readDirectPlanKeys reads the keys of a Plan message that runs directly.
func (m *Message) readDirectPlanKeys(path string, ps *diag.Problems) {
	switch stage := m.Source["stage"]; stage {
	case nil:
	case PlanStageOptimal, PlanStageComplete:
		m.PlanStage = stage.(string)
	default:
		ps.Add(path+".stage", "want %s or %s; without a stage the Plan guides the LLM", PlanStageOptimal,
			PlanStageComplete)
	}
	m.PlanName = diag.ReadOptionalText(m.Source, "name", path, ps)
	if condition := m.Source["when"]; condition != nil {
		m.PlanViewCondition = jsonschema.CompileReportingProblems(condition, path+".when", ps)
	}
	m.PlanOutput = m.Source["output"]
	if v := m.Source[CallIndexOffsetKey]; v != nil {
		n, err := jsonval.ReadPositiveInt(v)
		if err != nil || !m.IsDirectPlan() {
			ps.Add(path+"."+CallIndexOffsetKey, "want the number of a Call, in a Plan with a stage")
		}
		m.CallIndexOffset = n
	}
	m.readPlanRecord(path, ps)
	if v := m.Source[FallbackInstanceTokensKey]; v != nil {
		var ok bool
		if m.FallbackInstanceTokens, ok = jsonval.AsStringList(v); !ok {
			ps.Add(path+"."+FallbackInstanceTokensKey, "want a list of instances' tokens")
		}
	}
}

// FallbackInstanceTokensKey is the key of a Plan message that lists the instances in which the Plan did not suffice.
// The LLM plans for these from then on.
const FallbackInstanceTokensKey = "fellBack"

// CallIndexOffsetKey is the key of Message.CallIndexOffset.
const CallIndexOffsetKey = "after"

// RecordedInstanceTokens returns the instances that a Plan's record names. A status with a number in place of tokens
// names the anonymous instance. An entry that is only a status names none, because it is for all instances.
func (m Message) RecordedInstanceTokens() map[string]bool {
	tokens := map[string]bool{}
	for _, token := range m.FallbackInstanceTokens {
		tokens[token] = true
	}
	//workflowcheck:ignore -- a set
	for id, entry := range m.PlanRecordByCallID {
		if _, token, hasToken := strings.Cut(id, "@"); hasToken {
			tokens[token] = true
		}
		instancesByStatus := jsonval.AsObject(entry)
		//workflowcheck:ignore -- a set
		for status, instances := range instancesByStatus {
			listedTokens, isList := jsonval.AsStringList(instances)
			for _, token := range listedTokens {
				tokens[token] = true
			}
			if !isList && IsCallStatus(status) {
				tokens[""] = true
			}
		}
	}
	return tokens
}

// IsCallStatus reports whether a text is the status of a Call.
func IsCallStatus(s string) bool {
	return slices.Contains(callStatusNames, s)
}

func (m *Message) readPlanRecord(path string, ps *diag.Problems) {
	v := m.Source["record"]
	if v == nil {
		return
	}
	record, ok := v.(jsonval.Object)
	if !ok {
		ps.AddWrongType(path+".record", "want an object with a Call's status by its id", v)
		return
	}
	for id, value := range jsonval.Sorted(record) {
		if m.Source["stage"] != nil { // even for a wrong stage, so that all mistakes are reported together
			m.checkPlanRecordEntry(id, value, jsonval.JSONPathWithKey(path+".record", id), ps)
		}
	}
	m.PlanRecordByCallID = record
}

// checkPlanRecordEntry reports an entry of a record that belongs to no Call: the Call would be done again.
func (m *Message) checkPlanRecordEntry(id string, entry any, entryPath string, ps *diag.Problems) {
	key, isCallID := ParseCallKey(id)
	text, isText := entry.(string)
	entryByStatus, isObject := entry.(jsonval.Object)
	calls := jsonval.AsList(m.Source["plan"])
	switch {
	case !isCallID || (!isText && !isObject):
		ps.Add(entryPath, `want a status, or how many instances have which, by a Call's id such as "0.1" or "0.1@①"`)
	case key.Request == 0 && m.CallIndexOffset > 0 &&
		(key.Index <= m.CallIndexOffset || key.Index > m.CallIndexOffset+len(calls)):
		ps.Add(entryPath, "the Plan has no Call %d: its %d Calls are numbered from %d on",
			key.Index, len(calls), m.CallIndexOffset+1)
	case key.Request == 0 && key.Index > m.CallIndexOffset+len(calls):
		ps.Add(entryPath, "the Plan has no Call %d: it has %d", key.Index, len(calls))
	case isText && !IsCallStatus(text):
		ps.Add(entryPath, "unknown status %q%s", jsonval.Clip(text, 40),
			diag.DidYouMeanOrListNames(text, callStatusNames))
	}
	for k, v := range jsonval.Sorted(entryByStatus) {
		if suggestion := diag.DidYouMean(k, callStatusNames); !IsCallStatus(k) && suggestion != "" {
			ps.AddAtKey(entryPath, k, "unknown status %q%s", jsonval.Clip(k, 40), suggestion)
		}
		_, isList := jsonval.AsStringList(v)
		// Anything else would count for all instances.
		if _, countErr := jsonval.ReadPositiveInt(v); IsCallStatus(k) && !isList && countErr != nil {
			ps.AddAtKey(entryPath, k, "want a list of instances, or how many, not %s", jsonval.QuoteForError(v))
		}
	}
}

var callStatusNames = []string{string(CallDone), string(CallFailed), string(CallRejected), string(CallSkipped),
	string(CallBlocked),
	string(CallWaiting), string(CallAwaitingApproval), string(CallRunning), string(CallUndone)}

// ParseCallKey reads a Call's id, with or without an instance.
func ParseCallKey(id string) (k CallKey, ok bool) {
	keyText, _, _ := strings.Cut(id, "@")
	keyText, isUndo := strings.CutSuffix(keyText, undoSuffix)
	requestText, indexText, hasDot := strings.Cut(keyText, ".")
	var errRequest, errIndex error
	k.Request, errRequest = strconv.Atoi(requestText)
	k.Index, errIndex = strconv.Atoi(indexText)
	ok = hasDot && errRequest == nil && errIndex == nil && k.Request >= 0 && k.Index > 0
	if isUndo {
		k = k.UndoKey()
	}
	return k, ok
}

// RecordedStatusByInstance returns the recorded status of a Call by instance; id is one of RecordedCallIDs. Instances
// without a recorded status are left out.
func (m Message) RecordedStatusByInstance(callID string, tokens []string) map[string]CallStatus {
	statusByInstance := map[string]CallStatus{}
	statusByToken, defaultStatus := statusesInRecordEntry(m.PlanRecordByCallID[callID])
	for _, token := range tokens {
		status, ok := statusByToken[token]
		if !ok {
			status = defaultStatus
		}
		if entry, ok := m.PlanRecordByCallID[callID+"@"+token]; ok && token != "" {
			_, status = statusesInRecordEntry(entry)
		}
		if status != "" {
			statusByInstance[token] = status
		}
	}
	return statusByInstance
}

// RecordedCallIDs returns the id of each of the Plan's Calls in its record; nil if the record is of another Plan. The
// Calls of a Plan that ran directly are 0.1, 0.2, …; in a Plan that Requests made, the ids of the record, in order,
// belong to the Plan's Calls.
func (m Message) RecordedCallIDs() []string {
	var keys []CallKey
	isDirect := true
	//workflowcheck:ignore -- sorted below
	for id := range m.PlanRecordByCallID {
		if k, ok := ParseCallKey(id); ok {
			keys = append(keys, k)
			isDirect = isDirect && k.Request == 0 && !k.IsUndo()
		}
	}
	slices.SortFunc(keys, CallKey.Compare)
	keys = slices.Compact(keys) // an id may occur once for each instance
	if len(keys) == 0 || (!isDirect && len(keys) != len(m.PlanCalls)) {
		return nil
	}
	ids := make([]string, len(m.PlanCalls))
	for n := range ids {
		ids[n] = FormatCallID(0, m.CallIndexOffset+n+1, "")
		if !isDirect {
			ids[n] = keys[n].ID("")
		}
	}
	return ids
}

// statusesInRecordEntry returns the status of the instances that a record's entry names, and of all others. The entry
// is a status, or an object with statuses as keys and, for each, the instances or their number. With numbers only, if
// some instances are done and all others skipped, the Call is done in all. Other numbers do not say which instance has
// which status.
func statusesInRecordEntry(entry any) (statusByToken map[string]CallStatus, defaultStatus CallStatus) {
	if s, ok := entry.(string); ok {
		return nil, CallStatus(s)
	}
	instancesByStatus := jsonval.AsObject(entry)
	statusByToken = map[string]CallStatus{}
	var countedStatuses []CallStatus
	for key, v := range jsonval.Sorted(instancesByStatus) {
		tokens, isList := jsonval.AsStringList(v)
		for _, token := range tokens {
			if IsCallStatus(key) {
				statusByToken[token] = CallStatus(key)
			}
		}
		if IsCallStatus(key) && !isList {
			countedStatuses = append(countedStatuses, CallStatus(key))
		}
	}
	if len(countedStatuses) == 1 || slices.Equal(countedStatuses, []CallStatus{CallDone, CallSkipped}) {
		defaultStatus = countedStatuses[0]
	}
	return statusByToken, defaultStatus
}

// WithPlanCalls returns a Plan message with other Calls.
func (m Message) WithPlanCalls(calls []WrittenCall) Message {
	m.Source, m.PlanCalls = jsonval.WithKey(m.Source, "plan", RawWrittenCalls(calls)), calls
	return m
}

// WithPlanDisabled returns a Plan message that is for no instance.
func (m Message) WithPlanDisabled() Message {
	matchesNothing := jsonval.Object{"not": jsonval.Object{}}
	m.Source, m.PlanViewCondition = jsonval.WithKey(m.Source, "when", matchesNothing),
		jsonschema.NewLazySchema(matchesNothing, "")
	return m
}
