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

// KeySource is the place of the keys: a JWKS file, which is read again when it changes, or an https address, which is
// read every five minutes. While it cannot be read, the last keys stay valid for an hour. It is safe for concurrent
// use.
type KeySource struct {
	fileOrURL  string
	httpClient *http.Client // nil if the place is a file
	now        func() time.Time

	mu          sync.Mutex
	keys        *Keys
	fileVersion string    // version of the file that keys were read from
	readAt      time.Time // when the place was last read successfully
	triedAt     time.Time
	lastErr     error // error of the last attempt; nil if it succeeded
}

// Open reads the keys at a place: a file or an https address (http on this machine only). It fails if the place is
// invalid or holds no JWKS. An address that does not answer is no failure: it is read again later.
func Open(ctx context.Context, fileOrURL string) (*KeySource, error) {
	s := &KeySource{fileOrURL: fileOrURL, now: time.Now}
	address, err := url.Parse(fileOrURL)
	if err == nil && strings.Contains(fileOrURL, "://") {
		if !isSafeKeysAddress(address) {
			return nil, fmt.Errorf("signing: open keys at %s: want a file, or an https address", address.Redacted())
		}
		s.fileOrURL, s.httpClient = address.String(), &http.Client{Timeout: fetchTimeout, CheckRedirect: checkRedirect}
	}
	_, err = s.Keys(ctx)
	if _, isUnreachable := errors.AsType[unreachableError](err); err != nil && (s.httpClient == nil || !isUnreachable) {
		return nil, err
	}
	return s, nil
}

// FromEnvironment opens the keys of PROCESSIDEA_DECIDERS; nil if it is not set.
func FromEnvironment(ctx context.Context, getenv func(string) string) (*KeySource, error) {
	fileOrURL := strings.TrimSpace(getenv(DecidersVariable))
	if fileOrURL == "" {
		return nil, nil
	}
	s, err := Open(ctx, fileOrURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", DecidersVariable, err)
	}
	return s, nil
}

func isSafeKeysAddress(u *url.URL) bool {
	isLocal := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	return u.Host != "" && (u.Scheme == "https" || (u.Scheme == "http" && isLocal))
}

func checkRedirect(r *http.Request, via []*http.Request) error {
	if !isSafeKeysAddress(r.URL) || len(via) > 3 {
		return errors.New("it redirects to an address that may not give keys")
	}
	return nil
}

// FileOrURL returns the place of the keys.
func (s *KeySource) FileOrURL() string { return s.fileOrURL }

// Keys returns the current keys.
func (s *KeySource) Keys(ctx context.Context) (*Keys, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentKeys(ctx, refreshAfter)
}

// Verify checks a proof with the current keys. If an address lacks the proof's key, it is read again first.
func (s *KeySource) Verify(ctx context.Context, jws string) proof.Verification {
	if s == nil {
		return proof.Verification{RefusalReason: "this worker has no keys to check a proof with: " + DecidersVariable +
			" is not set"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.currentKeys(ctx, refreshAfter)
	if err != nil {
		return proof.Verification{RefusalReason: "the keys to check the proof with cannot be read: " + err.Error()}
	}
	verification, err := keys.verify(jws)
	if _, isUnknownKey := errors.AsType[unknownKeyError](err); isUnknownKey && s.httpClient != nil {
		if keys, retryErr := s.currentKeys(ctx, retryAfter); retryErr == nil {
			verification, err = keys.verify(jws)
		}
	}
	if err != nil {
		verification.RefusalReason = err.Error()
	}
	return verification
}

// currentKeys reads the keys again if the file has changed, or if the keys behind an address are due for a refresh.
func (s *KeySource) currentKeys(ctx context.Context, maxAge time.Duration) (*Keys, error) {
	now := s.now()
	fileVersion, isDue := s.needsReading(now, maxAge)
	if isDue {
		s.triedAt = now
		var data []byte
		if data, s.lastErr = s.read(ctx); s.lastErr == nil {
			var keys *Keys
			if keys, s.lastErr = ParseKeys(data); s.lastErr == nil {
				s.keys, s.fileVersion, s.readAt = keys, fileVersion, now
			}
		}
	}
	if s.lastErr != nil && (s.keys == nil || now.Sub(s.readAt) > staleAfter) {
		return nil, fmt.Errorf("signing: read keys at %s: %w", s.fileOrURL, s.lastErr)
	}
	return s.keys, nil
}

func (s *KeySource) needsReading(now time.Time, maxAge time.Duration) (fileVersion string, isDue bool) {
	if s.httpClient != nil {
		if s.lastErr != nil {
			maxAge = retryAfter
		}
		return "", s.triedAt.IsZero() || now.Sub(s.triedAt) >= maxAge
	}
	info, err := os.Stat(s.fileOrURL)
	if err != nil {
		return "", true
	}
	fileVersion = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	if s.lastErr == nil && fileVersion == s.fileVersion {
		s.readAt = now
		return fileVersion, false
	}
	return fileVersion, true
}

// unreachableError is the error of a place that cannot be read, as opposed to one that holds no JWKS.
type unreachableError struct{ error }

func (s *KeySource) read(ctx context.Context) ([]byte, error) {
	if s.httpClient == nil {
		data, err := os.ReadFile(s.fileOrURL)
		return data, withoutPath(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.fileOrURL, nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.httpClient.Do(r)
	if err != nil {
		return nil, unreachableError{err}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, unreachableError{fmt.Errorf("it answers %s", answer.Status)}
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxKeyFileBytes+1))
	if err != nil {
		return nil, unreachableError{err}
	}
	return data, nil
}
