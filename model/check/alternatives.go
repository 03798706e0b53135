package check

import (
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file warns of Calls that write one path and are alternatives by mistake.

// checkOwnPath warns of a Call that reads the very value it writes: once that is there, the path is closed.
func (f *flow) checkOwnPath(n int) {
	s := f.steps[n]
	if s.update() || len(s.output) == 0 {
		return
	}
	for r, read := range s.reads {
		for i, all := range read.expr {
			for t, ref := range all {
				comes := f.facts[n].reads[r][i][t].present || len(f.writers(n, ref)) > 0
				if comes && ref.Kind == ideafile.TypeState && within(ref.Path, s.output.Paths()) {
					f.note(s, s.outputAt, fmt.Sprintf("the Call reads %s and is skipped once that is there, as its own path %s is closed then; "+
						"write elsewhere, or declare an _outputMethod on its tool", ref, s.output.Reference()), true)
					return
				}
			}
		}
	}
}

func within(p jsonval.Path, paths []jsonval.Path) bool {
	for _, q := range paths {
		if p.Within(q) {
			return true
		}
	}
	return false
}

// checkAlternatives warns of a Call that lies within the path of another, comes behind an update of its path, or repeats
// another.
func (f *flow) checkAlternatives(n int) {
	s := f.steps[n]
	if len(s.output.Paths()) != 1 || s.update() || f.facts[n].skipped {
		return // a Call with several paths writes those that are left
	}
	for w, earlier := range f.steps[:n] {
		if !f.facts[w].here || f.facts[w].skipped || !earlier.claims(s.output[0][0]) {
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
func (s *planStep) claims(p jsonval.Path) bool {
	if len(s.output.Paths()) != 1 || s.output.WritesWholeState() || !s.output[0][0].Overlaps(p) {
		return false
	}
	return !s.update() || len(s.output[0][0]) >= len(p)
}

// clash words what is odd about two Calls that write one path; plain alternatives are not.
func clash(s, earlier *planStep) (at, why string) {
	mine, other := s.output.Reference(), earlier.output.Reference()
	switch {
	case earlier.update():
		return s.outputAt, fmt.Sprintf("%s is updated by %s before, so the Call is skipped: put it first, or give it an _outputMethod",
			mine, earlier)
	case mine != other:
		return s.outputAt, fmt.Sprintf("one of %s and %s, which %s writes, lies within the other: "+
			"the Call is skipped unless that one fails; write beside it", mine, other, earlier)
	case repeats(s.raw, earlier.raw):
		return s.path, fmt.Sprintf("the Call repeats %s: it runs only if that one fails; drop it, or write elsewhere", earlier)
	}
	return "", ""
}

func repeats(a, b map[string]any) bool {
	for _, k := range []string{"_instance", "_reasoningForCall"} {
		a, b = jsonval.WithoutKey(a, k), jsonval.WithoutKey(b, k)
	}
	return jsonval.Equal(a, b)
}
