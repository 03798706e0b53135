package statelog

import "processidea/model/jsonval"

// ContributingWrites lists the indexes of the writes that made the value at a path: writes that changed it, and those
// with which a person set it. The writes are in Plan order, and initial is the State before them. whole is the value at
// the path after all writes, if there is one.
func ContributingWrites(initial any, writes []Write, p jsonval.Path) (indexes []int, finalValue any, exists bool) {
	s := NewState(initial)
	finalValue, exists = jsonval.ValueAt(s.Snapshot(), p)
	for n, w := range writes {
		if !w.Path.Overlaps(p) {
			continue
		}
		s.Apply(w)
		after, existsNow := jsonval.ValueAt(s.Snapshot(), p)
		if existsNow != exists || !jsonval.Equal(finalValue, after) ||
			(w.CorrectionNumber > 0 && p.IsAtOrBelow(w.Path)) {
			indexes = append(indexes, n)
		}
		finalValue, exists = after, existsNow
	}
	return indexes, finalValue, exists
}
