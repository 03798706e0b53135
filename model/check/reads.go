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
func (f *planDataflow) checkRead(n, r int) {
	s, read, facts := f.calls[n], f.calls[n].reads[r], f.facts[n].reads[r]
	impossible := make([]string, len(read.expr))
	possible := 0
	for alternative, terms := range read.expr {
		for term, ref := range terms {
			if reason := f.neverPresentReason(n, ref, facts[alternative][term]); reason != "" &&
				impossible[alternative] == "" {
				impossible[alternative] = reason
			}
		}
		if impossible[alternative] == "" {
			possible++
			f.checkTermType(n, read, terms[len(terms)-1], facts[alternative][len(terms)-1])
		}
	}
	for _, reason := range impossible {
		if reason != "" {
			f.reportFinding(s, read.location, possible > 0, "%s%s", wiredParamPrefix(read), reason)
		}
	}
}

// neverPresentReason returns why a term of an expression can never be present; "" if it can.
func (f *planDataflow) neverPresentReason(n int, ref refexpr.Reference, facts termStartStatus) string {
	switch {
	case facts.neverPresentReason != "":
		return facts.neverPresentReason
	case facts.present, f.isSkippedAtStart(n), len(f.possibleWriters(n, ref)) > 0:
		return ""
	}
	return f.noWriterReason(n, ref)
}

// checkTermType checks the type of the value that an alternative yields.
func (f *planDataflow) checkTermType(n int, read parameterRead, ref refexpr.Reference, facts termStartStatus) {
	if _, isCall := ideafile.CallOfReference(ref); isCall {
		return // it takes no value
	}
	switch {
	case facts.present:
		if facts.valueType != "" {
			f.checkType(f.calls[n], read, ref, []string{facts.valueType}, "")
		}
	case !f.isSkippedAtStart(n):
		f.checkWriterTypes(f.calls[n], read, ref, f.possibleWriters(n, ref))
	}
}

func wiredParamPrefix(r parameterRead) string {
	if !r.fromWiredParam {
		return ""
	}
	return fmt.Sprintf("the wired parameter %q: ", r.paramPath[0])
}

// checkType reports a value whose type cannot, or may not, fit the parameter that reads it.
func (f *planDataflow) checkType(s *planCall, read parameterRead, ref refexpr.Reference, types []string,
	origin string) {
	if s.tool == nil || read.acceptsAnyType {
		return
	}
	wanted := jsonschema.TypesAt(s.tool.Source, read.paramPath)
	fits := jsonschema.CompareTypes(types, wanted)
	if fits != jsonschema.FitsByType {
		f.reportFinding(s, read.location, fits == jsonschema.FitsPerhaps || len(read.expr) > 1,
			"%s%s%s is of type %s; the parameter %q wants %s; convert it first, or read another value",
			wiredParamPrefix(read), ref, origin, jsonschema.JoinWithOr(types), read.paramPath,
			jsonschema.JoinWithOr(wanted))
	}
}

// checkWriterTypes checks the types that the possible writers' Tools declare for their results.
func (f *planDataflow) checkWriterTypes(s *planCall, read parameterRead, ref refexpr.Reference, writers []int) {
	withoutProperty := 0
	for _, n := range writers {
		w := f.calls[n]
		paths := f.facts[n].writablePaths
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
		below := ref.Path[len(writtenPath):]
		if jsonschema.SubschemaAt(w.tool.OutputSchema.Source, below).IsForbidden {
			withoutProperty++
			if withoutProperty == len(writers) {
				f.reportFinding(s, read.location, len(read.expr) > 1,
					"%s: %s writes %s, and its _output has no %s%s", ref, w, refexpr.StateReference(writtenPath), below,
					suggestOutputProperty(w.tool.OutputSchema.Source, below))
			}
			continue
		}
		f.checkType(s, read, ref, jsonschema.TypesAt(w.tool.OutputSchema.Source, below),
			fmt.Sprintf(", as %s writes it,", w))
	}
}

func suggestOutputProperty(schema any, p jsonval.Path) string {
	props := jsonschema.Properties(jsonschema.SubschemaAt(schema, nil).Node)
	return diag.DidYouMeanOrSay(firstStep(p), jsonval.SortedKeys(props), "it has")
}

// noWriterReason returns why a Reference to State can never find a value.
func (f *planDataflow) noWriterReason(n int, ref refexpr.Reference) string {
	if key, isCall := ideafile.CallOfReference(ref); isCall {
		return fmt.Sprintf("%s: the Plan has no Call %d", ref, key.Index)
	}
	for w, s := range f.calls {
		if !s.mayWrite(ref.Path) || !f.facts[w].appliesToInstance {
			continue
		}
		switch {
		case w == n:
			return fmt.Sprintf("the Call waits for %s, which no other Call writes", ref)
		case f.facts[w].skipped || f.facts[w].blocked:
			return fmt.Sprintf(
				"%s does not exist, and %s, which would write it, never runs: its path is closed at the start", ref, s)
		case s.isUpdate():
			return fmt.Sprintf("%s is updated only by %s, which comes after the Call: put that one first", ref, s)
		}
	}
	return fmt.Sprintf("no Call writes %s and no State holds it at the start%s", ref, f.suggestStatePath(n, ref))
}

// suggestStatePath suggests a path of State that is written or present.
func (f *planDataflow) suggestStatePath(n int, ref refexpr.Reference) string {
	var names, refs []string
	add := func(p jsonval.Path) {
		if name := p.String(); name != "" && !slices.Contains(names, name) {
			names, refs = append(names, name),
				append(refs, refexpr.StateReference(p).String())
		}
	}
	for w, s := range f.calls {
		for _, p := range s.outputPath.Paths() {
			if f.facts[w].appliesToInstance && w != n {
				add(p)
			}
		}
	}
	start := jsonval.AsObject(f.viewOf(f.coveredInstanceTokens[0]).PayloadByKind[ideafile.TypeState])
	for k := range jsonval.Sorted(start) {
		add(jsonval.Path{k})
	}
	switch best := diag.NearestName(ref.Path.String(), names); {
	case best != "":
		return "; did you mean " + refexpr.Dagger + ideafile.TypeState + "." + best + "?"
	case len(refs) == 1:
		return "; there is " + refs[0]
	case len(refs) > 1:
		return "; there are " + diag.FirstNamesAndCount(refs)
	}
	return ""
}
