package desk

import (
	"time"

	"processidea/client"
)

type insightsPage struct {
	frame
	*client.Insights
	Kinds []string // of decisions, in the order of the page
}

// insights shows how people's decisions go.
func (v *visit) insights() error {
	now, err := v.Insights(v.Context(), time.Time{})
	if err != nil {
		return err
	}
	return v.show("insights", insightsPage{v.frame("How decisions go"), now,
		[]string{client.Approve, client.Amend, client.Replace, client.Answer, client.Reject}})
}
