package condition

import (
	"fmt"
	"slices"

	"processidea/model/jsonval"
)

// hull is the region that the samples of one side span in all fields together. Every condition whose tests all hold on
// this side also holds within the hull.
type hull struct {
	spans       []*span
	own, others []int
}

// newHull spans the samples of one side. It returns nil if no condition of up to maxSize tests holds in all of them and
// in none of the others, since nothing follows then from what they have in common.
func newHull(fields []*field, found []hypothesis, own, others []int) *hull {
	h := &hull{own: own, others: others}
	for _, f := range fields {
		tests := testsOf(found, f)
		if how, ok := f.spanKind(slices.ContainsFunc(tests, func(t *test) bool { return t.kind == member })); ok {
			s := newSpan(f, how, own)
			s.tests = tests
			h.spans = append(h.spans, s)
		}
	}
	tests := slices.DeleteFunc(testsFor(fields, own, others), func(t *test) bool {
		return !slices.ContainsFunc(h.spans,
			func(s *span) bool { return s.field == t.field && (t.kind != member || s.how == ofValues) })
	})
	for size := 1; size <= maxSize; size++ {
		sets := excludingTests(tests, others, size)
		if len(sets) == 0 {
			continue
		}
		if size == maxSize && len(sets) <= maxHypotheses {
			h.keepFieldsOf(sets) // a condition has no room for one more test
		}
		h.openEnds()
		return h
	}
	return nil
}

// testsOf lists the tests of a field in found conditions.
func testsOf(found []hypothesis, f *field) (tests []*test) {
	for _, h := range found {
		for _, t := range h.tests {
			if t.field == f {
				tests = append(tests, t)
			}
		}
	}
	return tests
}

func (h *hull) keepFieldsOf(sets [][]*test) {
	h.spans = slices.DeleteFunc(h.spans, func(s *span) bool {
		return !slices.ContainsFunc(sets, func(set []*test) bool {
			return slices.ContainsFunc(set, func(t *test) bool { return s.field.path.IsAtOrBelow(t.field.path) })
		})
	})
}

// openEnds leaves numbers unbounded where that is sound, as long as all samples of the other side stay outside.
func (h *hull) openEnds() {
	for _, s := range h.spans {
		for _, end := range []kind{atLeast, atMost} {
			if s.mayOpen(h.others, len(h.own)+len(h.others), end) {
				s.isOpen[end] = true
				s.isOpen[end] = !slices.ContainsFunc(h.others, func(n int) bool { return len(h.reachOf(n)) == 0 })
			}
		}
	}
}

// schema returns a JSON Schema that holds within the hull.
func (h *hull) schema() jsonval.Object {
	var all []constraint
	for _, s := range h.spans {
		if z, ok := s.constraint(h.own); ok {
			all = append(all, z)
		}
	}
	return allOf(viewSchemas(all))
}

// bound says that a field has a value that samples outside of the hull have, or lies even farther out.
type bound struct {
	span    *span
	kind    kind // atLeast, atMost or member
	samples []int
}

// reachOf lists the fields by which a sample is outside of the hull. A view with the same values there, or values
// farther out, cannot be told from the sample by any condition that holds within the hull.
func (h *hull) reachOf(n int) (list []bound) {
	for _, s := range h.spans {
		if k, out := s.outside(n); out {
			list = append(list, bound{s, k, []int{n}})
		}
	}
	return list
}

// outsideSchema returns a JSON Schema for what is excluded by every condition that holds within the hull.
func (h *hull) outsideSchema() jsonval.Object {
	var reaches [][]bound
	for _, n := range h.others {
		reaches = addReach(reaches, h.reachOf(n))
	}
	var reached []jsonval.Object
	for _, reach := range reaches {
		var all []constraint
		for _, b := range reach {
			if z, ok := b.constraint(); ok {
				all = append(all, z)
			}
		}
		reached = append(reached, allOf(viewSchemas(all)))
	}
	return anyOf(reached)
}

// addReach adds a reach to a list in which no reach is within another. Reaches that differ only in the values of one
// field become one.
func addReach(list [][]bound, reach []bound) [][]bound {
	for n, old := range list {
		if isWithin(reach, old) {
			return list
		}
		if at, ok := differInValues(old, reach); ok {
			joined := slices.Clone(old)
			joined[at].samples = append(slices.Clone(old[at].samples), reach[at].samples...)
			return addReach(slices.Delete(slices.Clone(list), n, n+1), joined)
		}
	}
	list = jsonval.Filter(list, func(old []bound) bool { return !isWithin(old, reach) })
	return append(list, reach)
}

// isWithin reports whether everything in reach a is also in reach b.
func isWithin(a, b []bound) bool {
	return !slices.ContainsFunc(b, func(outer bound) bool {
		return !slices.ContainsFunc(a, func(inner bound) bool { return inner.isWithin(outer) })
	})
}

func (b bound) isWithin(o bound) bool {
	if b.span != o.span || b.kind != o.kind {
		return false
	}
	switch x, y := b.span.field.numbers[b.samples[0]], o.span.field.numbers[o.samples[0]]; b.kind {
	case atLeast:
		return x >= y
	case atMost:
		return x <= y
	}
	return !slices.ContainsFunc(b.samples, func(n int) bool {
		return !slices.ContainsFunc(o.samples, func(k int) bool { return b.span.tokenOf(n) == b.span.tokenOf(k) })
	})
}

// differInValues returns the index of the only bound in which two reaches differ, by other values of the same field.
func differInValues(a, b []bound) (at int, ok bool) {
	if len(a) != len(b) {
		return 0, false
	}
	at = -1
	for n := range a {
		switch {
		case a[n].isWithin(b[n]) && b[n].isWithin(a[n]):
		case at < 0 && a[n].span == b[n].span && a[n].kind == member && b[n].kind == member:
			at = n
		default:
			return 0, false
		}
	}
	return at, at >= 0
}

func (b bound) constraint() (z constraint, ok bool) {
	if b.kind == member {
		return b.span.constraintOf(b.samples)
	}
	return b.span.field.valueConstraint(b.kind, b.samples, nil, false), true
}

// describeUnseen lists what only the other side's samples have, apart from what the found conditions test.
func (h *hull) describeUnseen(describe func(constraint) string) (list []string) {
	for _, s := range h.spans {
		for _, k := range []kind{member, atLeast, atMost} {
			beyond := slices.DeleteFunc(slices.Clone(h.others), func(n int) bool {
				how, out := s.outside(n)
				return !out || how != k
			})
			if len(beyond) == 0 || slices.ContainsFunc(s.tests,
				func(t *test) bool { return t.isAbout(beyond, h.own, k) }) {
				continue
			}
			z, ok := s.constraintOf(beyond)
			if k != member {
				z, ok = s.field.valueConstraint(k, beyond, h.own, true), true
			}
			if ok {
				list = append(list, describe(z))
			}
		}
	}
	return list
}

// isAbout reports whether a test decides that some samples, which lie beyond this side in the direction k, are on the
// other side.
func (t *test) isAbout(beyond, own []int, k kind) bool {
	holdsBeyond := slices.ContainsFunc(own, func(n int) bool { return t.excludes[n] })
	return t.excludes[beyond[0]] || holdsBeyond && (k == member || t.kind == k)
}

// setSchemas sets When and Unless of a Condition. Each schema holds only where all conditions of up to maxSize tests
// that separate the samples agree, whether they are conjunctions or disjunctions.
func (c *Condition) setSchemas(search Search, fields []*field, found []hypothesis, class, others []int) {
	var when, unless []jsonval.Object
	add := func(h *hull, inClass bool) {
		if h == nil {
			return
		}
		within, outside, both := h.schema(), h.outsideSchema(), "%s and %s"
		if !inClass {
			within, outside, both = outside, within, "not (%s) and %s"
		}
		when, unless = append(when, within), append(unless, outside)
		for _, s := range h.spans {
			c.addRead(s.field.path)
		}
		for _, text := range h.describeUnseen(search.describeConstraint) {
			c.Undecided = append(c.Undecided, fmt.Sprintf(both, c.Text, text))
		}
	}
	add(newHull(fields, found, class, others), true)
	add(newHull(fields, found, others, class), false)
	c.When, c.Unless = allOf(when), allOf(unless)
}
