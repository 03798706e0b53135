package harden

import (
	"math"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// generalizeOutput gives the Plan an output if every process has one and all take it from the same paths.
func (h *hardener) generalizeOutput() {
	var commonOutput any
	for n, process := range h.processes {
		output := process.finalOutput()
		if output == nil {
			if n == 0 && process.lastIdea.OutputSchema == nil {
				return
			}
			h.addDifference(nil, "what the output is: write its References",
				"%s: %s has none", valueLocation{ownerLabel: outputLabel}, process.ProcessID)
			return
		}
		outputWithReferences, ok := process.outputAsReferences(output, h.outputsVary())
		if !ok {
			h.addDifference(nil, "which places of State it is made of: write their References, or leave it to the LLM",
				"%s of %s: the LLM wrote it, and it stands nowhere in State", valueLocation{ownerLabel: outputLabel},
				process.ProcessID)
			return
		}
		if n > 0 && !jsonval.EqualNumerically(outputWithReferences, commonOutput) {
			h.addDifference(nil, "which places count: write their References",
				"%s: that of %s comes from other places than that of %s", valueLocation{ownerLabel: outputLabel},
				process.ProcessID, h.processes[0].ProcessID)
			return
		}
		commonOutput = outputWithReferences
	}
	h.planOutput, h.hasPlanOutput = h.generalizeOutputLiterals(commonOutput), true
}

// outputsVary reports whether two processes have different outputs. If so, a place that has the output in both is no
// coincidence.
func (h *hardener) outputsVary() bool {
	return slices.ContainsFunc(h.processes,
		func(p *processRun) bool {
			return !jsonval.EqualNumerically(p.finalOutput(), h.processes[0].finalOutput())
		})
}

// finalOutput is the output of the process.
func (p *processRun) finalOutput() any {
	return jsonval.Lookup(p.lastIdea.Source, "solution", "output")
}

// generalizeOutputLiterals judges the literals that a solution wrote beside the References of its output.
func (h *hardener) generalizeOutputLiterals(output any) any {
	var samples []paramSample
	for _, r := range h.instances {
		samples = append(samples, paramSample{instance: r, value: output, requestNumber: math.MaxInt})
	}
	return h.generalizeConstant(valueLocation{ownerLabel: outputLabel}, samples)
}

// outputAsReferences returns the output as References: those that a solution or a Plan used for it, or else the only
// paths at which its parts are found.
func (p *processRun) outputAsReferences(output any, outputsVary bool) (any, bool) {
	if len(p.instances) == 0 {
		return nil, false
	}
	if refs, err := refexpr.FindReferences(output); err != nil || len(refs) > 0 {
		_, err = refexpr.ResolveExpressions(output, p.resolveOutputExpression)
		return output, err == nil
	}
	for _, outputWithReferences := range p.outputsWithReferences() {
		v, err := refexpr.ResolveExpressions(outputWithReferences, p.resolveOutputExpression)
		if err == nil && jsonval.EqualNumerically(v, output) {
			return outputWithReferences, true
		}
	}
	return p.locateOutput(nil, output, outputsVary)
}

// outputsWithReferences lists the outputs with References of all solutions and Plans, the latest first.
func (p *processRun) outputsWithReferences() []any {
	var list []any
	addIfHasReferences := func(output any) {
		if refs, err := refexpr.FindReferences(output); err == nil && len(refs) > 0 {
			list = append(list, output)
		}
	}
	for _, c := range p.chains {
		for _, idea := range slices.Backward(c.Ideas) {
			addIfHasReferences(jsonval.Lookup(idea.Source, "solution", "output"))
		}
	}
	for _, m := range p.lastIdea.Context {
		if m.IsDirectPlan() {
			addIfHasReferences(m.PlanOutput)
		}
	}
	return list
}

// resolveOutputExpression returns the value of a Reference in an output. In a process of several instances, a Reference
// to State yields an object with the value of each instance that has one, by token.
func (p *processRun) resolveOutputExpression(e refexpr.Expression) (any, bool) {
	if p.instances[0].instanceToken == "" || !e.HasReferenceOfKind(ideafile.TypeState) {
		return p.instances[0].resolveReferences(e.String())
	}
	valueByToken := jsonval.Object{}
	for _, r := range p.instances {
		if v, ok := r.resolveReferences(e.String()); ok {
			valueByToken[r.instanceToken] = v
		}
	}
	return valueByToken, len(valueByToken) > 0
}

// locateOutput finds the only path at which the output, or else each of its parts, is found. A flag or a digit may be
// there by chance, so it counts only if its path has its name or the outputs vary.
func (p *processRun) locateOutput(path jsonval.Path, output any, outputsVary bool) (any, bool) {
	var matchingReferences []refexpr.Reference
	for _, ref := range appendReferencesToLiteral(nil, refexpr.Reference{Kind: ideafile.TypeState},
		p.instances[0].finalState,
		p.instances[0].ownOutputPart(output)) {
		if v, ok := p.resolveOutputExpression(refexpr.Expression{{ref}}); ok &&
			!pathPassesThroughList(p.instances[0], ref) &&
			jsonval.EqualNumerically(v, output) {
			matchingReferences = append(matchingReferences, ref)
		}
	}
	if len(matchingReferences) == 1 && (outputsVary || isUnlikelyCoincidence(output) ||
		endsWithParamName(matchingReferences[0], path)) {
		return matchingReferences[0].String(), true
	}
	m, ok := output.(jsonval.Object)
	if !ok || len(matchingReferences) > 0 {
		return nil, false
	}
	referencesByMember := jsonval.Object{}
	for k, v := range jsonval.Sorted(m) {
		references, ok := p.locateOutput(path.WithStep(k), v, outputsVary)
		if !ok {
			return nil, false
		}
		referencesByMember[k] = references
	}
	return referencesByMember, len(referencesByMember) > 0
}

// ownOutputPart is the part of an output that comes from this instance.
func (r *instanceRun) ownOutputPart(output any) any {
	if m, ok := output.(jsonval.Object); ok && r.instanceToken != "" {
		if v, ok := m[r.instanceToken]; ok {
			return v
		}
	}
	return output
}
