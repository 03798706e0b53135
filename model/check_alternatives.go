package model

import "fmt"

// This file warns of Calls that write one path and are alternatives by mistake.

// checkOwnPath warns of a Call that reads the very value it writes: once that is there, the path is closed.
func (f *flow) checkOwnPath(n int) {
	s := f.steps[n]
	if s.output == nil || s.update() {
		return
	}
	for r, read := range s.reads {
		comes := f.facts[n].reads[r].present || len(f.writers(n, r)) > 0
		if comes && read.ref.Kind == TypeState && read.ref.Path.Within(*s.output) {
			f.note(s, s.outputAt, fmt.Sprintf("the Call reads %s and is skipped once that is there, as its own path %s is closed then; "+
				"write elsewhere, or declare an _outputMethod on its tool", read.ref, Reference{TypeState, *s.output}), true)
			return
		}
	}
}

// checkAlternatives warns of a Call that lies within the path of another, comes behind an update of its path, or repeats
// another.
func (f *flow) checkAlternatives(n int) {
	s := f.steps[n]
	if s.output == nil || s.update() || f.facts[n].skipped {
		return
	}
	for w, earlier := range f.steps[:n] {
		if !f.facts[w].here || f.facts[w].skipped || !earlier.claims(*s.output) {
			continue
		}
		if at, why := clash(s, earlier); why != "" {
			f.note(s, at, why, true)
			return
		}
	}
}

// claims says whether a Call leaves no room for a later write-once Call at a path. One that writes the whole State leaves
// room, and so may an update above the path.
func (s *planStep) claims(p Path) bool {
	if s.output == nil || len(*s.output) == 0 || !s.output.Overlaps(p) {
		return false
	}
	return !s.update() || len(*s.output) >= len(p)
}

// clash words what is odd about two Calls that write one path; plain alternatives are not.
func clash(s, earlier *planStep) (at, why string) {
	mine, other := Reference{TypeState, *s.output}.String(), Reference{TypeState, *earlier.output}.String()
	switch {
	case earlier.update():
		return s.outputAt, fmt.Sprintf("%s is updated by %s before, so the Call is skipped: put it first, or give it an _outputMethod",
			mine, earlier)
	case mine != other:
		return s.outputAt, fmt.Sprintf("one of %s and %s, which %s writes, lies within the other: "+
			"the Call is skipped unless that one fails", mine, other, earlier)
	case repeats(s.raw, earlier.raw):
		return s.path, fmt.Sprintf("the Call repeats %s: it runs only if that one fails", earlier)
	}
	return "", ""
}

func repeats(a, b map[string]any) bool {
	for _, k := range []string{"_instance", "_reasoningForCall"} {
		a, b = withoutKey(a, k), withoutKey(b, k)
	}
	return Equal(a, b)
}
