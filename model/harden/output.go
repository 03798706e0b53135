package harden

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// generalizeOutput gives the Plan an output where every process has one and all take it from the same paths.
func (h *hardener) generalizeOutput() {
	var common any
	for n, process := range h.processes {
		output := jsonval.AsObject(process.lastIdea.Source["solution"])["output"]
		if output == nil {
			if n == 0 && process.lastIdea.Output == nil {
				return
			}
			h.addNotGeneralized(nil, "the output: %s has none", process.Process)
			return
		}
		references, ok := process.outputReferences(output)
		if !ok {
			h.addNotGeneralized(nil, "the output of %s: the LLM wrote it, and it stands nowhere in State", process.Process)
			return
		}
		if n > 0 && !jsonval.Equal(references, common) {
			h.addNotGeneralized(nil, "the output: that of %s comes from other places than that of %s", process.Process, h.processes[0].Process)
			return
		}
		common = references
	}
	h.output, h.hasOutput = common, true
}

// outputReferences returns the output as References: those of the solution that set it, or else the only paths at which
// its parts are found.
func (p *processRun) outputReferences(output any) (any, bool) {
	if len(p.instances) == 0 {
		return nil, false
	}
	for n := len(p.Ideas) - 1; n >= 0; n-- {
		references := jsonval.AsObject(p.Ideas[n]["solution"])["output"]
		if refs, err := refexpr.References(references); err != nil || len(refs) == 0 {
			continue
		}
		v, err := refexpr.ResolveBy(references, p.resolveOutput)
		if (err == nil && jsonval.Equal(v, output)) || n == len(p.Ideas)-1 {
			return references, err == nil
		}
	}
	return p.locateOutput(output)
}

// resolveOutput returns the value of a Reference in an output: in a process of several instances, each one's value by
// its token.
func (p *processRun) resolveOutput(e refexpr.Expression) (any, bool) {
	if p.instances[0].token == "" || !e.ReadsKind(ideafile.TypeState) {
		return p.instances[0].resolve(e.String())
	}
	byToken := map[string]any{}
	for _, r := range p.instances {
		v, ok := r.resolve(e.String())
		if !ok {
			return nil, false
		}
		byToken[r.token] = v
	}
	return byToken, true
}

// locateOutput finds the only path at which the output, or else each of its parts, is found.
func (p *processRun) locateOutput(output any) (any, bool) {
	var found []string
	for _, ref := range appendPlaces(nil, refexpr.Reference{Kind: ideafile.TypeState}, p.instances[0].finalState, p.instances[0].ownOutputPart(output), false) {
		if v, ok := p.resolveOutput(refexpr.Expression{{ref}}); ok && jsonval.Equal(v, output) {
			found = append(found, ref.String())
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	m, ok := output.(map[string]any)
	if !ok || len(found) > 1 {
		return nil, false
	}
	parts := map[string]any{}
	for _, k := range jsonval.SortedKeys(m) {
		references, ok := p.locateOutput(m[k])
		if !ok {
			return nil, false
		}
		parts[k] = references
	}
	return parts, len(parts) > 0
}

// ownOutputPart is the part of an output that comes from this instance.
func (r *instanceRun) ownOutputPart(output any) any {
	if m, ok := output.(map[string]any); ok && r.token != "" {
		if v, ok := m[r.token]; ok {
			return v
		}
	}
	return output
}
