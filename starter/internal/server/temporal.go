package server

import "context"

// TemporalHost runs Temporal servers in this program. A server adds 150 MB to a program, so it is passed to the verbs:
// their packages can then be tested without it.
type TemporalHost interface {
	// Start runs a server on a folder, and returns when it can be used.
	Start(ctx context.Context, o TemporalOptions) (TemporalServer, error)
	// Scrub removes from the folder's files what a server deleted there, and what remains of forgotten workflows.
	Scrub(ctx context.Context, dir string, isWorkflowDeleted func(workflowID string) bool) error
}

// TemporalOptions are the devserver.Options that a Place sets.
type TemporalOptions struct {
	DataFolder              string
	Port, UIPort            int
	DefaultUIPorts          []int
	CodecEndpoint           string
	ProgramMemoryLimitBytes int64 // bytes
}

// TemporalServer is a running server, such as devserver.Server.
type TemporalServer interface {
	Address() string
	Namespace() string
	UIURL() string
	Stop()
}
