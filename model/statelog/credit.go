package statelog

import "processidea/model/jsonval"

// ContributingWrites picks those of some writes, in Plan order, that made what stands at a path: each that changed it,
// and each by which a person set it. initial is the State before them. whole is what stands there after all of them, if
// anything does.
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
