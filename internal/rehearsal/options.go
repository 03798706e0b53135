package rehearsal

import "context"

// Option changes how a Handler answers. Most are for tests: hooks receive the number of the Request, and the place as
// the number of characters of the reply sent so far.
type Option func(*options)

type options struct {
	chars    int
	cleanCut bool
	noLog    bool
	noBodies bool
	onChunk  func(request, sent int)
	onEnd    func(request int, end End)
	gate     func(ctx context.Context, request, sent int)
}

// OnChunk has f called after each chunk has gone out, so that a test can wait for a
// place in a reply instead of for a time.
func OnChunk(f func(request, sent int)) Option {
	return func(o *options) { o.onChunk = f }
}

// Gate calls f at each place of a reply before more is sent, from 0, when a Request has arrived, to its end. The reply
// goes on, late tokens immediately, when f returns. f must return when its context is done.
func Gate(f func(ctx context.Context, request, sent int)) Option {
	return func(o *options) { o.gate = f }
}

// ChunkChars sets how many characters a chunk carries; the default is 4, one token.
// The pace stays: more characters come less often.
func ChunkChars(n int) Option {
	return func(o *options) { o.chars = max(n, 1) }
}

// WithoutLog keeps no LoggedRequest, for a server that lives long.
func WithoutLog() Option {
	return func(o *options) { o.noLog = true }
}

// WithoutBodies leaves Body and Messages out of the log, where prompts are large.
func WithoutBodies() Option {
	return func(o *options) { o.noBodies = true }
}

func newOptions(opts []Option) options {
	o := options{chars: tokenChars}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// isHooked reports whether a hook requires that each chunk is sent immediately.
func (o options) isHooked() bool { return o.onChunk != nil || o.gate != nil }
