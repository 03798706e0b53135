package desk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"processidea/client"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/undo"
)

func undoHref(process string, choice url.Values) string {
	return processHref(process) + "/undo?" + choice.Encode()
}

// undoPage shows what of a process would be undone, before it is.
type undoPage struct {
	frame
	Process, Href  string
	Instance, Call string // what alone is undone; empty: all
	AtWork         bool
	Digest         string // of what is shown
	Changed        bool   // the list has changed since the person agreed
	Lists          []undoList
	Undo           int
}

// undoList lists Calls with the same outcome.
type undoList struct {
	Heading string
	Rows    []undoRow
}

// undoRow is a Call that was done, in the words of the business, and what takes it back or why nothing does.
type undoRow struct {
	ID, Href string // Href is the page on which to undo it, or the process that it ran, alone
	Did, By  shown.Parts
	Name     string // of the instance
	Because  string
	Within   *undo.Within // takes back the process that it ran; nil: By does it
}

// undoChoice reads what to undo.
func (d *Desk) undoChoice(r *http.Request) (*undoPage, client.UndoOptions) {
	id := r.PathValue("process")
	p := &undoPage{frame: d.frame(r, "Take back what "+short(id)+" did"), Process: id, Href: processHref(id),
		Instance: r.FormValue("instance"), Call: r.FormValue("call")}
	o := client.UndoOptions{Choice: undo.Choice{Instance: p.Instance, IsInstance: p.Instance != "", CallID: p.Call}}
	o.By.Reason, o.Review = strings.TrimSpace(r.FormValue("reason")), r.FormValue("review") != ""
	return p, o
}

func (d *Desk) showUndo(w http.ResponseWriter, r *http.Request) error {
	p, o := d.undoChoice(r)
	u, err := soon(r.Context(), d.reading, fmt.Sprintf("undo\n%d %s", d.API.Acts(), r.URL),
		func(ctx context.Context, _ *work) (*client.Undoing, error) {
			u, _, err := d.API.Undo(ctx, p.Process, o, nil)
			return u, err
		})
	if err != nil {
		return err
	}
	return d.showUndoing(w, r, p, u)
}

// undo undoes what was shown.
func (d *Desk) undo(w http.ResponseWriter, r *http.Request) error {
	p, o := d.undoChoice(r)
	if o.By.Reason == "" {
		return unfit("Nothing was taken back: a reason is needed, for the record.")
	}
	u, done, err := d.API.Undo(r.Context(), p.Process, o,
		func(u *client.Undoing) bool { return digestOf(u) == r.PostForm.Get("digest") })
	if err != nil {
		return err
	}
	if p.Changed = !done; done {
		return lead(w, r, processHref(u.As))
	}
	return d.showUndoing(w, r, p, u)
}

func digestOf(u *client.Undoing) string {
	sum := sha256.Sum256(jsonval.Encode(jsonval.ToJSONValue(u.Undo)))
	return hex.EncodeToString(sum[:])
}

func (d *Desk) showUndoing(w http.ResponseWriter, r *http.Request, p *undoPage, u *client.Undoing) error {
	p.Digest, p.Undo = digestOf(u), len(u.Undo)
	if status, err := d.API.Status(r.Context(), p.Process); err == nil {
		p.AtWork = !hasEnded(status.Status)
	}
	words := d.Client.Process(p.Process).Words(r.Context())
	row := func(c *undo.Call) undoRow {
		did := u.InWords(r.Context(), words, c, c.Tool, c.Params)
		row := undoRow{ID: c.ID, Did: did.Parts}
		if c.Instance != "" {
			row.Name = short(did.InstanceName)
		}
		return row
	}
	undone := undoList{Heading: "What would be taken back"}
	for _, s := range u.Undo {
		one := row(s.Did)
		if one.Within = s.Within; s.Within == nil {
			one.By = u.InWords(r.Context(), words, s.Did, s.Tool, s.Params).Parts
		}
		if p.Call == "" {
			one.Href = undoHref(p.Process, url.Values{"call": {s.CallID}})
		}
		undone.Rows = append(undone.Rows, one)
	}
	p.Lists = []undoList{undone}
	for _, l := range []struct {
		heading string
		calls   []undo.Left
	}{{"What cannot be taken back", u.Cannot}, {"What stays", u.Kept}} {
		list := undoList{Heading: l.heading}
		for _, c := range l.calls {
			one := row(c.Did)
			if of := c.Alone(); of != "" {
				one.Href = undoHref(of, url.Values{})
			}
			if one.Because = long(c.Because); c.Reader != nil {
				reader := u.InWords(r.Context(), words, c.Reader, c.Reader.Tool, c.Reader.Params).Sentence
				one.Because = long("“" + reader + "”" + strings.TrimPrefix(c.Because, c.Reader.Name()))
			}
			list.Rows = append(list.Rows, one)
		}
		p.Lists = append(p.Lists, list)
	}
	return d.show(w, r, "undo", p)
}
