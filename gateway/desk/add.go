package desk

import (
	"context"
	"errors"
	"net/http"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
)

// addPage is the form that adds instances to a running process.
type addPage struct {
	frame
	Process  string
	Href     string
	Rows     file
	Reason   string
	Wrong    string
	Findings []finding
	Left     int
}

func (d *Desk) addPage(r *http.Request) *addPage {
	id := r.PathValue("process")
	return &addPage{frame: d.frame(r, "Add instances to "+short(id)), Process: id, Href: processHref(id)}
}

func (d *Desk) showAdd(w http.ResponseWriter, r *http.Request) error {
	p := d.addPage(r)
	if _, err := d.API.Status(r.Context(), p.Process); err != nil {
		return err
	}
	return d.show(w, r, "add", p)
}

// addInstances adds the rows of a file to a process. If the rows have errors, the form is shown again with them.
func (d *Desk) addInstances(w http.ResponseWriter, r *http.Request) (err error) {
	p := d.addPage(r)
	p.Reason = entered(r, "reason")
	if p.Rows, err = chosen(r, "rows", "rows.jsonl"); err != nil {
		return err
	}
	status := http.StatusUnprocessableEntity
	if err = d.addRows(r.Context(), p); err == nil {
		return lead(w, r, p.Href+"#instances")
	}
	var invalid *client.InvalidError
	if errors.As(err, &invalid) {
		p.Findings, p.Left = findingsOf(invalid.Problems)
	} else {
		problem := api.ProblemOf(err)
		p.Wrong, status = long(problem.Detail), problem.Status
	}
	d.render(w, r, status, "add", p)
	return nil
}

func (d *Desk) addRows(ctx context.Context, p *addPage) error {
	if p.Rows.Name == "" {
		return unfit("Nothing was added: choose a file of rows, or type them.")
	}
	p.Rows.nameRows()
	by := client.By{Name: access.From(ctx).Name, Reason: p.Reason}
	return d.API.Steer(ctx, p.Process, func(ctx context.Context, of *client.Process) error {
		return of.AddRows(ctx, p.Rows.Name, []byte(p.Rows.Text), by)
	})
}
