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
	// skipped: the output path holds a value at the start. blocked: something that is not an object is above the output
	// path.
	skipped, blocked    bool
	writablePaths       []jsonval.Path // the output paths that are open at the start
	outsideSchemaReason string         // why the State schema allows no value at an output path
}

// expressionStartStatus is the initial result of an expression, by alternative and term.
type expressionStartStatus [][]termStartStatus

type termStartStatus struct {
	present            bool
	valueType          string // of the value at the start; "" where it is unknown
	neverPresentReason string // why there can never be a value
}

// planDataflow is the data flow of a Plan in instances whose callStartStatus are equal: they are checked together.
type planDataflow struct {
	*planChecker
	coveredInstanceTokens []string
	facts                 []callStartStatus
	canRun                []bool
	calls                 []*planCall // the Calls, and behind them the Plan's output, which only reads
}

// checkDataflow checks the Plan's data flow in every instance it is for.
func (p *planChecker) checkDataflow(output *planCall) {
	steps := append(slices.Clip(p.calls), output)
	var flows []*planDataflow
	flowByStart := map[string]*planDataflow{}
	for _, token := range p.applicableInstanceTokens {
		facts := p.callStartStatusFor(token, steps)
		key := fmt.Sprintf("%+v", facts)
		if flowByStart[key] == nil {
			flowByStart[key] = &planDataflow{planChecker: p, facts: facts, calls: steps,
				canRun: make([]bool, len(steps))}
			flows = append(flows, flowByStart[key])
		}
		flowByStart[key].coveredInstanceTokens = append(flowByStart[key].coveredInstanceTokens, token)
	}
	for _, f := range flows {
		f.checkCalls()
	}
}

func (p *planChecker) callStartStatusFor(token string, steps []*planCall) []callStartStatus {
	view := p.viewOf(token)
	start := statelog.NewState(view.PayloadByKind[ideafile.TypeState])
	out := make([]callStartStatus, len(steps))
	for n, s := range steps {
		f := &out[n]
		f.appliesToInstance = len(s.instances) == len(p.palette.InstanceTokens) || slices.Contains(s.instances, token)
		f.reads = p.expressionStartStatusFor(view, start, s.reads)
		f.writablePaths = s.writablePaths(start)
		f.outsideSchemaReason = s.pathNotInSchemaReason(view.SchemaByKind[ideafile.TypeState])
		f.skipped, f.blocked = s.outputPathStatus(start)
	}
	return out
}

func (p *planChecker) expressionStartStatusFor(view ideafile.InstanceView, start *statelog.State,
	reads []parameterRead) []expressionStartStatus {
	ofTerm := func(ref refexpr.Reference) termStartStatus { return p.termStartStatusFor(view, start, ref) }
	ofTerms := func(refs []refexpr.Reference) []termStartStatus { return jsonval.Map(refs, ofTerm) }
	return jsonval.Map(reads, func(r parameterRead) expressionStartStatus { return jsonval.Map(r.expr, ofTerms) })
}

// writablePaths lists the paths of the Call, and of its delegate, that it can write at the start. Only an update writes
// to a closed path.
func (s *planCall) writablePaths(start *statelog.State) []jsonval.Path {
	var paths []jsonval.Path
	for _, path := range s.outputPath.Paths() {
		if _, closed := start.AuthorWhoClosedPath(path); !closed || s.isUpdate() {
			paths = append(paths, path)
		}
	}
	for _, path := range s.delegateWritePaths() {
		if _, closed := start.AuthorWhoClosedPath(path); !closed {
			paths = append(paths, path)
		}
	}
	return paths
}

// pathNotInSchemaReason returns why the State schema has no place for what the Call, or its delegate, writes; "" if it
// has one.
func (s *planCall) pathNotInSchemaReason(schema any) string {
	for _, path := range slices.Concat(s.outputPath.Paths(), s.delegateWritePaths()) {
		if jsonschema.SubschemaAt(schema, path).IsForbidden {
			return pathNotInSchemaMessage(schema, path)
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
func (s *planCall) outputPathStatus(start *statelog.State) (skipped, blocked bool) {
	blockedBranches := 0
	for _, branch := range s.outputPath {
		allClosed, allPresent, anyBlocked := true, true, false
		for _, path := range branch {
			_, closed := start.AuthorWhoClosedPath(path)
			_, present := refexpr.ValueOrBlobHandleAt(start.CurrentValue, path)
			allClosed, allPresent = allClosed && closed, allPresent && present
			anyBlocked = anyBlocked || (start.HasNonObjectAncestor(path) && !present)
		}
		skipped = skipped || (allClosed && allPresent && !s.isUpdate())
		if anyBlocked {
			blockedBranches++
		}
	}
	return skipped, !skipped && blockedBranches > 0 && (blockedBranches == len(s.outputPath) || !s.isUpdate())
}

func (p *planChecker) termStartStatusFor(view ideafile.InstanceView, start *statelog.State,
	ref refexpr.Reference) termStartStatus {
	if p.templateAwaitsValue(view, ref) && !(ref.Kind == ideafile.TypeState && anyCallWrites(p.calls, ref.Path)) {
		return termStartStatus{present: true}
	}
	var facts termStartStatus
	var v any
	if _, isCall := ideafile.CallOfReference(ref); isCall {
		return facts
	}
	if ref.Kind != ideafile.TypeState {
		v, facts.neverPresentReason = lookupValueOutsideState(view, ref)
		facts.present = facts.neverPresentReason == ""
	} else {
		v, facts.present = refexpr.ValueOrBlobHandleAt(start.CurrentValue, ref.Path)
		schema := view.SchemaByKind[ideafile.TypeState]
		if !facts.present && jsonschema.SubschemaAt(schema, ref.Path).IsForbidden {
			facts.neverPresentReason = pathNotInSchemaMessage(schema, ref.Path)
		}
	}
	if facts.present {
		facts.valueType = jsonschema.SchemaTypeOf(v)
		if h, ok := jsonval.AsBlobHandle(v); ok && h.PathInValue == "" {
			facts.valueType = h.ValueType
		} else if ok {
			facts.valueType = ""
		}
	}
	return facts
}

// isSkippedAtStart reports whether a Call is skipped whatever it reads: its value is there, or can never be there. An
// update fails instead.
func (f *planDataflow) isSkippedAtStart(n int) bool {
	return f.facts[n].skipped || (f.facts[n].blocked && !f.calls[n].isUpdate())
}

func (f *planDataflow) reportFinding(s *planCall, path string, warning bool, format string, args ...any) {
	f.addFinding(diag.Problem{JSONPath: path, Message: fmt.Sprintf(format, args...), IsWarning: warning},
		f.coveredInstanceTokens, len(s.instances))
}

func (f *planDataflow) checkCalls() {
	f.findRunnable()
	for n, s := range f.calls {
		if !f.facts[n].appliesToInstance || s.instances == nil {
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
func (f *planDataflow) checkOutputPath(n int) {
	s, facts := f.calls[n], f.facts[n]
	switch {
	// checkTools reports a fixed path once, at the Tool
	case facts.outsideSchemaReason != "" && s.outputLocation != s.jsonPath:
		f.reportFinding(s, s.outputLocation, false, "%s", facts.outsideSchemaReason)
	case facts.blocked:
		f.reportFinding(s, s.outputLocation, true,
			"%s: something other than an object stands above it at the start, so the Call never runs",
			s.outputPath.ReferenceText())
	}
}
