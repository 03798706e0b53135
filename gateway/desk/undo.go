package desk

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/approval/proof"
	"processidea/model/ideafile/shown"
	"processidea/model/undo"
)

func undoHref(process string, choice url.Values) string {
	return processHref(process) + "/undo?" + choice.Encode()
}

// undoPage shows which effects of a process would be undone, before that happens.
type undoPage struct {
	frame
	Instance, Call string // only this is undone; empty: all
	InstanceName   string
	AtWork         bool
	Digest         string // of what is shown
	Changed        bool   // the list has changed since the person agreed
	Wrong, Reason  string // the error in the form, and what was entered
	Review         bool
	Lists          []undoList
	Undo           int
}

// undoList lists Calls with the same outcome.
type undoList struct {
	Heading string
	Rows    []undoRow
}

// undoRow is a Call that was done, in the words of the business, with what undoes it or why nothing does.
type undoRow struct {
	ID, Href     string // Href is the page for undoing it alone, or the process that it ran
	Did, By      shown.Parts
	Name         string // of the instance
	Because      string
	DelegateUndo *undo.DelegateUndo // undoes the process that it ran; nil: By undoes the Call
}

// undoChoice reads what to undo.
func (v *visit) undoChoice() (*undoPage, client.UndoOptions) {
	p := &undoPage{frame: v.frame("Take back what " + clipName(v.process) + " did"), Instance: v.FormValue("instance"),
		Call: v.FormValue("call")}
	o := client.UndoOptions{Choice: undo.Choice{Instance: p.Instance, IsInstance: p.Instance != "", CallID: p.Call}}
	p.Reason, p.Review = strings.TrimSpace(v.FormValue("reason")), v.FormValue("review") != ""
	o.By.Reason, o.Review = p.Reason, p.Review
	return p, o
}

func (v *visit) showUndo() error {
	p, o := v.undoChoice()
	u, err := findWithinPatience(v.Context(), v.storeWorks, fmt.Sprintf("undo\n%d %s", v.Acts(), v.URL),
		func(ctx context.Context, _ *work) (*client.Undoing, error) {
			u, _, err := v.Undo(ctx, p.Process, o, nil)
			return u, err
		})
	if err != nil {
		return err
	}
	return v.showUndoing(http.StatusOK, p, u)
}

// shownDigest is the digest of all that a person sees before agreeing, including what cannot be undone.
func shownDigest(u *client.Undoing) string { return proof.Digest([]any{u.Undo, u.Cannot, u.Kept}) }

// undo undoes what was shown.
func (v *visit) undo() error {
	p, o := v.undoChoice()
	if o.By.Reason == "" {
		return v.showUndoAgain(p, o, api.Unprocessable("Nothing was taken back: give a reason, for the record."))
	}
	u, done, err := v.Undo(v.Context(), p.Process, o,
		func(u *client.Undoing) bool { return shownDigest(u) == v.PostForm.Get("digest") })
	if err != nil {
		return v.showUndoAgain(p, o, err)
	}
	if p.Changed = !done; done {
		return v.redirect(processHref(u.As))
	}
	return v.showUndoing(http.StatusOK, p, u)
}

// showUndoAgain shows what would be undone with the form that was refused, and why.
func (v *visit) showUndoAgain(p *undoPage, o client.UndoOptions, why error) error {
	problem := api.ProblemOf(why)
	u, _, err := v.Undo(v.Context(), p.Process, o, nil)
	if err != nil || problem.Status >= http.StatusInternalServerError {
		return why
	}
	p.Wrong = detailOf(why)
	return v.showUndoing(problem.Status, p, u)
}

func (v *visit) showUndoing(status int, p *undoPage, u *client.Undoing) error {
	p.Digest, p.Undo = shownDigest(u), len(u.Undo)
	if now, err := v.Status(v.Context(), p.Process); err == nil {
		p.AtWork = !hasEnded(now.Status)
	}
	words := v.Client.Process(p.Process).Words(v.Context())
	if p.Instance != "" {
		p.InstanceName = clipName(words.NameOf(p.Instance))
	}
	row := func(c *undo.Call) undoRow {
		did := u.InWords(v.Context(), words, c, c.Tool, c.Params)
		row := undoRow{ID: c.ID, Did: did.Parts}
		if c.Instance != "" {
			row.Name = clipName(did.InstanceName)
		}
		return row
	}
	undone := undoList{Heading: "What would be taken back"}
	for _, s := range u.Undo {
		one := row(s.Did)
		if one.DelegateUndo = s.DelegateUndo; s.DelegateUndo == nil {
			one.By = u.InWords(v.Context(), words, s.Did, s.Tool, s.Params).Parts
		}
		if p.Call == "" {
			one.Href = undoHref(p.Process, url.Values{"call": {s.CallID}})
		}
		undone.Rows = append(undone.Rows, one)
	}
	p.Lists = []undoList{undone}
	for _, l := range []struct {
		heading string
		calls   []undo.NotUndone
	}{{"What cannot be taken back", u.Cannot}, {"What stays", u.Kept}} {
		list := undoList{Heading: l.heading}
		for _, c := range l.calls {
			one := row(c.Did)
			if of := c.DelegateToUndo(); of != "" {
				one.Href = undoHref(of, url.Values{})
			}
			if one.Because = clipParagraph(c.Because); c.Reader != nil {
				reader := u.InWords(v.Context(), words, c.Reader, c.Reader.Tool, c.Reader.Params).Sentence
				one.Because = clipParagraph("“" + reader + "”" + strings.TrimPrefix(c.Because, c.Reader.Name()))
			}
			list.Rows = append(list.Rows, one)
		}
		p.Lists = append(p.Lists, list)
	}
	return v.render(status, "undo", p)
}
