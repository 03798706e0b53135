package dataflow

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// outputClosedBy reports whether the output path of a Call is closed to it, and who closed it. A write-once Call finds it closed where
// any of its branches is, for then its value exists already; an update only where no branch can be written.
func (i *Instance) outputClosedBy(rec *Record) (by string, closed bool) {
	if rec.isUpdate() {
		return "", i.everyBranchBlocked(rec)
	}
	for _, branch := range rec.OutputPath {
		if by, closed := i.branchClosedBy(branch); closed {
			return by, true
		}
	}
	return "", false
}

// branchClosedBy reports whether a branch is closed: either a value exists at each of its paths, or one of them can never have
// one. Where only some paths have a value, the others are still to be written.
func (i *Instance) branchClosedBy(branch []jsonval.Path) (by string, closed bool) {
	open := 0
	for _, p := range branch {
		writer, closed := i.state.Closed(p)
		switch _, exists := jsonval.Lookup(i.state.Current, p); {
		case !closed:
			open++
		case !exists:
			return writer, true
		case by == "":
			by = writer
		}
	}
	return by, open == 0
}

// everyBranchBlocked reports whether something other than an object stands above a path of each branch.
func (i *Instance) everyBranchBlocked(rec *Record) bool {
	for _, branch := range rec.OutputPath {
		if !slices.ContainsFunc(branch, i.state.BlockedAbove) {
			return false
		}
	}
	return true
}

// endWithClosedPath ends a Call whose path is closed: skipped, as its value exists already. An update fails, as what it would have
// changed cannot be changed.
func (i *Instance) endWithClosedPath(rec *Record, by string) {
	if rec.isUpdate() {
		rec.end(ideafile.Failed, diag.Faultf(ideafile.CodeBadPath, "%s: something other than an object stands above it",
			rec.OutputPath.Reference()))
		return
	}
	rec.end(ideafile.Skipped, nil)
	rec.By = by
}

// correctedBy names the person who set all paths of one of a Call's branches, for instance while it ran; "" if nobody did.
func (i *Instance) correctedBy(rec *Record) string {
	if rec.isUpdate() {
		return ""
	}
	for _, branch := range rec.OutputPath {
		if by := i.correctorOfAll(branch); by != "" {
			return by
		}
	}
	return ""
}

func (i *Instance) correctorOfAll(branch []jsonval.Path) (by string) {
	for _, p := range branch {
		by = i.corrector(p)
		if by == "" {
			return ""
		}
	}
	return by
}

func (i *Instance) corrector(p jsonval.Path) string {
	for _, w := range i.state.Writes() {
		if w.Correction > 0 && w.Path.Overlaps(p) {
			return w.By
		}
	}
	return ""
}
