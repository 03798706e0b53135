package feed

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"processidea/client"
	"processidea/model/loop"
)

// EventKind is the kind of a Snapshot.
type EventKind string

// The kinds of Snapshots and of events.
const (
	KindStatus       EventKind = "status" // the status of the process
	KindNotQueryable EventKind = "unseen" // the process cannot be queried
	KindEnded        EventKind = "ended"  // it has ended
	KindIdea         EventKind = "idea"   // an Idea was sealed
)

// Snapshot is the status of a process, at a Cursor. It never changes.
type Snapshot struct {
	Kind   EventKind
	Cursor Cursor
	// Data is JSON: a client.Status, a loop.Result without States for an ended process, or a QueryFailure.
	Data []byte
}

// QueryFailure is why a process cannot be queried.
type QueryFailure struct {
	Code       string    `json:"code" enum:"no-worker,unreachable"`
	Message    string    `json:"message"`
	LastSeenAt time.Time `json:"since" doc:"when the process was last seen"`
}

// The codes of QueryFailure.
const (
	CodeNoWorker    = "no-worker"
	CodeUnreachable = "unreachable"
)

// Cursor is a position in the life of a process. Every gateway can find what came after it.
type Cursor struct {
	IdeaCount         int    // how many Ideas had been sealed
	RunIDPrefix       string // of the workflow
	HistoryEventCount int64  // of that run's history
	HasEnded          bool
}

const runIDPrefixLength = 8 // characters of a run's id that distinguish it from the other runs of its process

// String formats a Cursor as the id of an event: 3.0198f2aa.57, with an e if the process has ended.
func (c Cursor) String() string {
	text := fmt.Sprintf("%d.%s.%d", c.IdeaCount, c.RunIDPrefix, c.HistoryEventCount)
	if c.HasEnded {
		text += "e"
	}
	return text
}

// ParseCursor reads what String writes; ok is false for anything else.
func ParseCursor(text string) (c Cursor, ok bool) {
	ideaCountText, rest, _ := strings.Cut(text, ".")
	runIDPrefix, eventCountText, _ := strings.Cut(rest, ".")
	eventCountText, c.HasEnded = strings.CutSuffix(eventCountText, "e")
	var err, err2 error
	c.IdeaCount, err = strconv.Atoi(ideaCountText)
	c.HistoryEventCount, err2 = strconv.ParseInt(eventCountText, 10, 64)
	c.RunIDPrefix = runIDPrefix
	return c, err == nil && err2 == nil && c.IdeaCount >= 0
}

func cursorOf(r client.HistoryPosition, ideaCount int) Cursor {
	return Cursor{IdeaCount: ideaCount, RunIDPrefix: r.RunID[:min(len(r.RunID), runIDPrefixLength)],
		HistoryEventCount: r.EventCount, HasEnded: r.HasEnded}
}

func snapshotOf(kind EventKind, cursor Cursor, v any) (*Snapshot, error) {
	data, err := json.Marshal(v)
	return &Snapshot{kind, cursor, data}, err
}

// WithoutStates removes the States, which may be large: GET …/result returns them.
func WithoutStates(r loop.ProcessResult) loop.ProcessResult {
	instances := map[string]loop.InstanceResult{}
	for token, i := range r.Instances {
		i.State = nil
		instances[token] = i
	}
	r.Instances = instances
	return r
}
