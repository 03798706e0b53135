package check

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkCallConditions reports a condition that reads what its own Call or a later one writes: the condition sees only
// what earlier Calls wrote.
func (p *planChecker) checkCallConditions() {
	for n, s := range p.calls {
		if s.isInvalid || s.rawCall[ideafile.WhenKey] == nil {
			continue
		}
		condition := refexpr.Condition{When: s.rawCall[ideafile.WhenKey], Unless: s.rawCall[ideafile.UnlessKey]}
		for _, path := range condition.PathsRead(ideafile.TypeState) {
			if len(path) == 0 || anyCallWrites(p.calls[:n], path) || !anyCallWrites(p.calls[n:], path) {
				continue
			}
			p.addCallError(s, s.jsonPath+"."+ideafile.WhenKey,
				"it reads %s, which this Call or a later one writes: the condition sees only what earlier Calls "+
					"wrote",
				refexpr.StateReference(path))
		}
	}
}

func anyCallWrites(calls []*planCall, path jsonval.Path) bool {
	return slices.ContainsFunc(calls, func(s *planCall) bool { return s.mayWrite(path) })
}
