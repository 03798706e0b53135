package model

import "fmt"

// This file follows a Plan's data: what each Call reads, who writes it, and who waits for whom. Instances that begin
// alike are looked at once.

// stepFacts is what one instance's beginning means for one Call.
type stepFacts struct {
	here bool // the Call is for the instance
	// reads is what the Call's References find, in their order.
	reads []readFacts
	// skipped: its path holds a value already. walled: something other than an object stands above its path.
	skipped, walled bool
	outside         string // why State has no room for its result
}

type readFacts struct {
	present bool
	types   string // of the value that is there
	outside string // why it can never be there
}

// flow is a Plan in instances that begin alike.
type flow struct {
	*planCheck
	tokens []string
	facts  []stepFacts
	alive  []bool
	steps  []*planStep // the Calls, and the Plan's output as a reader behind them
}

// checkFlow checks the Plan's data flow in every instance it is for.
func (p *planCheck) checkFlow(output *planStep) {
	steps := append(p.steps[:len(p.steps):len(p.steps)], output)
	var flows []*flow
	alike := map[string]*flow{}
	for _, token := range p.palette.Tokens {
		facts := p.factsFor(token, steps)
		key := fmt.Sprintf("%+v", facts)
		if alike[key] == nil {
			alike[key] = &flow{planCheck: p, facts: facts, steps: steps, alive: make([]bool, len(steps))}
			flows = append(flows, alike[key])
		}
		alike[key].tokens = append(alike[key].tokens, token)
	}
	for _, f := range flows {
		f.check()
	}
}

func (p *planCheck) factsFor(token string, steps []*planStep) []stepFacts {
	view := p.views[token]
	start, schema := NewState(view.Payload[TypeState]), view.Schema[TypeState]
	out := make([]stepFacts, len(steps))
	for n, s := range steps {
		f := &out[n]
		f.here = len(s.tokens) == len(p.palette.Tokens) || contains(s.tokens, token)
		for _, r := range s.reads {
			f.reads = append(f.reads, readFactsFor(view, start, r.ref))
		}
		if s.output == nil {
			continue
		}
		if schema != nil && placeOf(schema, *s.output).closed {
			f.outside = outsideSchema(schema, *s.output)
		}
		_, there := lookupIn(start.now, *s.output)
		_, closed := start.Closed(*s.output)
		f.skipped, f.walled = closed && there && !s.update(), start.blockedAbove(*s.output) && !there
	}
	return out
}

func readFactsFor(view View, start *State, ref Reference) readFacts {
	var f readFacts
	var v any
	if ref.Kind != TypeState {
		v, f.outside = lookOutside(view, ref)
		f.present = f.outside == ""
	} else {
		v, f.present = lookupIn(start.now, ref.Path)
		if schema := view.Schema[TypeState]; schema != nil && !f.present && placeOf(schema, ref.Path).closed {
			f.outside = outsideSchema(schema, ref.Path)
		}
	}
	if f.present {
		f.types = exactType(v)
		if h, ok := AsHandle(v); ok && h.Path == "" {
			f.types = h.Type
		} else if ok {
			f.types = ""
		}
	}
	return f
}

// report notes what holds in the flow's instances, at the place of one Call.
func (f *flow) report(s *planStep, path, message string) { f.note(s, path, message, false) }

func (f *flow) note(s *planStep, path, message string, warning bool) {
	f.find(Problem{Path: path, Message: message, Warning: warning}, f.tokens, len(s.tokens))
}

func (f *flow) check() {
	f.enliven()
	for n, s := range f.steps {
		if !f.facts[n].here || s.tokens == nil {
			continue
		}
		f.checkPath(n)
		for r := range s.reads {
			f.checkRead(n, r)
		}
		f.checkOwnPath(n)
		f.checkAlternatives(n)
	}
	f.checkCycles()
}

// checkPath looks whether State has room for a Call's result.
func (f *flow) checkPath(n int) {
	s, facts := f.steps[n], f.facts[n]
	switch {
	case facts.outside != "" && s.outputAt != s.path: // what a designer fixed was told at the Tool
		f.report(s, s.outputAt, facts.outside)
	case facts.walled:
		f.note(s, s.outputAt, fmt.Sprintf("%s: something other than an object stands above it at the start, so the Call never runs",
			Reference{TypeState, *s.output}), true)
	}
}

// checkRead looks whether what a Call reads is there or comes, and whether its type fits.
func (f *flow) checkRead(n, r int) {
	s, read, facts := f.steps[n], f.steps[n].reads[r], f.facts[n].reads[r]
	switch {
	case facts.outside != "":
		f.report(s, read.path, wiredText(read)+facts.outside)
	case facts.present:
		if facts.types != "" {
			f.compare(s, read, []string{facts.types}, "")
		}
	case f.facts[n].skipped:
	default:
		writers := f.writers(n, r)
		if len(writers) == 0 {
			f.report(s, read.path, wiredText(read)+f.whyNobody(n, r))
		}
		f.compareWriters(s, read, writers)
	}
}

func wiredText(r planRead) string {
	if !r.wired {
		return ""
	}
	return fmt.Sprintf("the wired parameter %q: ", r.param[0])
}

// compare reports a value whose type plainly does not fit the parameter that reads it.
func (f *flow) compare(s *planStep, read planRead, types []string, from string) {
	if s.tool == nil {
		return
	}
	wanted := typesAt(s.tool.Source, read.param)
	message := fmt.Sprintf("%s%s%s is of type %s; the parameter %q wants %s", wiredText(read), read.ref, from, orList(types),
		read.param, orList(wanted))
	switch typesFit(types, wanted) {
	case fitsNever:
		f.report(s, read.path, message)
	case fitsPerhaps:
		f.note(s, read.path, message, true)
	}
}

// compareWriters compares what the writers' Tools say of their results.
func (f *flow) compareWriters(s *planStep, read planRead, writers []int) {
	lacking := 0
	for _, n := range writers {
		w := f.steps[n]
		switch {
		case w.update() && len(*w.output) > 0:
			continue // what an update makes of a value is known when it has run
		case len(read.ref.Path) < len(*w.output):
			f.compare(s, read, []string{"object"}, fmt.Sprintf(", below which %s writes,", w))
			continue
		case w.tool == nil || w.tool.Output == nil:
			continue
		}
		below := read.ref.Path[len(*w.output):]
		if placeOf(w.tool.Output.Source, below).closed {
			if lacking++; lacking == len(writers) {
				f.report(s, read.path, fmt.Sprintf("%s: %s writes %s, and its _output has no %s%s", read.ref, w,
					Reference{TypeState, *w.output}, below, suggestBelow(w.tool.Output.Source, below)))
			}
			continue
		}
		f.compare(s, read, typesAt(w.tool.Output.Source, below), fmt.Sprintf(", as %s writes it,", w))
	}
}

func suggestBelow(schema any, p Path) string {
	node, _ := follow(schema, schema, "")
	m, _ := node.(map[string]any)
	props, _ := m["properties"].(map[string]any)
	if len(p) == 0 || len(props) == 0 {
		return ""
	}
	if s := suggest(p[0], sortedKeys(props)); s != "" {
		return s
	}
	return "; it has " + someOf(sortedKeys(props))
}

// whyNobody words why a Reference to State finds nothing, ever.
func (f *flow) whyNobody(n, r int) string {
	ref := f.steps[n].reads[r].ref
	for w, s := range f.steps {
		if s.output == nil || !f.facts[w].here || !s.output.Overlaps(ref.Path) {
			continue
		}
		switch {
		case w == n:
			return fmt.Sprintf("only the Call itself writes %s, which it waits for", ref)
		case f.facts[w].skipped || f.facts[w].walled:
			return fmt.Sprintf("%s is not there, and %s, which would write it, never runs: its path is closed at the start", ref, s)
		case s.update():
			return fmt.Sprintf("%s is updated by %s alone, which stands behind the Call: put it before", ref, s)
		}
	}
	return fmt.Sprintf("no Call writes %s and no State holds it at the start%s", ref, f.otherPaths(n, ref))
}

// otherPaths suggests a path of State that is written or there.
func (f *flow) otherPaths(n int, ref Reference) string {
	var names, refs []string
	add := func(p Path) {
		if name := p.String(); name != "" && !contains(names, name) {
			names, refs = append(names, name), append(refs, Reference{TypeState, p}.String())
		}
	}
	for w, s := range f.steps {
		if s.output != nil && f.facts[w].here && w != n {
			add(*s.output)
		}
	}
	start, _ := f.views[f.tokens[0]].Payload[TypeState].(map[string]any)
	for _, k := range sortedKeys(start) {
		add(Path{k})
	}
	switch best := nearest(ref.Path.String(), names); {
	case best != "":
		return "; did you mean " + dagger + TypeState + "." + best + "?"
	case len(refs) == 1:
		return "; there is " + refs[0]
	case len(refs) > 1:
		return "; there are " + someOf(refs)
	}
	return ""
}
