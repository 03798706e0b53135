package session

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"processidea/client"
)

// MaxAge is how long somebody stays logged in.
const MaxAge = 12 * time.Hour

// Ticket names the logged-in person.
type Ticket struct {
	ID     string   `json:"id"` // made up when the session begins
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
	client.Account
	ExpiresAt time.Time `json:"until"`
}

// Sessions open, read and end sessions. It is safe for concurrent use.
type Sessions struct {
	aead cipher.AEAD
	// endedSessionIDs are the ids of sessions that were ended here early: a copy of the cookie is no longer valid.
	endedSessionIDs *lru.Cache[string, struct{}]
	// IsHTTPSOnly means that browsers reach the gateway by https only. Otherwise a cookie is restricted to https if the
	// request came by it.
	IsHTTPSOnly bool
}

// New makes Sessions whose cookies are sealed with a key that is derived from a secret. Gateways with the same secret
// accept each other's cookies.
func New(secret []byte) (*Sessions, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "processidea desk session", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	endedIDs, _ := lru.New[string, struct{}](maxEndedSessions) // it fails only for a size below one
	return &Sessions{aead: aead, endedSessionIDs: endedIDs}, err
}

// maxEndedSessions bounds the ended sessions that are remembered. If more end within MaxAge, copies of the first
// cookies are valid again.
const maxEndedSessions = 100_000

const ticketSealPurpose = "ticket"

// Begin logs somebody in.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request, t Ticket) error {
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = time.Now().Add(MaxAge)
	}
	t.ID = rand.Text()
	text, err := s.Seal(ticketSealPurpose, t)
	if err != nil {
		return err
	}
	c := s.newCookie(r)
	c.Value = text
	http.SetCookie(w, c)
	return nil
}

// End logs the caller out, and invalidates copies of the cookie.
func (s *Sessions) End(w http.ResponseWriter, r *http.Request) {
	if t, ok := s.Read(r); ok {
		s.endedSessionIDs.Add(t.ID, struct{}{})
	}
	c := s.newCookie(r)
	c.MaxAge = -1
	http.SetCookie(w, c)
}

// Read returns who is logged in; ok is false if nobody is.
func (s *Sessions) Read(r *http.Request) (t Ticket, ok bool) {
	c, err := r.Cookie(s.newCookie(r).Name)
	if err != nil || !s.Unseal(ticketSealPurpose, c.Value, &t) || time.Now().After(t.ExpiresAt) || t.ID == "" ||
		s.endedSessionIDs.Contains(t.ID) {
		return Ticket{}, false
	}
	return t, true
}

// newCookie is the cookie of this gateway. Browsers do not distinguish ports, so that several gateways of one machine
// need cookies of different names.
func (s *Sessions) newCookie(r *http.Request) *http.Cookie {
	name := "processidea-desk"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "-" + port
	}
	isSecure := s.IsHTTPSOnly || r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
	if isSecure {
		name = "__Host-" + name // browsers take it only from this host, not from others of its domain
	}
	return &http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: isSecure, SameSite: http.SameSiteStrictMode}
}

// Seal writes a value so that only these Sessions read it, and only for the same use.
func (s *Sessions) Seal(purpose string, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("session: seal: %w", err)
	}
	var compressed bytes.Buffer
	w, err := flate.NewWriter(&compressed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", fmt.Errorf("session: seal: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(make([]byte, 0, compressed.Len()+64), nil,
		compressed.Bytes(), []byte(purpose))), nil
}

// maxUnsealedBytes bounds what a sealed value opens to.
const maxUnsealedBytes = 1 << 20

// Unseal reads what Seal wrote; ok is false for anything else.
func (s *Sessions) Unseal(purpose, text string, target any) (ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	compressed, err := s.aead.Open(nil, nil, data, []byte(purpose))
	if err != nil {
		return false
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(compressed)), maxUnsealedBytes))
	return err == nil && json.Unmarshal(plain, target) == nil
}
