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

// stepFacts is what the start of one instance means for one Call.
type stepFacts struct {
	applies bool // the Call is for this instance
	// reads is what the Call's expressions find at the start, in the order of planStep.reads.
	reads []expressionFacts
	// skipped: the output path holds a value at the start. blocked: something that is not an object is above the output
	// path.
	skipped, blocked bool
	writablePaths    []jsonval.Path // the output paths that are open at the start
	outsideSchema    string         // why the State schema allows no value at an output path
}

// expressionFacts is what an expression finds, by alternative and term.
type expressionFacts [][]termFacts

type termFacts struct {
	present     bool
	valueType   string // of the value at the start; "" where it is unknown
	neverReason string // why there can never be a value
}

// planFlow is the data flow of a Plan in instances whose stepFacts are equal: they are checked together.
type planFlow struct {
	*planChecker
	tokens []string
	facts  []stepFacts
	canRun []bool
	steps  []*planStep // the Calls, and behind them the Plan's output, which only reads
}

// checkFlow checks the Plan's data flow in every instance it is for.
func (p *planChecker) checkFlow(output *planStep) {
	steps := append(p.steps[:len(p.steps):len(p.steps)], output)
	var flows []*planFlow
	flowByStart := map[string]*planFlow{}
	for _, token := range p.tokens {
		facts := p.stepFactsFor(token, steps)
		key := fmt.Sprintf("%+v", facts)
		if flowByStart[key] == nil {
			flowByStart[key] = &planFlow{planChecker: p, facts: facts, steps: steps, canRun: make([]bool, len(steps))}
			flows = append(flows, flowByStart[key])
		}
		flowByStart[key].tokens = append(flowByStart[key].tokens, token)
	}
	for _, f := range flows {
		f.checkSteps()
	}
}

func (p *planChecker) stepFactsFor(token string, steps []*planStep) []stepFacts {
	view := p.views[token]
	start := statelog.New(view.Payload[ideafile.TypeState])
	out := make([]stepFacts, len(steps))
	for n, s := range steps {
		f := &out[n]
		f.applies = len(s.instances) == len(p.palette.InstanceTokens) || slices.Contains(s.instances, token)
		f.reads = readFactsFor(view, start, s.reads)
		f.writablePaths = s.writablePaths(start)
		f.outsideSchema = s.outsideSchemaReason(view.Schema[ideafile.TypeState])
		f.skipped, f.blocked = s.outputPathStatus(start)
	}
	return out
}

func readFactsFor(view ideafile.View, start *statelog.State, reads []planRead) []expressionFacts {
	var out []expressionFacts
	for _, r := range reads {
		var facts expressionFacts
		for _, alternative := range r.expr {
			var terms []termFacts
			for _, ref := range alternative {
				terms = append(terms, termFactsFor(view, start, ref))
			}
			facts = append(facts, terms)
		}
		out = append(out, facts)
	}
	return out
}

// writablePaths lists the paths of the Call, and of its delegate, that it can write at the start. Only an update writes
// to a closed path.
func (s *planStep) writablePaths(start *statelog.State) []jsonval.Path {
	var paths []jsonval.Path
	for _, path := range s.output.Paths() {
		if _, closed := start.Closed(path); !closed || s.isUpdate() {
			paths = append(paths, path)
		}
	}
	for _, path := range s.delegateWrites() {
		if _, closed := start.Closed(path); !closed {
			paths = append(paths, path)
		}
	}
	return paths
}

// outsideSchemaReason words why the State schema has no place for what the Call, or its delegate, writes; "" where it has.
func (s *planStep) outsideSchemaReason(schema any) string {
	if schema == nil {
		return ""
	}
	for _, path := range slices.Concat(s.output.Paths(), s.delegateWrites()) {
		if jsonschema.PlaceOf(schema, path).Closed {
			return outsideSchemaText(schema, path)
		}
	}
	return ""
}

// delegateWrites lists the paths that the Call's delegate may write beside its result.
func (s *planStep) delegateWrites() []jsonval.Path {
	if s.tool == nil {
		return nil
	}
	return s.tool.DelegateWrites
}

// outputPathStatus reports whether a Call's output path holds a value at the start, and whether something that is not an
// object is above it.
func (s *planStep) outputPathStatus(start *statelog.State) (skipped, blocked bool) {
	blockedBranches := 0
	for _, branch := range s.output {
		allClosed, allPresent, anyBlocked := true, true, false
		for _, path := range branch {
			_, closed := start.Closed(path)
			_, present := refexpr.LookupIn(start.Current, path)
			allClosed, allPresent = allClosed && closed, allPresent && present
			anyBlocked = anyBlocked || (start.BlockedAbove(path) && !present)
		}
		skipped = skipped || (allClosed && allPresent && !s.isUpdate())
		if anyBlocked {
			blockedBranches++
		}
	}
	return skipped, !skipped && blockedBranches > 0 && (blockedBranches == len(s.output) || !s.isUpdate())
}

func termFactsFor(view ideafile.View, start *statelog.State, ref refexpr.Reference) termFacts {
	var facts termFacts
	var v any
	if ref.Kind != ideafile.TypeState {
		v, facts.neverReason = lookupNonState(view, ref)
		facts.present = facts.neverReason == ""
	} else {
		v, facts.present = refexpr.LookupIn(start.Current, ref.Path)
		if schema := view.Schema[ideafile.TypeState]; schema != nil && !facts.present && jsonschema.PlaceOf(schema, ref.Path).Closed {
			facts.neverReason = outsideSchemaText(schema, ref.Path)
		}
	}
	if facts.present {
		facts.valueType = jsonschema.ExactType(v)
		if h, ok := jsonval.AsHandle(v); ok && h.Path == "" {
			facts.valueType = h.Type
		} else if ok {
			facts.valueType = ""
		}
	}
	return facts
}

func (f *planFlow) reportError(s *planStep, path, message string) { f.report(s, path, message, false) }

func (f *planFlow) report(s *planStep, path, message string, warning bool) {
	f.addFinding(diag.Problem{Path: path, Message: message, Warning: warning}, f.tokens, len(s.instances))
}

func (f *planFlow) checkSteps() {
	f.findRunnable()
	for n, s := range f.steps {
		if !f.facts[n].applies || s.instances == nil {
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
func (f *planFlow) checkOutputPath(n int) {
	s, facts := f.steps[n], f.facts[n]
	switch {
	case facts.outsideSchema != "" && s.outputLocation != s.path: // checkTools reports a fixed path once, at the Tool
		f.reportError(s, s.outputLocation, facts.outsideSchema)
	case facts.blocked:
		f.report(s, s.outputLocation, fmt.Sprintf("%s: something other than an object stands above it at the start, so the Call never runs",
			s.output.Reference()), true)
	}
}

// firstOverlapping returns the first of some paths at which a write is visible at path p.
func firstOverlapping(paths []jsonval.Path, p jsonval.Path) (jsonval.Path, bool) {
	for _, q := range paths {
		if q.Overlaps(p) {
			return q, true
		}
	}
	return nil, false
}
