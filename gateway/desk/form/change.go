package form

import "processidea/model/jsonval"

// Changes returns the merge patch from one object to another: the members that differ, and null for removed ones. It is
// nil if nothing differs.
func Changes(from, to jsonval.Object) jsonval.Object {
	out := jsonval.Object{}
	for key, now := range to {
		before, was := from[key]
		a, aIs := before.(jsonval.Object)
		b, bIs := now.(jsonval.Object)
		switch {
		case was && jsonval.Equal(before, now):
		case was && aIs && bIs:
			out[key] = Changes(a, b)
		default:
			out[key] = now
		}
	}
	for key := range from {
		if _, is := to[key]; !is {
			out[key] = nil
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
