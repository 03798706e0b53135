package backtest

import (
	"slices"

	"processidea/model/jsonval"
)

// pair is a Call of the past and the same Call of the new run. One of them is nil if the other run has no such Call.
type pair struct {
	recorded, replayed *tracedCall
	changed            bool // they have the same Tool, and other parameters
	open               bool // the new one reads an unknown value, so that they cannot be compared
}

// matchCalls pairs the Calls of two traces that have an effect by Tool and parameters, whatever their places, ids and
// output paths are. The remaining Calls are paired by Tool.
func matchCalls(then, now *trace) (pairs []*pair) {
	oldCalls, newCalls := effectiveCalls(then), effectiveCalls(now)
	take := func(changed, open bool, same func(a, b *tracedCall) bool) {
		for _, a := range slices.Clone(oldCalls) {
			at := slices.IndexFunc(newCalls, func(b *tracedCall) bool { return a.tool == b.tool && same(a, b) })
			if at >= 0 {
				pairs = append(pairs, &pair{recorded: a, replayed: newCalls[at], changed: changed, open: open})
				newCalls = slices.Delete(newCalls, at, at+1)
				oldCalls = slices.DeleteFunc(oldCalls, func(c *tracedCall) bool { return c == a })
			}
		}
	}
	equal := func(a, b *tracedCall) bool { return b.params != nil && jsonval.Equal(a.params, b.params) }
	take(false, false, func(a, b *tracedCall) bool { return equal(a, b) && a.status == b.status && a.asked == b.asked })
	take(false, false, func(a, b *tracedCall) bool { return equal(a, b) && a.status == b.status })
	take(false, false, equal)
	oldCalls = slices.DeleteFunc(oldCalls, func(c *tracedCall) bool { return isFailedAttempt(c, pairs) })
	take(true, false, func(a, b *tracedCall) bool { return b.params != nil })
	newCalls = append(newCalls, unknownCalls(now)...)
	take(false, true, func(a, b *tracedCall) bool { return b.params == nil })
	for _, c := range oldCalls {
		pairs = append(pairs, &pair{recorded: c})
	}
	for _, c := range newCalls {
		if c.params != nil {
			pairs = append(pairs, &pair{replayed: c})
		}
	}
	slices.SortStableFunc(pairs, func(a, b *pair) int { return a.depth() - b.depth() })
	return pairs
}

// depth is the depth of a pair's Call in the graph.
func (p *pair) depth() int {
	if p.replayed != nil {
		return p.replayed.depth
	}
	return p.recorded.depth
}

// effectiveCalls lists the Calls of a trace that matter.
func effectiveCalls(t *trace) []*tracedCall {
	return jsonval.Filter(t.calls, (*tracedCall).matters)
}

// unknownCalls lists the Calls whose parameters are unknown, since they read an unknown value.
func unknownCalls(t *trace) []*tracedCall {
	return jsonval.Filter(t.calls, func(c *tracedCall) bool {
		return c.params == nil && !c.matters() && !c.status.IsFinal()
	})
}

// isFailedAttempt reports whether a Call of the past failed, and the same Call was made again and is paired. A new run
// that makes it once does the same.
func isFailedAttempt(c *tracedCall, pairs []*pair) bool {
	return c.fault != nil && slices.ContainsFunc(pairs, func(p *pair) bool {
		return p.recorded.tool == c.tool && jsonval.Equal(p.recorded.params, c.params)
	})
}
