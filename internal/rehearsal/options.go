package rehearsal

import "context"

// Option changes how a Handler answers. Most options are for tests. Hooks receive the number of the Request, and the
// place in the reply: the number of characters sent so far.
type Option func(*options)

type options struct {
	chunkChars         int
	omitsRequestLog    bool
	omitsLoggedBodies  bool
	onChunkSent        func(request, sent int)
	onReplyEnd         func(request int, end EndReason)
	awaitBeforeSending func(ctx context.Context, request, sent int)
}

// OnChunkSent calls callback after each chunk that was sent, so that a test can wait for a place in a reply rather than
// for a time.
func OnChunkSent(onChunkSent func(request, sent int)) Option {
	return func(o *options) { o.onChunkSent = onChunkSent }
}

// WithGate calls awaitBeforeSending before more of a reply is sent: at place 0, when a Request has arrived, and so on
// to the end. The reply goes on when awaitBeforeSending returns; tokens that are late by then are sent at once.
// awaitBeforeSending must return when its context is done.
func WithGate(awaitBeforeSending func(ctx context.Context, request, sent int)) Option {
	return func(o *options) { o.awaitBeforeSending = awaitBeforeSending }
}

// WithChunkChars sets how many characters a chunk carries; the default is 4, one token. The pace stays the same: larger
// chunks come less often.
func WithChunkChars(n int) Option {
	return func(o *options) { o.chunkChars = max(n, 1) }
}

// WithoutRequestLog keeps no LoggedRequest. It is for long-lived servers.
func WithoutRequestLog() Option {
	return func(o *options) { o.omitsRequestLog = true }
}

// WithoutLoggedBodies leaves Body and Messages out of the log, for large prompts.
func WithoutLoggedBodies() Option {
	return func(o *options) { o.omitsLoggedBodies = true }
}

func newOptions(opts []Option) options {
	o := options{chunkChars: charsPerToken}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// hasHook reports whether a hook requires that each chunk is sent immediately.
func (o options) hasHook() bool { return o.onChunkSent != nil || o.awaitBeforeSending != nil }
