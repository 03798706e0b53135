package turn

import "processidea/model/ideafile"

// overruled says whether a person changed what the LLM had proposed.
func (c CallReport) Overruled() bool {
	for _, d := range c.Decisions {
		if d.Decision != ideafile.Approve {
			return true
		}
	}
	return false
}

func (e *PlanEntry) Add(token string, c CallReport) {
	e.How[c.Status]++
	if token != "" {
		if e.Where == nil {
			e.Where = map[ideafile.Status][]string{}
		}
		e.Where[c.Status] = append(e.Where[c.Status], token)
	}
	if c.Result != nil {
		e.Results[token] = c.Result
	}
	for _, d := range c.Decisions {
		e.Decided = append(e.Decided, Decided{Token: token, Decision: d})
	}
}
