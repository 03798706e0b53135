package desk

import (
	"context"
	"net/http"
	"strings"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/limits"
)

// steer pauses a process, lets it go on, corrects it, or ends it.
func (d *Desk) steer(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("process")
	by := client.By{Name: access.From(r.Context()).Name, Reason: strings.TrimSpace(r.PostForm.Get("reason"))}
	text := strings.TrimSpace(strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n"))
	var do func(context.Context, *client.Process) error
	switch r.PostForm.Get("do") {
	case "pause":
		do = func(ctx context.Context, p *client.Process) error { return p.Pause(ctx, by) }
	case "resume":
		do = func(ctx context.Context, p *client.Process) error { return p.Resume(ctx, limits.Limits{}, by) }
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
			return unfit("Nothing was ended: tick the box beside the button first. A process that was ended does not go on.")
		}
		do = func(ctx context.Context, p *client.Process) error { return p.Cancel(ctx) }
	default:
		return unfit("There is no such button.")
	}
	if _, err := d.API.Steer(r.Context(), id, do); err != nil {
		return err
	}
	http.Redirect(w, r, processHref(id), http.StatusSeeOther)
	return nil
}
