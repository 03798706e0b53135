package codecserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"go.temporal.io/sdk/converter"

	"processidea/connect"
	"processidea/gateway/access"
	"processidea/store/blobs"
)

// Options configure what is shown, and to whom.
type Options struct {
	// Store holds the large payloads, and the keys.
	Store *blobs.Store
	// AllowedOrigins are the origins of pages that may send requests, such as https://temporal.example.com. If there
	// are none, pages from this machine may.
	AllowedOrigins []string
	// BearerToken is the bearer token that a request must carry; empty: only pages may send requests.
	BearerToken string
}

// maxRequestBodyBytes bounds a request in bytes: a page of history is far smaller.
const maxRequestBodyBytes = 64 << 20

// Handler serves the Temporal SDK's endpoints /encode, /decode and /download.
func Handler(o Options) (http.Handler, error) {
	for _, origin := range o.AllowedOrigins {
		if err := access.CheckOriginFormat(origin); err != nil {
			return nil, fmt.Errorf("codecserver: allow origin %q: %w", origin, err)
		}
	}
	payloadHandler, err := converter.NewPayloadHTTPHandler(converter.PayloadHTTPHandlerOptions{
		PreStorageCodecs: []converter.PayloadCodec{connect.Codec(o.Store.Keys())},
		ExternalStorage:  o.Store.ExternalStorage(),
	})
	if err != nil {
		return nil, fmt.Errorf("codecserver: %w", err)
	}
	return &requestGuard{o, http.MaxBytesHandler(payloadHandler, maxRequestBodyBytes)}, nil
}

// requestGuard decides who may ask.
type requestGuard struct {
	Options
	payloadHandler http.Handler
}

func (d *requestGuard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if !d.allows(r, origin) {
		http.Error(w, d.refusalText(), http.StatusForbidden)
		return
	}
	if origin != "" {
		setCORS(w.Header(), origin)
	}
	switch {
	case r.Method == http.MethodOptions:
		// Before a request with the token, browsers ask without it whether they may send the request.
		w.WriteHeader(http.StatusNoContent)
	case d.BearerToken != "" && !equalConstantTime(r.Header.Get("Authorization"), "Bearer "+d.BearerToken):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the bearer token is missing or wrong", http.StatusUnauthorized)
	default:
		d.payloadHandler.ServeHTTP(w, r)
	}
}

// allows reports whether a page of this origin, as the browser names it, may send requests. Programs send no origin;
// they need the token.
func (d *requestGuard) allows(r *http.Request, origin string) bool {
	switch {
	case origin == "":
		return d.BearerToken != ""
	case len(d.AllowedOrigins) > 0:
		return slices.Contains(d.AllowedOrigins, origin)
	}
	// The host is checked too: a foreign page's host name may have been made to resolve to this machine.
	return isLoopbackOrigin(origin) && isLoopbackOrigin("http://"+r.Host)
}

func (d *requestGuard) refusalText() string {
	if len(d.AllowedOrigins) == 0 {
		return "only pages from this machine may ask"
	}
	return "only pages of the Temporal UI may ask"
}

func isLoopbackOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && access.IsLoopback(u.Hostname())
}

func setCORS(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true") // the UI can be configured to send a proxy's cookies
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Content-Type, X-Namespace, Authorization, Authorization-Extras")
	h.Set("Vary", "Origin")
}

// equalConstantTime compares two texts in constant time.
func equalConstantTime(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
