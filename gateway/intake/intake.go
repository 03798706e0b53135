// Package intake reads the bodies of requests: the only way by which strangers' data comes into a gateway.
//
// Invariants: the amount that all requests together read at a time is bounded. A body waits for its turn; if that would
// take too long, the answer is 503 with Retry-After, and none of it is read. JSON is passed on only if it has no more
// parts than its length allows (jsonval.NodeLimit).
package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"

	"processidea/gateway/access"
	"processidea/model/jsonval"
)

// The codes of bodies that are refused.
const (
	CodeTooLarge       = "too-large"    // the body is too large, or has too many parts
	CodeSlowBody       = "slow-request" // the body took too long
	CodeBusy           = "busy"         // too much is being read
	CodeIncompleteBody = "invalid"      // the body cannot be read to its end
	CodeEncodedBody    = "media-type"   // the body is compressed
)

const (
	maxSmallBodyBytes     = 64 << 10 // bytes; a body up to this size never waits for larger ones
	maxSmallBytesInFlight = 2 << 20
	// maxLargeBytesInFlight is in bytes. Bodies of this size or more are read one after the other.
	maxLargeBytesInFlight = 8 << 20
	memoryWaitTimeout     = 10 * time.Second
	retryAfter            = 5 * time.Second
)

// Intake bounds how much is read at a time. It is safe for concurrent use.
type Intake struct {
	smallBodyMemory, largeBodyMemory *semaphore.Weighted
	bodyTimeout                      time.Duration
}

// New makes an Intake. bodyTimeout is how long one body may take to come in.
func New(bodyTimeout time.Duration) *Intake {
	return &Intake{semaphore.NewWeighted(maxSmallBytesInFlight), semaphore.NewWeighted(maxLargeBytesInFlight),
		bodyTimeout}
}

// Read reads the body of a request, of at most limit bytes, and replaces the request's body by what it read. Call done
// when the request has been answered: until then other requests wait for the memory. The error is an *access.Refusal.
func (i *Intake) Read(w http.ResponseWriter, r *http.Request,
	maxBodyBytes int64) (body []byte, release func(), err error) {
	release = func() {}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, release, nil
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, release, access.NewRefusal(http.StatusUnsupportedMediaType, CodeEncodedBody,
			"the body has the Content-Encoding %q: send it as it is", encoding)
	}
	if r.ContentLength > maxBodyBytes {
		return nil, release, tooLargeError(maxBodyBytes)
	}
	memoryBytes := r.ContentLength
	if memoryBytes < 0 {
		memoryBytes = maxBodyBytes
	}
	if release, err = i.awaitMemory(r.Context(), memoryBytes); err != nil {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter/time.Second)))
		return nil, func() {}, err
	}
	if body, err = i.readBody(w, r, maxBodyBytes); err == nil && mayBeJSON(r) {
		err = checkJSONNodeLimit(body)
	}
	if err != nil {
		release()
		return nil, func() {}, err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return body, release, nil
}

// awaitMemory waits for the memory of a body.
func (i *Intake) awaitMemory(ctx context.Context, memoryBytes int64) (release func(), err error) {
	memory, memoryCapacity := i.smallBodyMemory, int64(maxSmallBytesInFlight)
	if memoryBytes > maxSmallBodyBytes {
		memory, memoryCapacity = i.largeBodyMemory, maxLargeBytesInFlight
	}
	memoryBytes = min(max(memoryBytes, 1<<10), memoryCapacity)
	ctx, cancel := context.WithTimeout(ctx, memoryWaitTimeout)
	defer cancel()
	if memory.Acquire(ctx, memoryBytes) != nil {
		return nil, access.NewRefusal(http.StatusServiceUnavailable, CodeBusy,
			"the gateway is too busy to read the body: send it again in a moment")
	}
	return func() { memory.Release(memoryBytes) }, nil
}

func (i *Intake) readBody(w http.ResponseWriter, r *http.Request, maxBodyBytes int64) ([]byte, error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(i.bodyTimeout)) // the recorder of tests has no deadline
	var b bytes.Buffer
	b.Grow(int(max(0, r.ContentLength)) + bytes.MinRead) // large enough for the whole body
	_, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err == nil {
		// The deadline would end the request while it is answered. It stays if the body is late: nobody waits for the
		// rest.
		_ = control.SetReadDeadline(time.Time{})
	}
	var maxBytesErr *http.MaxBytesError
	var netErr net.Error
	switch {
	case err == nil:
		return b.Bytes(), nil
	case errors.As(err, &maxBytesErr):
		return nil, tooLargeError(maxBodyBytes)
	case errors.As(err, &netErr) && netErr.Timeout():
		return nil, access.NewRefusal(http.StatusRequestTimeout, CodeSlowBody, "the body took too long to come in")
	}
	return nil, access.NewRefusal(http.StatusBadRequest, CodeIncompleteBody, "the body cannot be read: %s", err)
}

func tooLargeError(maxBodyBytes int64) error {
	return access.NewRefusal(http.StatusRequestEntityTooLarge, CodeTooLarge,
		"the body is larger than %d bytes, the maximum here", maxBodyBytes)
}

func checkJSONNodeLimit(body []byte) error {
	if err := jsonval.UntrustedNodeLimit.Check(body); err != nil {
		return access.NewRefusal(http.StatusRequestEntityTooLarge, CodeTooLarge, "the body: %s", err)
	}
	return nil
}

// mayBeJSON reports whether a body is read as JSON. Only forms are not.
func mayBeJSON(r *http.Request) bool {
	t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return t != "multipart/form-data" && t != "application/x-www-form-urlencoded"
}
