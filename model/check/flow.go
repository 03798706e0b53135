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

// This file follows a Plan's data: what each Call reads, who writes it, and who waits for whom. Instances that begin
// alike are looked at once.

// stepFacts is what one instance's beginning means for one Call.
type stepFacts struct {
	here bool // the Call is for the instance
	// reads is what the Call's References find, in their order.
	reads []readFacts
	// skipped: its path holds a value already. walled: something other than an object stands above its path.
	skipped, walled bool
	open            []jsonval.Path // those of its paths that it can write
	outside         string         // why State has no room for its result
}

// readFacts is what an expression finds, by alternative and term.
type readFacts [][]termFacts

type termFacts struct {
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
	for _, token := range p.tokens {
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
	start, schema := statelog.New(view.Payload[ideafile.TypeState]), view.Schema[ideafile.TypeState]
	out := make([]stepFacts, len(steps))
	for n, s := range steps {
		f := &out[n]
		f.here = len(s.tokens) == len(p.palette.Tokens) || slices.Contains(s.tokens, token)
		for _, r := range s.reads {
			var facts readFacts
			for _, all := range r.expr {
				var terms []termFacts
				for _, ref := range all {
					terms = append(terms, termFactsFor(view, start, ref))
				}
				facts = append(facts, terms)
			}
			f.reads = append(f.reads, facts)
		}
		for _, path := range s.output.Paths() {
			if schema != nil && f.outside == "" && jsonschema.PlaceOf(schema, path).Closed {
				f.outside = outsideSchema(schema, path)
			}
			if _, closed := start.Closed(path); !closed || s.update() {
				f.open = append(f.open, path)
			}
		}
		for _, path := range s.hands() {
			if schema != nil && f.outside == "" && jsonschema.PlaceOf(schema, path).Closed {
				f.outside = outsideSchema(schema, path)
			}
			if _, closed := start.Closed(path); !closed {
				f.open = append(f.open, path)
			}
		}
		f.skipped, f.walled = s.roomAt(start)
	}
	return out
}

// hands lists the paths for which the Call's delegate may hand values back.
func (s *planStep) hands() []jsonval.Path {
	if s.tool == nil {
		return nil
	}
	return s.tool.DelegateWrites
}

// roomAt says whether a Call's path holds a value at the start, or something other than an object stands above it.
func (s *planStep) roomAt(start *statelog.State) (skipped, walled bool) {
	walls := 0
	for _, branch := range s.output {
		all, there, wall := true, true, false
		for _, path := range branch {
			_, closed := start.Closed(path)
			_, present := refexpr.LookupIn(start.Current, path)
			all, there, wall = all && closed, there && present, wall || start.BlockedAbove(path) && !present
		}
		skipped = skipped || all && there && !s.update()
		if wall {
			walls++
		}
	}
	return skipped, !skipped && walls > 0 && (walls == len(s.output) || !s.update())
}

func termFactsFor(view ideafile.View, start *statelog.State, ref refexpr.Reference) termFacts {
	var f termFacts
	var v any
	if ref.Kind != ideafile.TypeState {
		v, f.outside = lookOutside(view, ref)
		f.present = f.outside == ""
	} else {
		v, f.present = refexpr.LookupIn(start.Current, ref.Path)
		if schema := view.Schema[ideafile.TypeState]; schema != nil && !f.present && jsonschema.PlaceOf(schema, ref.Path).Closed {
			f.outside = outsideSchema(schema, ref.Path)
		}
	}
	if f.present {
		f.types = jsonschema.ExactType(v)
		if h, ok := jsonval.AsHandle(v); ok && h.Path == "" {
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
	f.find(diag.Problem{Path: path, Message: message, Warning: warning}, f.tokens, len(s.tokens))
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
			s.output.Reference()), true)
	}
}

// checkRead looks whether what a Call reads is there or comes, and whether its type fits. Of several alternatives one is
// enough: what is wrong with the others is a warning.
func (f *flow) checkRead(n, r int) {
	s, read, facts := f.steps[n], f.steps[n].reads[r], f.facts[n].reads[r]
	hopeless := make([]string, len(read.expr))
	left := 0
	for i, all := range read.expr {
		for t, ref := range all {
			if why := f.hopeless(n, ref, facts[i][t]); why != "" && hopeless[i] == "" {
				hopeless[i] = why
			}
		}
		if hopeless[i] == "" {
			left++
			f.compareTerm(n, read, all[len(all)-1], facts[i][len(all)-1])
		}
	}
	for _, why := range hopeless {
		if why != "" {
			f.note(s, read.path, wiredText(read)+why, left > 0)
		}
	}
}

// hopeless words why a term of an expression can never be there; "" where it can.
func (f *flow) hopeless(n int, ref refexpr.Reference, facts termFacts) string {
	switch {
	case facts.outside != "":
		return facts.outside
	case facts.present, f.facts[n].skipped, len(f.writers(n, ref)) > 0:
		return ""
	}
	return f.whyNobody(n, ref)
}

// compareTerm compares the type of what an alternative yields.
func (f *flow) compareTerm(n int, read planRead, ref refexpr.Reference, facts termFacts) {
	switch {
	case facts.present:
		if facts.types != "" {
			f.compare(f.steps[n], read, ref, []string{facts.types}, "")
		}
	case !f.facts[n].skipped:
		f.compareWriters(f.steps[n], read, ref, f.writers(n, ref))
	}
}

func wiredText(r planRead) string {
	if !r.wired {
		return ""
	}
	return fmt.Sprintf("the wired parameter %q: ", r.param[0])
}

// compare reports a value whose type plainly does not fit the parameter that reads it.
func (f *flow) compare(s *planStep, read planRead, ref refexpr.Reference, types []string, from string) {
	if s.tool == nil {
		return
	}
	wanted := jsonschema.TypesAt(s.tool.Source, read.param)
	message := fmt.Sprintf("%s%s%s is of type %s; the parameter %q wants %s; convert it first, or read another value", wiredText(read), ref, from, jsonschema.OrList(types),
		read.param, jsonschema.OrList(wanted))
	switch jsonschema.TypesFit(types, wanted) {
	case jsonschema.FitsNever:
		f.note(s, read.path, message, len(read.expr) > 1)
	case jsonschema.FitsPerhaps:
		f.note(s, read.path, message, true)
	}
}

// compareWriters compares what the writers' Tools say of their results.
func (f *flow) compareWriters(s *planStep, read planRead, ref refexpr.Reference, writers []int) {
	lacking := 0
	for _, n := range writers {
		w := f.steps[n]
		at, _ := firstAt(f.facts[n].open, ref.Path)
		switch {
		case handsAt(w, at):
			continue // of what a delegate hands back nothing is said
		case w.update() && len(at) > 0 || w.output.HasBranches():
			continue // what an update makes of a value, and which branch is taken, is known when it has run
		case len(ref.Path) < len(at):
			f.compare(s, read, ref, []string{"object"}, fmt.Sprintf(", below which %s writes,", w))
			continue
		case w.tool == nil || w.tool.Output == nil:
			continue
		}
		below := ref.Path[len(at):]
		if jsonschema.PlaceOf(w.tool.Output.Source, below).Closed {
			if lacking++; lacking == len(writers) {
				f.note(s, read.path, fmt.Sprintf("%s: %s writes %s, and its _output has no %s%s", ref, w,
					refexpr.Reference{Kind: ideafile.TypeState, Path: at}, below, suggestBelow(w.tool.Output.Source, below)), len(read.expr) > 1)
			}
			continue
		}
		f.compare(s, read, ref, jsonschema.TypesAt(w.tool.Output.Source, below), fmt.Sprintf(", as %s writes it,", w))
	}
}

// firstAt finds the first of some output paths of which a write can be seen at a path.
func firstAt(paths []jsonval.Path, p jsonval.Path) (jsonval.Path, bool) {
	for _, q := range paths {
		if q.Overlaps(p) {
			return q, true
		}
	}
	return nil, false
}

func suggestBelow(schema any, p jsonval.Path) string {
	node, _ := jsonschema.Follow(schema, schema, "")
	m, _ := node.(map[string]any)
	props, _ := m["properties"].(map[string]any)
	if len(p) == 0 || len(props) == 0 {
		return ""
	}
	if s := diag.DidYouMean(p[0], jsonval.SortedKeys(props)); s != "" {
		return s
	}
	return "; it has " + diag.SomeOf(jsonval.SortedKeys(props))
}

// whyNobody words why a Reference to State finds nothing, ever.
func (f *flow) whyNobody(n int, ref refexpr.Reference) string {
	for w, s := range f.steps {
		if _, writes := firstAt(s.output.Paths(), ref.Path); !writes || !f.facts[w].here {
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
func (f *flow) otherPaths(n int, ref refexpr.Reference) string {
	var names, refs []string
	add := func(p jsonval.Path) {
		if name := p.String(); name != "" && !slices.Contains(names, name) {
			names, refs = append(names, name), append(refs, refexpr.Reference{Kind: ideafile.TypeState, Path: p}.String())
		}
	}
	for w, s := range f.steps {
		for _, p := range s.output.Paths() {
			if f.facts[w].here && w != n {
				add(p)
			}
		}
	}
	start, _ := f.views[f.tokens[0]].Payload[ideafile.TypeState].(map[string]any)
	for _, k := range jsonval.SortedKeys(start) {
		add(jsonval.Path{k})
	}
	switch best := diag.Nearest(ref.Path.String(), names); {
	case best != "":
		return "; did you mean " + refexpr.Dagger + ideafile.TypeState + "." + best + "?"
	case len(refs) == 1:
		return "; there is " + refs[0]
	case len(refs) > 1:
		return "; there are " + diag.SomeOf(refs)
	}
	return ""
}

func handsAt(s *planStep, at jsonval.Path) bool {
	for _, p := range s.hands() {
		if p.String() == at.String() {
			return true
		}
	}
	return false
}
