package desk

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/model/loop"
)

// steer pauses a process, lets it go on, corrects it, or ends it.
func (d *Desk) steer(w http.ResponseWriter, r *http.Request) error {
	id, by, text := r.PathValue("process"), byOf(r), typed(entered(r, "text"))
	do := r.PostForm.Get("do")
	switch {
	case !slices.Contains([]string{"pause", "resume", "revise", "cancel"}, do):
		return unfit("There is no such button.")
	case do == "revise" && text == "":
		return unfit("A correction needs a text: the LLM reads it, and plans on.")
	case do == "cancel" && r.PostForm.Get("sure") == "":
		return unfit("Nothing was ended: tick the box beside the button first. An ended process cannot go on.")
	}
	if err := d.API.Steer(r.Context(), id, func(ctx context.Context, p *client.Process) error {
		switch do {
		case "pause":
			return p.Pause(ctx, by)
		case "resume":
			return p.Resume(ctx, ideafile.Limits{}, by)
		case "revise":
			return p.Revise(ctx, client.Correction{Context: []any{map[string]any{"type": "text", "text": text}}}, by)
		}
		return p.Cancel(ctx)
	}); err != nil {
		return err
	}
	return lead(w, r, processHref(id))
}

// resumeAll lets all paused processes go on, or those that are paused with a code.
func (d *Desk) resumeAll(w http.ResponseWriter, r *http.Request) error {
	all, err := d.API.ResumeAll(r.Context(), entered(r, "because"), byOf(r))
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

// toldOfResumed describes how many held-up processes were resumed; the address has the numbers.
func toldOfResumed(q url.Values) string {
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
