package server

import "context"

// Temporal runs Temporal servers in this program. One weighs 150 MB: it is given to the verbs, so that their packages
// can be tested without.
type Temporal interface {
	// Start runs a server on a folder, and returns when it can be used.
	Start(ctx context.Context, o TemporalOptions) (TemporalServer, error)
	// Scrub removes from the folder's files what a server deleted there, and what it keeps of workflows that are
	// forgotten.
	Scrub(ctx context.Context, dir string, forgotten func(workflow string) bool) error
}

// TemporalOptions are the devserver.Options that a Place sets.
type TemporalOptions struct {
	Dir            string
	Port, UIPort   int
	DefaultUIPorts []int
	CodecEndpoint  string
	Memory         int64 // bytes
}

// TemporalServer is a running server, as devserver.Server is one.
type TemporalServer interface {
	Address() string
	Namespace() string
	UIURL() string
	Stop()
}
