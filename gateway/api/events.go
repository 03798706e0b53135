package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"processidea/gateway/feed"
)

const (
	eventStreamMediaType = "text/event-stream"
	// heartbeatInterval bounds the silence on the connection, so that proxies in between see that it is alive.
	heartbeatInterval = 15 * time.Second
	// eventWriteTimeout bounds the writing of one event: a client that reads nothing is dropped.
	eventWriteTimeout = 30 * time.Second
)

func (a *API) addEventsOperation() {
	_ = a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[feed.QueryFailure](), true, "")
	addGetOperation(a, huma.Operation{
		OperationID: "follow-process", Path: "/api/processes/{id}/events", Summary: "Follow a process",
		Tags: []string{"processes"},
		Description: "Follows a process until it has ended, as server-sent events. status: where it stands, whenever " +
			"that has changed, as getting the process gives it; the first one comes at once. idea: an Idea was " +
			"sealed, as listing the Ideas gives it. unseen: it cannot be asked, {code, message, since}. ended: what " +
			"it came to, as its result without States; nothing comes after it.\n\nA slow reader gets every " +
			"Idea but only the latest status. With the id of its last event as Last-Event-ID a reader goes on " +
			"after that event, at any gateway. 204: the end was sent already.",
		Responses: map[string]*huma.Response{
			"200": {Description: "The events",
				Content: map[string]*huma.MediaType{
					eventStreamMediaType: {Schema: &huma.Schema{Type: huma.TypeString}}}},
			"204": {Description: "The process has ended, and its end was sent already"},
		},
	}, a.followEvents)
}

type eventsInput struct {
	ProcessTarget
	Last  string `header:"Last-Event-ID" doc:"the id of the last event that was seen"`
	Token string `query:"token" hidden:"true" doc:"the printed token, for pages that cannot set a header here"`
}

func (a *API) followEvents(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	cursor, hasCursor := feed.ParseCursor(in.Last)
	if in.Last != "" && !hasCursor {
		return nil, invalidAt("header.Last-Event-ID", errBadEventID)
	}
	follower, err := a.Feed.Follow(ctx, in.ID, cursor, !hasCursor)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer follower.Close()
		_, w := humago.Unwrap(hc)
		if follower.SawEnd() {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		a.streamEvents(hc.Context(), w, follower)
	}}, nil
}

// streamEvents writes a follower's events, until the process has ended or the client has gone.
func (a *API) streamEvents(ctx context.Context, w http.ResponseWriter, follower *feed.Follower) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the request has been read: no deadline applies any more
	w.Header().Set("Content-Type", eventStreamMediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in between passes each event on immediately
	w.WriteHeader(http.StatusOK)
	if control.Flush() != nil { // a client that missed nothing learns immediately that it is connected
		return
	}
	for e, err := range follower.Events(ctx, heartbeatInterval) {
		_ = control.SetWriteDeadline(time.Now().Add(eventWriteTimeout))
		if err != nil {
			a.Log.Warn("a follower was let go", "error", err)
			return
		}
		if _, err := w.Write(encodeEvent(e)); err != nil || control.Flush() != nil {
			return
		}
	}
}

// encodeEvent encodes an event. An event without a kind becomes a comment. Its data is one line, because marshalled
// JSON contains no line breaks.
func encodeEvent(e feed.Event) []byte {
	if e.Kind == "" {
		return []byte(": nothing new\n\n")
	}
	id := ""
	if e.ID != "" {
		id = "id: " + e.ID + "\n"
	}
	return fmt.Appendf(nil, "%sevent: %s\ndata: %s\n\n", id, e.Kind, e.Data)
}
