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

func undoHref(processID string, choice url.Values) string {
	return processHref(processID) + "/undo?" + choice.Encode()
}

// undoPage shows which effects of a process would be undone, before that happens.
type undoPage struct {
	frame
	Instance, Call    string // only this is undone; empty: all
	InstanceName      string
	ProcessIsOpen     bool
	Digest            string // of what is shown
	HasChanged        bool   // the list has changed since the person agreed
	FormError, Reason string // the error in the form, and what was entered
	ReviewsCalls      bool
	Sections          []undoList
	UndoCount         int
}

// undoList lists Calls with the same outcome.
type undoList struct {
	Heading string
	Rows    []undoRow
}

// undoRow is a Call that was done, in the words of the business, with what undoes it or why nothing does.
type undoRow struct {
	ID, Href                     string // Href is the page for undoing it alone, or the process that it ran
	DoneCallParts, UndoCallParts shown.TextSpans
	Name                         string // of the instance
	Reason                       string
	// DelegateUndo undoes the process that it ran; nil: UndoCallParts undoes the Call.
	DelegateUndo *undo.DelegateUndo
}

// readUndoChoice reads what to undo.
func (v *visit) readUndoChoice() (*undoPage, client.UndoOptions) {
	p := &undoPage{frame: v.processFrame("Take back what %s did"), Instance: v.FormValue("instance"),
		Call: v.FormValue("call")}
	o := client.UndoOptions{Selection: undo.Selection{Instance: p.Instance, HasInstance: p.Instance != "",
		CallID: p.Call}}
	p.Reason, p.ReviewsCalls = strings.TrimSpace(v.FormValue("reason")), v.FormValue("review") != ""
	o.Actor.Reason, o.ReviewsUndoCalls = p.Reason, p.ReviewsCalls
	return p, o
}

func (v *visit) showUndo() error {
	p, o := v.readUndoChoice()
	u, err := findWithinPageTime(v.Context(), v.storeTasks, fmt.Sprintf("undo\n%d %s", v.ChangeCount(), v.URL),
		func(ctx context.Context, _ *task) (*client.UndoPlan, error) {
			u, _, err := v.Undo(ctx, p.Process, o, nil)
			return u, err
		})
	if err != nil {
		return err
	}
	return v.renderUndo(http.StatusOK, p, u)
}

// shownUndoPlanDigest is the digest of all that a person sees before agreeing, including what cannot be undone.
func shownUndoPlanDigest(u *client.UndoPlan) string {
	return proof.Digest([]any{u.Steps, u.IrreversibleCalls, u.KeptCalls})
}

// undo undoes what was shown.
func (v *visit) undo() error {
	p, o := v.readUndoChoice()
	if o.Actor.Reason == "" {
		return v.showUndoAgain(p, o, api.Unprocessable("Nothing was taken back: give a reason, for the record."))
	}
	u, isStarted, err := v.Undo(v.Context(), p.Process, o,
		func(u *client.UndoPlan) bool { return shownUndoPlanDigest(u) == v.PostForm.Get("digest") })
	if err != nil {
		return v.showUndoAgain(p, o, err)
	}
	if p.HasChanged = !isStarted; isStarted {
		return v.redirect(processHref(u.UndoProcessID))
	}
	return v.renderUndo(http.StatusOK, p, u)
}

// showUndoAgain shows what would be undone with the form that was refused, and why.
func (v *visit) showUndoAgain(p *undoPage, o client.UndoOptions, cause error) error {
	problem := api.ProblemOf(cause)
	u, _, err := v.Undo(v.Context(), p.Process, o, nil)
	if err != nil || problem.Status >= http.StatusInternalServerError {
		return cause
	}
	p.FormError = detailOf(cause)
	return v.renderUndo(problem.Status, p, u)
}

func (v *visit) renderUndo(status int, p *undoPage, u *client.UndoPlan) error {
	p.Digest, p.UndoCount = shownUndoPlanDigest(u), len(u.Steps)
	if current, err := v.Status(v.Context(), p.Process); err == nil {
		p.ProcessIsOpen = !hasEnded(current.Status)
	}
	presenter := v.Client.Process(p.Process).Presenter(v.Context())
	if p.Instance != "" {
		p.InstanceName = clipName(presenter.KnownInstanceName(p.Instance))
	}
	row := func(c *undo.Call) undoRow {
		doneCall := u.DescribeCall(v.Context(), presenter, c, c.Tool, c.Params)
		row := undoRow{ID: c.ID, DoneCallParts: doneCall.Parts}
		if c.InstanceToken != "" {
			row.Name = clipName(doneCall.InstanceName)
		}
		return row
	}
	toUndoList := undoList{Heading: "What would be taken back"}
	for _, s := range u.Steps {
		one := row(s.OriginalCall)
		if one.DelegateUndo = s.DelegateUndo; s.DelegateUndo == nil {
			one.UndoCallParts = u.DescribeCall(v.Context(), presenter, s.OriginalCall, s.Tool, s.Params).Parts
		}
		if p.Call == "" {
			one.Href = undoHref(p.Process, url.Values{"call": {s.CallID}})
		}
		toUndoList.Rows = append(toUndoList.Rows, one)
	}
	p.Sections = []undoList{toUndoList}
	for _, l := range []struct {
		heading string
		calls   []undo.NotUndoneCall
	}{{"What cannot be taken back", u.IrreversibleCalls}, {"What stays", u.KeptCalls}} {
		list := undoList{Heading: l.heading}
		for _, c := range l.calls {
			one := row(c.OriginalCall)
			if delegateID := c.DelegateProcessIDToUndo(); delegateID != "" {
				one.Href = undoHref(delegateID, url.Values{})
			}
			if one.Reason = clipParagraph(c.Reason); c.RemainingReader != nil {
				readerSentence := u.DescribeCall(v.Context(), presenter, c.RemainingReader, c.RemainingReader.Tool,
					c.RemainingReader.Params).Sentence
				one.Reason = clipParagraph("“" + readerSentence + "”" +
					strings.TrimPrefix(c.Reason, c.RemainingReader.Name()))
			}
			list.Rows = append(list.Rows, one)
		}
		p.Sections = append(p.Sections, list)
	}
	return v.render(status, "undo", p)
}
