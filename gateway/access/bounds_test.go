package access_test

import (
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/gateway/access"
)

func TestAnIssuerThatAnswersWithoutEndIsHungUpOn(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, err := z.Write([]byte(`{"issuer":"`))
		for part := []byte(strings.Repeat("x", 64<<10)); err == nil && sent.Load() < 1<<30; {
			_, err = z.Write(part)
			sent.Add(int64(len(part)))
		}
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "roles.json")
	if err := os.WriteFile(file, []byte(`{"roles": [{"may": ["look"], "groups": ["finance"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	roles, err := access.OpenRoles(file)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.NewIssuerGuard(access.Issuer{URL: s.URL, Audience: "here", Roles: roles})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer a.b.c")
	if _, err := guard.Identify(r); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("%v", err)
	}
	if sent.Load() > 200<<20 {
		t.Errorf("it could send %d MB", sent.Load()>>20)
	}
}
