package check

import (
	"fmt"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// checkReadsOwnOutput warns of a Call that reads the value at its own output path: once that is present, the path is
// closed and the Call is skipped.
func (f *planDataflow) checkReadsOwnOutput(callIndex int) {
	s := f.calls[callIndex]
	if s.isUpdate() || len(s.outputPath) == 0 {
		return
	}
	for r, read := range s.reads {
		for i, terms := range read.expr {
			for t, ref := range terms {
				canBePresent := f.startStatusByCall[callIndex].reads[r][i][t].isPresent ||
					len(f.possibleWriterIndexes(callIndex, ref)) > 0
				if canBePresent && ref.Kind == ideafile.TypeState &&
					slices.ContainsFunc(s.outputPath.Paths(), ref.Path.IsAtOrBelow) {
					f.reportFinding(s, s.outputPathLocation, true,
						"the Call reads %s, which closes its own path %s, so it is always skipped; write "+
							"elsewhere, or declare an _outputMethod on its tool", ref,
						s.outputPath.ReferenceText())
					return
				}
			}
		}
	}
}

// checkAccidentalAlternative warns of a Call that is an alternative to an earlier one, probably by mistake: its path
// overlaps the other's, the other updates it, or both are the same Call.
func (f *planDataflow) checkAccidentalAlternative(callIndex int) {
	s := f.calls[callIndex]
	if len(s.outputPath.Paths()) != 1 || s.isUpdate() || f.startStatusByCall[callIndex].isSkipped {
		return // a Call with several paths writes those that are still open
	}
	for w, earlier := range f.calls[:callIndex] {
		if !f.startStatusByCall[w].appliesToInstance || f.startStatusByCall[w].isSkipped ||
			!earlier.preventsLaterWrite(s.outputPath[0][0]) {
			continue
		}
		if location, reason := overlapWarning(s, earlier); reason != "" {
			f.reportFinding(s, location, true, "%s", reason)
			return
		}
	}
}

// preventsLaterWrite reports whether the Call, once done, keeps a later write-once Call from writing a path. A write of
// the whole State does not, nor does an update of something above the path. A Call with several branches need not.
func (s *planCall) preventsLaterWrite(p jsonval.Path) bool {
	if s.outputPath.HasBranches() || s.outputPath.WritesWholeState() {
		return false
	}
	return slices.ContainsFunc(s.outputPath.Paths(), func(ownPath jsonval.Path) bool {
		return ownPath.Overlaps(p) && (!s.isUpdate() || len(ownPath) >= len(p))
	})
}

// overlapWarning returns why an earlier Call probably keeps this one from running, and where to report that. Two
// different Calls for the very same path are intended alternatives, and give no warning.
func overlapWarning(s, earlier *planCall) (jsonPath, reason string) {
	ownPath, earlierPath := s.outputPath.ReferenceText(), earlier.outputPath.ReferenceText()
	switch {
	case earlier.isUpdate():
		return s.outputPathLocation,
			fmt.Sprintf("%s is updated by %s before, so the Call is skipped: put it first, or give it an _outputMethod",
				ownPath, earlier)
	case ownPath != earlierPath:
		return s.outputPathLocation, fmt.Sprintf("one of %s and %s, which %s writes, is within the other: the Call "+
			"is skipped unless that one fails; write to a path beside it", ownPath, earlierPath, earlier)
	case ideafile.ParseWrittenCall(s.rawCall).SameCallAs(ideafile.ParseWrittenCall(earlier.rawCall)):
		return s.jsonPath,
			fmt.Sprintf("the Call repeats %s: it runs only if that one fails; drop it, or write elsewhere", earlier)
	}
	return "", ""
}
