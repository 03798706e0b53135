package desk

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/loop"
)

// steer pauses a process, lets it go on, corrects it, or ends it.
func (v *visit) steer() error {
	actor, text, action := v.callerActor(), normalizeNewlines(v.formValue("text")), v.PostForm.Get("do")
	var formErr error
	switch {
	case !slices.Contains([]string{"pause", "resume", "revise", "cancel"}, action):
		formErr = api.Unprocessable("There is no such button.")
	case action == "revise" && text == "":
		formErr = api.Unprocessable("A correction needs a text: the process reads it and plans the rest again.")
	case action == "cancel" && v.PostForm.Get("sure") == "":
		formErr = api.Unprocessable(
			"Nothing was ended: tick the box beside the button first. An ended process cannot go on.")
	}
	if formErr != nil {
		return v.showProcessAgain("steer", formErr, nil)
	}
	return v.steerByForm("steer", "", func(ctx context.Context, p *client.Process) error {
		switch action {
		case "pause":
			return p.Pause(ctx, actor)
		case "resume":
			return p.Resume(ctx, ideafile.Limits{}, actor)
		case "revise":
			return p.Revise(ctx, client.Correction{Messages: []any{map[string]any{"type": "text", "text": text}}},
				actor)
		}
		return p.Cancel(ctx)
	})
}

// ordersFragment is the place of the standing orders and deputies on the page of their process.
const ordersFragment = "#orders"

// steerAndRedirect does something to the process of the address, and leads to a place on its page. Of a split process
// the whole has the orders.
func (v *visit) steerAndRedirect(fragment string, do func(context.Context, *client.Process) error) error {
	processID := v.processID
	if fragment == ordersFragment {
		processID = spelling.WholeProcessID(processID)
	}
	if err := v.Steer(v.Context(), processID, do); err != nil {
		return err
	}
	return v.redirect(processHref(processID) + fragment)
}

// steerByForm is steerAndRedirect for a form on the page of the process. A refused form is shown again.
func (v *visit) steerByForm(formID, fragment string, do func(context.Context, *client.Process) error) error {
	if err := v.steerAndRedirect(fragment, do); err != nil {
		return v.showProcessAgain(formID, err, nil)
	}
	return nil
}

// resumeAll lets all paused processes go on, or those that are paused with a code.
func (v *visit) resumeAll() error {
	all, err := v.ResumeAll(v.Context(), v.formValue("because"), v.callerActor())
	if err != nil {
		return err
	}
	notResumedCount := 0
	for _, one := range all {
		if !one.WasResumed {
			notResumedCount++
		}
	}
	query := url.Values{"status": {string(loop.StatusPaused)}, "resumed": {strconv.Itoa(len(all) - notResumedCount)},
		"left": {strconv.Itoa(notResumedCount)}}
	return v.redirect("/desk/processes?" + query.Encode())
}

// resumedNotice says how many paused processes were resumed. The address has the numbers.
func resumedNotice(q url.Values) string {
	resumedCount, err := strconv.Atoi(q.Get("resumed"))
	notResumedCount, _ := strconv.Atoi(q.Get("left"))
	switch {
	case err != nil:
		return ""
	case notResumedCount > 0:
		return fmt.Sprintf("Resumed processes: %d. Not resumed: %d; the page of each says why.", resumedCount,
			notResumedCount)
	}
	return fmt.Sprintf("Resumed processes: %d.", resumedCount)
}
