package desk

import (
	"net/http"
	"time"

	"processidea/client"
	"processidea/client/readable"
)

type insightsPage struct {
	frame
	Since time.Time
	Rows  []insightsRow
	// Unread is of how many processes the record cannot be read.
	Unread int
}

type insightsRow struct {
	client.ToolInsights
	Kinds        []kindCount
	Median, Most string // how long people took
}

type kindCount struct {
	Kind  string
	Count int
}

// insights shows how people's decisions go.
func (d *Desk) insights(w http.ResponseWriter, r *http.Request) error {
	now, err := d.API.Insights(r.Context(), time.Time{})
	if err != nil {
		return err
	}
	p := insightsPage{frame: d.frame(r, "How decisions go"), Since: now.Since, Unread: now.Unread}
	for _, t := range now.Tools {
		row := insightsRow{ToolInsights: t}
		for _, kind := range []string{client.Approve, client.Amend, client.Replace, client.Answer, client.Reject} {
			if n := t.Decided[kind]; n > 0 {
				row.Kinds = append(row.Kinds, kindCount{past[kind], n})
			}
		}
		if t.MedianSeconds > 0 {
			row.Median = readable.Took(time.Duration(t.MedianSeconds * float64(time.Second)))
			row.Most = readable.Took(time.Duration(t.P90Seconds * float64(time.Second)))
		}
		p.Rows = append(p.Rows, row)
	}
	return d.show(w, r, "insights", p)
}
