package rehearsal

import "context"

// Option changes how a Handler answers. Most options are for tests. Hooks receive the number of the Request, and the
// place in the reply: the number of characters sent so far.
type Option func(*options)

type options struct {
	chunkChars  int
	omitsLog    bool
	omitsBodies bool
	onChunk     func(request, sent int)
	onEnd       func(request int, end EndReason)
	awaitGate   func(ctx context.Context, request, sent int)
}

// OnChunk calls callback after each chunk that was sent, so that a test can wait for a place in a reply rather than for
// a time.
func OnChunk(callback func(request, sent int)) Option {
	return func(o *options) { o.onChunk = callback }
}

// WithGate calls awaitGate before more of a reply is sent: at place 0, when a Request has arrived, and so on to the
// end. The reply goes on when awaitGate returns; tokens that are late by then are sent at once. awaitGate must return
// when its context is done.
func WithGate(awaitGate func(ctx context.Context, request, sent int)) Option {
	return func(o *options) { o.awaitGate = awaitGate }
}

// WithChunkChars sets how many characters a chunk carries; the default is 4, one token. The pace stays the same: larger
// chunks come less often.
func WithChunkChars(n int) Option {
	return func(o *options) { o.chunkChars = max(n, 1) }
}

// WithoutLog keeps no LoggedRequest. It is for long-lived servers.
func WithoutLog() Option {
	return func(o *options) { o.omitsLog = true }
}

// WithoutBodies leaves Body and Messages out of the log, for large prompts.
func WithoutBodies() Option {
	return func(o *options) { o.omitsBodies = true }
}

func newOptions(opts []Option) options {
	o := options{chunkChars: charsPerToken}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// hasHook reports whether a hook requires that each chunk is sent immediately.
func (o options) hasHook() bool { return o.onChunk != nil || o.awaitGate != nil }
