package signing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"processidea/model/approval/proof"
)

// DecidersVariable is the environment variable that names the place of the keys that a worker trusts.
const DecidersVariable = "PROCESSIDEA_DECIDERS"

const (
	refreshAfter = 5 * time.Minute // how often keys behind an address are read again
	// how long to wait after a failed read, or before reading again for an unknown key
	retryAfter   = 10 * time.Second
	staleAfter   = time.Hour // how long keys stay valid if they cannot be read again
	fetchTimeout = 10 * time.Second
)

// Source is the place of the keys: a JWKS file, which is read again when it changes, or an https address, which is read
// every five minutes. While it cannot be read, the last keys stay valid for an hour. It is safe for concurrent use.
type Source struct {
	place string
	http  *http.Client // nil if the place is a file
	now   func() time.Time

	mu       sync.Mutex
	keys     *Keys
	version  string    // version of the file that keys were read from
	readAt   time.Time // when the place was last read successfully
	triedAt  time.Time
	lastFail error // error of the last attempt; nil if it succeeded
}

// Open reads the keys at a place: a file or an https address (http on this machine only). It fails if the place is
// invalid or holds no JWKS. An address that does not answer is no failure: it is read again later.
func Open(ctx context.Context, place string) (*Source, error) {
	s := &Source{place: place, now: time.Now}
	address, err := url.Parse(place)
	if err == nil && strings.Contains(place, "://") {
		if !isSafe(address) {
			return nil, fmt.Errorf("signing: open keys at %s: want a file, or an https address", address.Redacted())
		}
		s.place, s.http = address.String(), &http.Client{Timeout: fetchTimeout, CheckRedirect: redirectSafely}
	}
	_, err = s.Keys(ctx)
	if _, isAway := errors.AsType[unreachableError](err); err != nil && (s.http == nil || !isAway) {
		return nil, err
	}
	return s, nil
}

// FromEnvironment opens the keys of PROCESSIDEA_DECIDERS; nil if it is not set.
func FromEnvironment(ctx context.Context, getenv func(string) string) (*Source, error) {
	place := strings.TrimSpace(getenv(DecidersVariable))
	if place == "" {
		return nil, nil
	}
	s, err := Open(ctx, place)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", DecidersVariable, err)
	}
	return s, nil
}

func isSafe(u *url.URL) bool {
	here := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	return u.Host != "" && (u.Scheme == "https" || (u.Scheme == "http" && here))
}

func redirectSafely(r *http.Request, via []*http.Request) error {
	if !isSafe(r.URL) || len(via) > 3 {
		return errors.New("it redirects to an address that may not give keys")
	}
	return nil
}

// Place returns the place of the keys.
func (s *Source) Place() string { return s.place }

// Keys returns the current keys.
func (s *Source) Keys(ctx context.Context) (*Keys, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentKeys(ctx, refreshAfter)
}

// Verify checks a proof with the current keys. If an address lacks the proof's key, it is read again first.
func (s *Source) Verify(ctx context.Context, jws string) proof.Finding {
	if s == nil {
		return proof.Finding{Refused: "this worker has no keys to check a proof with: " + DecidersVariable +
			" is not set"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.currentKeys(ctx, refreshAfter)
	if err != nil {
		return proof.Finding{Refused: "the keys to check the proof with cannot be read: " + err.Error()}
	}
	f, err := keys.verify(jws)
	if _, unknown := errors.AsType[unknownKey](err); unknown && s.http != nil {
		if keys, again := s.currentKeys(ctx, retryAfter); again == nil {
			f, err = keys.verify(jws)
		}
	}
	if err != nil {
		f.Refused = err.Error()
	}
	return f
}

// currentKeys reads the keys again if the file has changed, or if the keys behind an address are due for a refresh.
func (s *Source) currentKeys(ctx context.Context, after time.Duration) (*Keys, error) {
	now := s.now()
	version, due := s.needsReading(now, after)
	if due {
		s.triedAt = now
		var data []byte
		if data, s.lastFail = s.read(ctx); s.lastFail == nil {
			var keys *Keys
			if keys, s.lastFail = ParseKeys(data); s.lastFail == nil {
				s.keys, s.version, s.readAt = keys, version, now
			}
		}
	}
	if s.lastFail != nil && (s.keys == nil || now.Sub(s.readAt) > staleAfter) {
		return nil, fmt.Errorf("signing: read keys at %s: %w", s.place, s.lastFail)
	}
	return s.keys, nil
}

func (s *Source) needsReading(now time.Time, after time.Duration) (version string, due bool) {
	if s.http != nil {
		if s.lastFail != nil {
			after = retryAfter
		}
		return "", s.triedAt.IsZero() || now.Sub(s.triedAt) >= after
	}
	info, err := os.Stat(s.place)
	if err != nil {
		return "", true
	}
	version = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	if s.lastFail == nil && version == s.version {
		s.readAt = now
		return version, false
	}
	return version, true
}

// unreachableError is the error of a place that cannot be read, as opposed to one that holds no JWKS.
type unreachableError struct{ error }

func (s *Source) read(ctx context.Context) ([]byte, error) {
	if s.http == nil {
		data, err := os.ReadFile(s.place)
		return data, withoutPath(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.place, nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.http.Do(r)
	if err != nil {
		return nil, unreachableError{err}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, unreachableError{fmt.Errorf("it answers %s", answer.Status)}
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxKeysSize+1))
	if err != nil {
		return nil, unreachableError{err}
	}
	return data, nil
}
