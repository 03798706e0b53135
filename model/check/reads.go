package check

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkRead checks that what a Call reads is present or will be written, and that its type fits. One of several
// alternatives is enough: errors in the others are warnings.
func (f *planDataflow) checkRead(callIndex, readIndex int) {
	s, read, startStatus := f.calls[callIndex], f.calls[callIndex].reads[readIndex],
		f.startStatusByCall[callIndex].reads[readIndex]
	impossibleReasons := make([]string, len(read.expr))
	possibleCount := 0
	for alternativeIndex, terms := range read.expr {
		for termIndex, ref := range terms {
			if reason := f.neverPresentReason(callIndex, ref, startStatus[alternativeIndex][termIndex]); reason != "" &&
				impossibleReasons[alternativeIndex] == "" {
				impossibleReasons[alternativeIndex] = reason
			}
		}
		if impossibleReasons[alternativeIndex] == "" {
			possibleCount++
			f.checkTermType(callIndex, read, terms[len(terms)-1], startStatus[alternativeIndex][len(terms)-1])
		}
	}
	for _, reason := range impossibleReasons {
		if reason != "" {
			f.reportFinding(s, read.jsonPath, possibleCount > 0, "%s%s", wiredParamPrefix(read), reason)
		}
	}
}

// neverPresentReason returns why a term of an expression can never be present; "" if it can.
func (f *planDataflow) neverPresentReason(callIndex int, ref refexpr.Reference, startStatus termStartStatus) string {
	switch {
	case startStatus.neverPresentReason != "":
		return startStatus.neverPresentReason
	case startStatus.isPresent, f.isSkippedAtStart(callIndex), len(f.possibleWriterIndexes(callIndex, ref)) > 0:
		return ""
	}
	return f.noWriterReason(callIndex, ref)
}

// checkTermType checks the type of the value that an alternative yields.
func (f *planDataflow) checkTermType(callIndex int, read parameterRead, ref refexpr.Reference,
	startStatus termStartStatus) {
	if _, isCall := ideafile.CallOfReference(ref); isCall {
		return // it takes no value
	}
	switch {
	case startStatus.isPresent:
		if startStatus.valueType != "" {
			f.checkType(f.calls[callIndex], read, ref, []string{startStatus.valueType}, "")
		}
	case !f.isSkippedAtStart(callIndex):
		f.checkWriterTypes(f.calls[callIndex], read, ref, f.possibleWriterIndexes(callIndex, ref))
	}
}

func wiredParamPrefix(r parameterRead) string {
	if !r.isFromWiredParam {
		return ""
	}
	return fmt.Sprintf("the wired parameter %q: ", r.paramPath[0])
}

// checkType reports a value whose type cannot, or may not, fit the parameter that reads it.
func (f *planDataflow) checkType(s *planCall, read parameterRead, ref refexpr.Reference, valueTypes []string,
	valueSourcePhrase string) {
	if s.tool == nil || read.acceptsAnyType {
		return
	}
	wantedTypes := jsonschema.TypesAt(s.tool.Source, read.paramPath)
	fit := jsonschema.CompareTypes(valueTypes, wantedTypes)
	if fit != jsonschema.FitsByType {
		f.reportFinding(s, read.jsonPath, fit == jsonschema.FitsPerhaps || len(read.expr) > 1,
			"%s%s%s is of type %s; the parameter %q wants %s; convert it first, or read another value",
			wiredParamPrefix(read), ref, valueSourcePhrase, jsonschema.JoinWithOr(valueTypes), read.paramPath,
			jsonschema.JoinWithOr(wantedTypes))
	}
}

// checkWriterTypes checks the types that the possible writers' Tools declare for their results.
func (f *planDataflow) checkWriterTypes(s *planCall, read parameterRead, ref refexpr.Reference, writerIndexes []int) {
	missingPropertyCount := 0
	for _, n := range writerIndexes {
		w := f.calls[n]
		paths := f.startStatusByCall[n].writablePaths
		writtenPath := paths[slices.IndexFunc(paths, ref.Path.Overlaps)]
		isWrittenPath := func(p jsonval.Path) bool { return slices.Equal(p, writtenPath) }
		switch {
		case slices.ContainsFunc(w.delegateWritePaths(), isWrittenPath):
			continue // a delegate's writes declare no types
		case (w.isUpdate() && len(writtenPath) > 0) || w.outputPath.HasBranches():
			continue // the result of an update, and the branch taken, are only known at run time
		case len(ref.Path) < len(writtenPath):
			f.checkType(s, read, ref, []string{"object"}, fmt.Sprintf(", below which %s writes,", w))
			continue
		case w.tool == nil || w.tool.OutputSchema == nil:
			continue
		}
		subpath := ref.Path[len(writtenPath):]
		if jsonschema.SubschemaAt(w.tool.OutputSchema.Source, subpath).IsForbidden {
			missingPropertyCount++
			if missingPropertyCount == len(writerIndexes) {
				f.reportFinding(s, read.jsonPath, len(read.expr) > 1,
					"%s: %s writes %s, and its _output has no %s%s", ref, w, refexpr.StateReference(writtenPath),
					subpath, suggestOutputProperty(w.tool.OutputSchema.Source, subpath))
			}
			continue
		}
		f.checkType(s, read, ref, jsonschema.TypesAt(w.tool.OutputSchema.Source, subpath),
			fmt.Sprintf(", as %s writes it,", w))
	}
}

func suggestOutputProperty(schema any, p jsonval.Path) string {
	props := jsonschema.Properties(jsonschema.SubschemaAt(schema, nil).Node)
	return diag.DidYouMeanOrListWithIntro(firstPathStep(p), jsonval.SortedKeys(props), "it has")
}

// noWriterReason returns why a Reference to State can never find a value.
func (f *planDataflow) noWriterReason(callIndex int, ref refexpr.Reference) string {
	if key, isCall := ideafile.CallOfReference(ref); isCall {
		return fmt.Sprintf("%s: the Plan has no Call %d", ref, key.Index)
	}
	for w, s := range f.calls {
		if !s.mayWrite(ref.Path) || !f.startStatusByCall[w].appliesToInstance {
			continue
		}
		switch {
		case w == callIndex:
			return fmt.Sprintf("the Call waits for %s, which no other Call writes", ref)
		case f.startStatusByCall[w].isSkipped || f.startStatusByCall[w].isBlocked:
			return fmt.Sprintf(
				"%s does not exist, and %s, which would write it, never runs: its path is closed at the start", ref, s)
		case s.isUpdate():
			return fmt.Sprintf("%s is updated only by %s, which comes after the Call: put that one first", ref, s)
		}
	}
	return fmt.Sprintf("no Call writes %s and no State holds it at the start%s", ref,
		f.suggestStatePath(callIndex, ref))
}

// suggestStatePath suggests a path of State that is written or present.
func (f *planDataflow) suggestStatePath(callIndex int, ref refexpr.Reference) string {
	var pathTexts, refs []string
	addPath := func(p jsonval.Path) {
		if name := p.String(); name != "" && !slices.Contains(pathTexts, name) {
			pathTexts, refs = append(pathTexts, name),
				append(refs, refexpr.StateReference(p).String())
		}
	}
	for w, s := range f.calls {
		for _, p := range s.outputPath.Paths() {
			if f.startStatusByCall[w].appliesToInstance && w != callIndex {
				addPath(p)
			}
		}
	}
	startState := jsonval.AsObject(f.viewOf(f.coveredInstanceTokens[0]).PayloadByKind[ideafile.TypeState])
	for k := range jsonval.Sorted(startState) {
		addPath(jsonval.Path{k})
	}
	switch nearest := diag.NearestName(ref.Path.String(), pathTexts); {
	case nearest != "":
		return "; did you mean " + refexpr.Dagger + ideafile.TypeState + "." + nearest + "?"
	case len(refs) == 1:
		return "; there is " + refs[0]
	case len(refs) > 1:
		return "; there are " + diag.SummarizeNames(refs)
	}
	return ""
}
