package statelog

import "processidea/model/jsonval"

// ContributingWrites picks, from writes in Plan order, those that made the value at a path: each that changed it, and
// each by which a person set it. initial is the State before them. whole is the value there after all of them, if there
// is one.
func ContributingWrites(initial any, writes []Write, p jsonval.Path) (credited []int, whole any, there bool) {
	s := NewState(initial)
	whole, there = jsonval.ValueAt(s.Snapshot(), p)
	for n, w := range writes {
		if !w.Path.Overlaps(p) {
			continue
		}
		s.Apply(w)
		after, now := jsonval.ValueAt(s.Snapshot(), p)
		if now != there || !jsonval.Equal(whole, after) || (w.CorrectionNumber > 0 && p.IsAtOrBelow(w.Path)) {
			credited = append(credited, n)
		}
		whole, there = after, now
	}
	return credited, whole, there
}
