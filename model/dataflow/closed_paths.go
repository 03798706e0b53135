package dataflow

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// authorClosingOutput reports whether the output path of a Call is closed to it, and who closed it. For a write-once
// Call one closed branch is enough, for then its value exists already. For an update, no branch may be writable.
func (i *Instance) authorClosingOutput(rec *CallRecord) (author string, isClosed bool) {
	if rec.resultUpdatesPath() {
		return "", i.isEveryBranchUnwritable(rec)
	}
	for _, branch := range rec.OutputPath {
		if author, isClosed := i.authorClosingBranch(branch); isClosed {
			return author, true
		}
	}
	return "", false
}

// authorOfAllResultKeys reports whether no key of a Call's result can be written: the result is for the whole State,
// its Tool's schema allows only certain keys, and Calls or people wrote all of them. author is who wrote the first key.
func (i *Instance) authorOfAllResultKeys(rec *CallRecord) (author string, areAllWritten bool) {
	tool := ideafile.FindTool(i.palette.Tools, rec.Tool)
	if rec.OutputMethod != "" || !rec.OutputPath.WritesWholeState() ||
		tool == nil || tool.OutputSchema == nil {
		return "", false
	}
	outputSchema := jsonval.AsObject(tool.OutputSchema.Source)
	keys := jsonval.SortedKeys(jsonschema.Properties(outputSchema))
	if outputSchema["additionalProperties"] != false || outputSchema["patternProperties"] != nil || len(keys) == 0 {
		return "", false
	}
	for n, k := range keys {
		path := jsonval.Path{k}
		keyAuthor := statelog.FirstAuthorAt(i.state.Writes(), path)
		if keyAuthor == "" {
			return "", false
		}
		if n == 0 {
			author = keyAuthor
		}
	}
	return author, true
}

// authorClosingBranch reports whether a branch is closed: either a value exists at each of its paths, or one path can
// never have a value. If only some paths have a value, the others are still to be written.
func (i *Instance) authorClosingBranch(branch []jsonval.Path) (author string, isClosed bool) {
	openPathCount := 0
	for _, p := range branch {
		writer, isClosed := i.state.AuthorWhoClosedPath(p)
		switch _, exists := jsonval.ValueAt(i.state.CurrentValue, p); {
		case !isClosed:
			openPathCount++
		case !exists:
			return writer, true
		case author == "":
			author = writer
		}
	}
	return author, openPathCount == 0
}

// isEveryBranchUnwritable reports whether each branch has a path with something other than an object above it.
func (i *Instance) isEveryBranchUnwritable(rec *CallRecord) bool {
	return !slices.ContainsFunc(rec.OutputPath, func(branch []jsonval.Path) bool {
		return !slices.ContainsFunc(branch, i.state.HasNonObjectAncestor)
	})
}

// firstBlockingAncestorReason describes the obstacle above the first path that has one; "" if no path has one.
func (i *Instance) firstBlockingAncestorReason(paths []jsonval.Path) string {
	for _, p := range paths {
		if reason := i.state.BlockingAncestorReason(p); reason != "" {
			return reason
		}
	}
	return ""
}

// endCallOnClosedPath ends a Call whose path is closed. A write-once Call is skipped, as its value exists already. An
// update fails, as its path cannot be written.
func (i *Instance) endCallOnClosedPath(rec *CallRecord, author string) {
	if rec.resultUpdatesPath() {
		rec.fail(ideafile.CodeBadPath, "%s: %s", rec.OutputPath.ReferenceText(),
			i.firstBlockingAncestorReason(rec.OutputPath.Paths()))
		return
	}
	rec.skip(author)
}

// authorCorrectingOutput names the person who set all paths of one of a Call's branches, for instance while the Call
// ran; "" if nobody did.
func (i *Instance) authorCorrectingOutput(rec *CallRecord) string {
	if rec.resultUpdatesPath() {
		return ""
	}
	for _, branch := range rec.OutputPath {
		if author := i.personWhoCorrectedAll(branch); author != "" {
			return author
		}
	}
	return ""
}

func (i *Instance) personWhoCorrectedAll(branch []jsonval.Path) (author string) {
	for _, p := range branch {
		index := slices.IndexFunc(i.state.Writes(),
			func(w statelog.Write) bool { return w.CorrectionNumber > 0 && w.Path.Overlaps(p) })
		if index < 0 {
			return ""
		}
		author = i.state.Writes()[index].Author
	}
	return author
}
