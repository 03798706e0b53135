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
	by, text, do := v.by(), normalizeNewlines(v.formValue("text")), v.PostForm.Get("do")
	var wrong error
	switch {
	case !slices.Contains([]string{"pause", "resume", "revise", "cancel"}, do):
		wrong = api.Unprocessable("There is no such button.")
	case do == "revise" && text == "":
		wrong = api.Unprocessable("A correction needs a text: it is read, and the rest is planned anew.")
	case do == "cancel" && v.PostForm.Get("sure") == "":
		wrong = api.Unprocessable(
			"Nothing was ended: tick the box beside the button first. An ended process cannot go on.")
	}
	if wrong != nil {
		return v.showProcessAgain("steer", wrong, nil)
	}
	return v.steerByForm("steer", "", func(ctx context.Context, p *client.Process) error {
		switch do {
		case "pause":
			return p.Pause(ctx, by)
		case "resume":
			return p.Resume(ctx, ideafile.Limits{}, by)
		case "revise":
			return p.Revise(ctx, client.Correction{Context: []any{map[string]any{"type": "text", "text": text}}}, by)
		}
		return p.Cancel(ctx)
	})
}

// ordersPlace is the place of the standing orders and deputies on the page of their process.
const ordersPlace = "#orders"

// steerAndReturn does something to the process of the address, and leads to a place on its page. Of a split process the
// whole has the orders.
func (v *visit) steerAndReturn(place string, do func(context.Context, *client.Process) error) error {
	process := v.process
	if place == ordersPlace {
		process = spelling.WholeProcess(process)
	}
	if err := v.Steer(v.Context(), process, do); err != nil {
		return err
	}
	return v.redirect(processHref(process) + place)
}

// steerByForm is steerAndReturn for a form on the page of the process. A refused form is shown again.
func (v *visit) steerByForm(form, place string, do func(context.Context, *client.Process) error) error {
	if err := v.steerAndReturn(place, do); err != nil {
		return v.showProcessAgain(form, err, nil)
	}
	return nil
}

// resumeAll lets all paused processes go on, or those that are paused with a code.
func (v *visit) resumeAll() error {
	all, err := v.ResumeAll(v.Context(), v.formValue("because"), v.by())
	if err != nil {
		return err
	}
	left := 0
	for _, one := range all {
		if !one.Resumed {
			left++
		}
	}
	query := url.Values{"status": {string(loop.StatusPaused)}, "resumed": {strconv.Itoa(len(all) - left)},
		"left": {strconv.Itoa(left)}}
	return v.redirect("/desk/processes?" + query.Encode())
}

// resumedNotice says how many paused processes were resumed. The address has the numbers.
func resumedNotice(q url.Values) string {
	resumed, err := strconv.Atoi(q.Get("resumed"))
	left, _ := strconv.Atoi(q.Get("left"))
	switch {
	case err != nil:
		return ""
	case left > 0:
		return fmt.Sprintf("Resumed processes: %d. Not resumed: %d; the page of each says why.", resumed, left)
	}
	return fmt.Sprintf("Resumed processes: %d.", resumed)
}
