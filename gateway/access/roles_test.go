package access_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/client"
	"processidea/gateway/access"
)

func TestABrokenFileOfRolesIsSaidOnceAndToCallersWithoutItsPlace(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "roles.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = `{"roles": [{"may": ["look"], "people": ["*"]}]}`
	write(good)
	roles, err := access.OpenRoles(file)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.NewIssuerGuard(access.Issuer{URL: "https://issuer.example.com", Audience: "us", Roles: roles})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	guard.LogTo(slog.New(slog.NewTextHandler(&log, nil)))
	for n, fault := range []string{`{`, `{"roles": 1}`, ""} {
		if write(fault); fault == "" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			_, err := guard.LoggedInPerson("ann", nil, client.Account{})
			var refusal *access.Refusal
			if !errors.As(err, &refusal) || refusal.Status != 503 || refusal.Code != access.CodeBrokenRoles ||
				strings.Contains(refusal.Message, file) {
				t.Errorf("%q: %v", fault, err)
			}
			if access.CheckReady(t.Context(), guard) == nil {
				t.Errorf("%q: it calls itself ready", fault)
			}
		}
		if got := log.String(); strings.Count(got, "level=WARN") != n+1 || !strings.Contains(got, file) {
			t.Errorf("%q: not once: %s", fault, got)
		}
		if _, err := access.OpenRoles(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: a start: %v", fault, err)
		}
	}
	write(good)
	if p, err := guard.LoggedInPerson("ann", nil, client.Account{}); err != nil || !p.May(access.Look) ||
		access.CheckReady(t.Context(), guard) != nil || strings.Count(log.String(), "level=INFO") != 1 {
		t.Errorf("mended: %v, %s", err, log.String())
	}
}
