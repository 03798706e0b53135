package desk

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/loop"
)

// steer pauses a process, lets it go on, corrects it, or ends it.
func (d *Desk) steer(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("process")
	by := client.By{Name: nameOf(r), Reason: strings.TrimSpace(r.PostForm.Get("reason"))}
	text := strings.TrimSpace(strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n"))
	var do func(context.Context, *client.Process) error
	switch r.PostForm.Get("do") {
	case "pause":
		do = func(ctx context.Context, p *client.Process) error { return p.Pause(ctx, by) }
	case "resume":
		do = func(ctx context.Context, p *client.Process) error { return p.Resume(ctx, ideafile.Limits{}, by) }
	case "revise":
		if text == "" {
			return unfit("A correction needs a text: the LLM reads it, and plans on.")
		}
		message := map[string]any{"type": "text", "text": text}
		do = func(ctx context.Context, p *client.Process) error {
			return p.Revise(ctx, client.Correction{Context: []any{message}}, by)
		}
	case "cancel":
		if r.PostForm.Get("sure") == "" {
			return unfit(
				"Nothing was ended: tick the box beside the button first. A process that was ended does not go on.")
		}
		do = func(ctx context.Context, p *client.Process) error { return p.Cancel(ctx) }
	default:
		return unfit("There is no such button.")
	}
	if err := d.API.Steer(r.Context(), id, do); err != nil {
		return err
	}
	return lead(w, r, processHref(id))
}

// resumeAll lets all paused processes go on, or those that are paused with a code.
func (d *Desk) resumeAll(w http.ResponseWriter, r *http.Request) error {
	by := client.By{Name: nameOf(r), Reason: strings.TrimSpace(r.PostForm.Get("reason"))}
	all, err := d.API.ResumeAll(r.Context(), strings.TrimSpace(r.PostForm.Get("because")), by)
	if err != nil {
		return err
	}
	left := 0
	for _, one := range all {
		if !one.Resumed {
			left++
		}
	}
	told := url.Values{"status": {string(loop.StatusPaused)}, "resumed": {strconv.Itoa(len(all) - left)},
		"left": {strconv.Itoa(left)}}
	return lead(w, r, "/desk/processes?"+told.Encode())
}

// toldOfResumed says what became of those that were to go on; the address has the numbers.
func toldOfResumed(q url.Values) string {
	resumed, err := strconv.Atoi(q.Get("resumed"))
	left, _ := strconv.Atoi(q.Get("left"))
	switch {
	case err != nil:
		return ""
	case left > 0:
		return fmt.Sprintf("Processes that go on: %d. Those that do not: %d; the page of each says why.", resumed, left)
	}
	return fmt.Sprintf("Processes that go on: %d.", resumed)
}
