package dataflow

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// outputClosedBy reports whether the output path of a Call is closed to it, and who closed it. For a write-once Call
// one closed branch is enough, for then its value exists already. For an update, no branch may be writable.
func (i *Instance) outputClosedBy(rec *CallRecord) (by string, closed bool) {
	if rec.resultUpdatesPath() {
		return "", i.everyBranchUnwritable(rec)
	}
	for _, branch := range rec.OutputPath {
		if by, closed := i.branchClosedBy(branch); closed {
			return by, true
		}
	}
	return "", false
}

// everyResultKeyWritten reports whether no key of a Call's result can be written: the result is for the whole State,
// its Tool's schema allows only certain keys, and Calls or people wrote all of them. by is who wrote the first key.
func (i *Instance) everyResultKeyWritten(rec *CallRecord) (by string, written bool) {
	tool := ideafile.FindTool(i.palette.Tools, rec.Tool)
	if rec.OutputMethod != "" || !rec.OutputPath.WritesWholeState() ||
		tool == nil || tool.OutputSchema == nil {
		return "", false
	}
	form := jsonval.AsObject(tool.OutputSchema.Source)
	keys := jsonval.SortedKeys(jsonschema.Properties(form))
	if form["additionalProperties"] != false || form["patternProperties"] != nil || len(keys) == 0 {
		return "", false
	}
	for n, k := range keys {
		path := jsonval.Path{k}
		writer := statelog.FirstAuthorAt(i.state.Writes(), path)
		if writer == "" {
			return "", false
		}
		if n == 0 {
			by = writer
		}
	}
	return by, true
}

// branchClosedBy reports whether a branch is closed: either a value exists at each of its paths, or one path can never
// have a value. If only some paths have a value, the others are still to be written.
func (i *Instance) branchClosedBy(branch []jsonval.Path) (by string, closed bool) {
	open := 0
	for _, p := range branch {
		writer, closed := i.state.AuthorWhoClosedPath(p)
		switch _, exists := jsonval.ValueAt(i.state.CurrentValue, p); {
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

// everyBranchUnwritable reports whether each branch has a path with something other than an object above it.
func (i *Instance) everyBranchUnwritable(rec *CallRecord) bool {
	return !slices.ContainsFunc(rec.OutputPath, func(branch []jsonval.Path) bool {
		return !slices.ContainsFunc(branch, i.state.HasNonObjectAncestor)
	})
}

// firstBlockingAncestor describes the obstacle above the first path that has one; "" if no path has one.
func (i *Instance) firstBlockingAncestor(paths []jsonval.Path) string {
	for _, p := range paths {
		if why := i.state.BlockingAncestorReason(p); why != "" {
			return why
		}
	}
	return ""
}

// endCallOnClosedPath ends a Call whose path is closed. A write-once Call is skipped, as its value exists already. An
// update fails, as its path cannot be written.
func (i *Instance) endCallOnClosedPath(rec *CallRecord, by string) {
	if rec.resultUpdatesPath() {
		rec.fail(ideafile.CodeBadPath, "%s: %s", rec.OutputPath.ReferenceText(),
			i.firstBlockingAncestor(rec.OutputPath.Paths()))
		return
	}
	rec.skip(by)
}

// outputCorrectedBy names the person who set all paths of one of a Call's branches, for instance while the Call ran; ""
// if nobody did.
func (i *Instance) outputCorrectedBy(rec *CallRecord) string {
	if rec.resultUpdatesPath() {
		return ""
	}
	for _, branch := range rec.OutputPath {
		if by := i.personWhoCorrectedAll(branch); by != "" {
			return by
		}
	}
	return ""
}

func (i *Instance) personWhoCorrectedAll(branch []jsonval.Path) (by string) {
	for _, p := range branch {
		at := slices.IndexFunc(i.state.Writes(),
			func(w statelog.Write) bool { return w.CorrectionNumber > 0 && w.Path.Overlaps(p) })
		if at < 0 {
			return ""
		}
		by = i.state.Writes()[at].Author
	}
	return by
}
