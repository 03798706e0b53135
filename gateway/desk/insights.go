package desk

import (
	"net/http"
	"time"

	"processidea/client"
)

type insightsPage struct {
	frame
	*client.Insights
	Kinds []string // of decisions, in the order of the page
}

// insights shows how people's decisions go.
func (d *Desk) insights(w http.ResponseWriter, r *http.Request) error {
	now, err := d.API.Insights(r.Context(), time.Time{})
	if err != nil {
		return err
	}
	return d.show(w, r, "insights", insightsPage{d.frame(r, "How decisions go"), now,
		[]string{client.Approve, client.Amend, client.Replace, client.Answer, client.Reject}})
}
