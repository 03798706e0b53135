package turn

import "processidea/model/ideafile"

// overruled says whether a person changed what the LLM had proposed.
func (c CallReport) OverruledByPerson() bool {
	for _, d := range c.Decisions {
		if d.Kind != ideafile.Approve {
			return true
		}
	}
	return false
}

func (e *PlanEntry) AddReport(token string, c CallReport) {
	e.StatusCounts[c.Status]++
	if token != "" {
		if e.InstancesByStatus == nil {
			e.InstancesByStatus = map[ideafile.CallStatus][]string{}
		}
		e.InstancesByStatus[c.Status] = append(e.InstancesByStatus[c.Status], token)
	}
	if c.Result != nil {
		e.Results[token] = c.Result
	}
	for _, d := range c.Decisions {
		e.Decisions = append(e.Decisions, InstanceDecision{Token: token, Decision: d})
	}
}
