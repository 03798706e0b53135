package check

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// callStartStatus is the start of one instance as it affects one Call.
type callStartStatus struct {
	appliesToInstance bool // the Call is for this instance
	// reads are the initial results of the Call's expressions, in the order of planCall.reads.
	reads []expressionStartStatus
	// isSkipped: the output path holds a value at the start. isBlocked: something that is not an object is above the
	// output path.
	isSkipped, isBlocked bool
	writablePaths        []jsonval.Path // the output paths that are open at the start
	outsideSchemaReason  string         // why the State schema allows no value at an output path
}

// expressionStartStatus is the initial result of an expression, by alternative and term.
type expressionStartStatus [][]termStartStatus

type termStartStatus struct {
	isPresent          bool
	valueType          string // of the value at the start; "" where it is unknown
	neverPresentReason string // why there can never be a value
}

// planDataflow is the data flow of a Plan in instances whose callStartStatus are equal: they are checked together.
type planDataflow struct {
	*planChecker
	coveredInstanceTokens []string
	startStatusByCall     []callStartStatus
	canRunByCall          []bool
	calls                 []*planCall // the Calls, and behind them the Plan's output, which only reads
}

// checkDataflow checks the Plan's data flow in every instance it is for.
func (p *planChecker) checkDataflow(planOutputStep *planCall) {
	calls := append(slices.Clip(p.calls), planOutputStep)
	var flows []*planDataflow
	flowByStartStatus := map[string]*planDataflow{}
	for _, token := range p.applicableInstanceTokens {
		startStatuses := p.callStartStatusesFor(token, calls)
		key := fmt.Sprintf("%+v", startStatuses)
		if flowByStartStatus[key] == nil {
			flowByStartStatus[key] = &planDataflow{planChecker: p, startStatusByCall: startStatuses, calls: calls,
				canRunByCall: make([]bool, len(calls))}
			flows = append(flows, flowByStartStatus[key])
		}
		flowByStartStatus[key].coveredInstanceTokens = append(flowByStartStatus[key].coveredInstanceTokens, token)
	}
	for _, f := range flows {
		f.checkCalls()
	}
}

func (p *planChecker) callStartStatusesFor(instanceToken string, calls []*planCall) []callStartStatus {
	view := p.viewOf(instanceToken)
	startState := statelog.NewState(view.PayloadByKind[ideafile.TypeState])
	out := make([]callStartStatus, len(calls))
	for n, s := range calls {
		f := &out[n]
		f.appliesToInstance = len(s.instanceTokens) == len(p.palette.InstanceTokens) ||
			slices.Contains(s.instanceTokens, instanceToken)
		f.reads = p.expressionStartStatusesFor(view, startState, s.reads)
		f.writablePaths = s.writablePaths(startState)
		f.outsideSchemaReason = s.pathNotInSchemaReason(view.SchemaByKind[ideafile.TypeState])
		f.isSkipped, f.isBlocked = s.outputPathStatus(startState)
	}
	return out
}

func (p *planChecker) expressionStartStatusesFor(view ideafile.InstanceView, startState *statelog.State,
	reads []parameterRead) []expressionStartStatus {
	statusOfTerm := func(ref refexpr.Reference) termStartStatus { return p.termStartStatusFor(view, startState, ref) }
	statusOfTerms := func(refs []refexpr.Reference) []termStartStatus { return jsonval.Map(refs, statusOfTerm) }
	return jsonval.Map(reads, func(r parameterRead) expressionStartStatus { return jsonval.Map(r.expr, statusOfTerms) })
}

// writablePaths lists the paths of the Call, and of its delegate, that it can write at the start. Only an update writes
// to a closed path.
func (s *planCall) writablePaths(startState *statelog.State) []jsonval.Path {
	var paths []jsonval.Path
	for _, path := range s.outputPath.Paths() {
		if _, isClosed := startState.AuthorWhoClosedPath(path); !isClosed || s.isUpdate() {
			paths = append(paths, path)
		}
	}
	for _, path := range s.delegateWritePaths() {
		if _, isClosed := startState.AuthorWhoClosedPath(path); !isClosed {
			paths = append(paths, path)
		}
	}
	return paths
}

// pathNotInSchemaReason returns why the State schema has no place for what the Call, or its delegate, writes; "" if it
// has one.
func (s *planCall) pathNotInSchemaReason(schema any) string {
	for _, path := range slices.Concat(s.outputPath.Paths(), s.delegateWritePaths()) {
		if reason := outsideSchemaReason(schema, path); reason != "" {
			return reason
		}
	}
	return ""
}

// delegateWritePaths lists the paths that the Call's delegate may write beside its result.
func (s *planCall) delegateWritePaths() []jsonval.Path {
	if s.tool == nil {
		return nil
	}
	return s.tool.DelegateWritablePaths
}

// outputPathStatus reports whether a Call's output path holds a value at the start, and whether something that is not
// an object is above it.
func (s *planCall) outputPathStatus(startState *statelog.State) (isSkipped, isBlocked bool) {
	blockedBranchCount := 0
	for _, branch := range s.outputPath {
		allClosed, allPresent, anyBlocked := true, true, false
		for _, path := range branch {
			_, isClosed := startState.AuthorWhoClosedPath(path)
			_, isPresent := refexpr.ValueOrBlobHandleAt(startState.CurrentValue, path)
			allClosed, allPresent = allClosed && isClosed, allPresent && isPresent
			anyBlocked = anyBlocked || (startState.HasNonObjectAncestor(path) && !isPresent)
		}
		isSkipped = isSkipped || (allClosed && allPresent && !s.isUpdate())
		if anyBlocked {
			blockedBranchCount++
		}
	}
	return isSkipped, !isSkipped && blockedBranchCount > 0 && (blockedBranchCount == len(s.outputPath) || !s.isUpdate())
}

func (p *planChecker) termStartStatusFor(view ideafile.InstanceView, startState *statelog.State,
	ref refexpr.Reference) termStartStatus {
	if p.ideaTemplateAwaitsValue(view, ref) && !(ref.Kind == ideafile.TypeState && anyCallWrites(p.calls, ref.Path)) {
		return termStartStatus{isPresent: true}
	}
	var startStatus termStartStatus
	var v any
	if _, isCall := ideafile.CallOfReference(ref); isCall {
		return startStatus
	}
	if ref.Kind != ideafile.TypeState {
		v, startStatus.neverPresentReason = lookupValueOutsideState(view, ref)
		startStatus.isPresent = startStatus.neverPresentReason == ""
	} else {
		v, startStatus.isPresent = refexpr.ValueOrBlobHandleAt(startState.CurrentValue, ref.Path)
		if !startStatus.isPresent {
			startStatus.neverPresentReason = outsideSchemaReason(view.SchemaByKind[ideafile.TypeState], ref.Path)
		}
	}
	if startStatus.isPresent {
		startStatus.valueType = jsonschema.SchemaTypeOf(v)
		if h, ok := jsonval.AsBlobHandle(v); ok && h.PathInValue == "" {
			startStatus.valueType = h.ValueType
		} else if ok {
			startStatus.valueType = ""
		}
	}
	return startStatus
}

// isSkippedAtStart reports whether a Call is skipped whatever it reads: its value is there, or can never be there. An
// update fails instead.
func (f *planDataflow) isSkippedAtStart(callIndex int) bool {
	return f.startStatusByCall[callIndex].isSkipped ||
		(f.startStatusByCall[callIndex].isBlocked && !f.calls[callIndex].isUpdate())
}

func (f *planDataflow) reportFinding(s *planCall, path string, isWarning bool, format string, args ...any) {
	f.addFinding(diag.Problem{JSONPath: path, Message: fmt.Sprintf(format, args...), IsWarning: isWarning},
		f.coveredInstanceTokens, len(s.instanceTokens))
}

func (f *planDataflow) checkCalls() {
	f.markRunnable()
	for n, s := range f.calls {
		if !f.startStatusByCall[n].appliesToInstance || s.instanceTokens == nil {
			continue
		}
		f.checkOutputPath(n)
		for r := range s.reads {
			f.checkRead(n, r)
		}
		f.checkReadsOwnOutput(n)
		f.checkAccidentalAlternative(n)
	}
	f.checkCycles()
}

// checkOutputPath checks that State can hold the Call's result.
func (f *planDataflow) checkOutputPath(callIndex int) {
	s, startStatus := f.calls[callIndex], f.startStatusByCall[callIndex]
	switch {
	// checkTools reports a fixed path once, at the Tool
	case startStatus.outsideSchemaReason != "" && s.outputPathLocation != s.jsonPath:
		f.reportFinding(s, s.outputPathLocation, false, "%s", startStatus.outsideSchemaReason)
	case startStatus.isBlocked:
		f.reportFinding(s, s.outputPathLocation, true,
			"%s: something other than an object stands above it at the start, so the Call never runs",
			s.outputPath.ReferenceText())
	}
}
