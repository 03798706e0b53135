package desk

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"

	"processidea/client/report"
	"processidea/gateway/api"
	"processidea/store/chain"
)

const decisionsAtOnce = 100

type verifyPage struct {
	frame
	Process   string
	Href      string
	Report    *chain.Report
	Proof     string
	Decisions []report.Decision
	Orders    []report.Decision
	First     int // of those on this page
	Total     int
	Prev      string
	Next      string
}

// verify checks the chain of a process, and says who decided what and how that is proved.
func (d *Desk) verify(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("process")
	c := d.Client.Chain(id)
	checked, err := c.Verify(r.Context())
	if err != nil {
		return err
	}
	p := verifyPage{frame: d.frame(r, "The record of "+visible(clip(id, cellLength))), Process: id, Href: processHref(id), Report: checked,
		Proof: report.Proof(checked)}
	made, err := c.Decisions(r.Context(), 0)
	if err != nil && checked.Whole {
		return err
	}
	all := report.Decisions(made)
	p.Orders, p.Total = report.Orders(all), len(all)
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	pages := max((len(all)+decisionsAtOnce-1)/decisionsAtOnce, 1)
	page = min(max(page, 1), pages)
	from := (page - 1) * decisionsAtOnce
	p.First, p.Decisions = from+1, all[from:min(from+decisionsAtOnce, len(all))]
	at := func(n int) string { return p.Href + "/verify?" + url.Values{"page": {strconv.Itoa(n)}}.Encode() }
	if page > 1 {
		p.Prev = at(page - 1)
	}
	if page < pages {
		p.Next = at(page + 1)
	}
	d.render(w, r, http.StatusOK, "verify", p)
	return nil
}

// export gives all that a process did as one file.
func (d *Desk) export(w http.ResponseWriter, r *http.Request) error {
	var b bytes.Buffer
	if err := d.API.Report(r.Context(), r.PathValue("process"), &b); err != nil {
		return err
	}
	api.SendReport(w, r.PathValue("process"), b.Bytes())
	return nil
}
