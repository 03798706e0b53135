package backtest

import (
	"slices"

	"processidea/model/jsonval"
)

// callPair is a Call of the past and the same Call of the new run. One of them is nil if the other run has no such
// Call.
type callPair struct {
	recorded, replayed  *tracedCall
	haveDifferentParams bool // they have the same Tool, and other parameters
	readsUnknownValue   bool // the new one reads an unknown value, so that they cannot be compared
}

// matchCalls pairs the Calls of two traces that have an effect by Tool and parameters, whatever their places, ids and
// output paths are. The remaining Calls are paired by Tool.
func matchCalls(recorded, replayed *runTrace) (pairs []*callPair) {
	oldCalls, newCalls := callsWithEffect(recorded), callsWithEffect(replayed)
	pairCalls := func(haveDifferentParams, isUnknown bool, matches func(a, b *tracedCall) bool) {
		for _, a := range slices.Clone(oldCalls) {
			index := slices.IndexFunc(newCalls, func(b *tracedCall) bool { return a.tool == b.tool && matches(a, b) })
			if index >= 0 {
				pairs = append(pairs, &callPair{recorded: a, replayed: newCalls[index],
					haveDifferentParams: haveDifferentParams,
					readsUnknownValue:   isUnknown})
				newCalls = slices.Delete(newCalls, index, index+1)
				oldCalls = slices.DeleteFunc(oldCalls, func(c *tracedCall) bool { return c == a })
			}
		}
	}
	haveEqualParams := func(a, b *tracedCall) bool { return b.params != nil && jsonval.Equal(a.params, b.params) }
	pairCalls(false, false, func(a, b *tracedCall) bool {
		return haveEqualParams(a, b) && a.status == b.status && a.isPersonAsked == b.isPersonAsked
	})
	pairCalls(false, false, func(a, b *tracedCall) bool { return haveEqualParams(a, b) && a.status == b.status })
	pairCalls(false, false, haveEqualParams)
	oldCalls = slices.DeleteFunc(oldCalls, func(c *tracedCall) bool { return isFailedAttempt(c, pairs) })
	pairCalls(true, false, func(a, b *tracedCall) bool { return b.params != nil })
	newCalls = append(newCalls, callsWithUnknownParams(replayed)...)
	pairCalls(false, true, func(a, b *tracedCall) bool { return b.params == nil })
	for _, c := range oldCalls {
		pairs = append(pairs, &callPair{recorded: c})
	}
	for _, c := range newCalls {
		if c.params != nil {
			pairs = append(pairs, &callPair{replayed: c})
		}
	}
	slices.SortStableFunc(pairs, func(a, b *callPair) int { return a.depth() - b.depth() })
	return pairs
}

// depth is the depth of a pair's Call in the graph.
func (p *callPair) depth() int {
	if p.replayed != nil {
		return p.replayed.graphDepth
	}
	return p.recorded.graphDepth
}

// callsWithEffect lists the Calls of a trace that matter.
func callsWithEffect(t *runTrace) []*tracedCall {
	return jsonval.Filter(t.calls, (*tracedCall).hasEffect)
}

// callsWithUnknownParams lists the Calls whose parameters are unknown, since they read an unknown value.
func callsWithUnknownParams(t *runTrace) []*tracedCall {
	return jsonval.Filter(t.calls, func(c *tracedCall) bool {
		return c.params == nil && !c.hasEffect() && !c.status.IsFinal()
	})
}

// isFailedAttempt reports whether a Call of the past failed, and the same Call was made again and is paired. A new run
// that makes it once does the same.
func isFailedAttempt(c *tracedCall, pairs []*callPair) bool {
	return c.fault != nil && slices.ContainsFunc(pairs, func(p *callPair) bool {
		return p.recorded.tool == c.tool && jsonval.Equal(p.recorded.params, c.params)
	})
}
