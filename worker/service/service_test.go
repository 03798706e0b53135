package service_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"processidea/internal/safego/safegotest"
	"processidea/store/blobs"
	"processidea/store/encryption"
	"processidea/worker/service"
	"processidea/worker/workertest"
)

func init() { workertest.RunIfWorker() }

// silent is an address where somebody listens and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestAWorkerThatHasNotReachedTemporalIsAliveAndNotReadyAndCanBeStopped(t *testing.T) {
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + silent(t), "PROCESSIDEA_STORE=" + t.TempDir()})
	for _, path := range []string{"/livez", "/healthz"} {
		if status, body := p.Get(path); status != http.StatusOK || body != `{"status":"alive"}`+"\n" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, body := p.Get("/readyz"); status != http.StatusServiceUnavailable ||
		body != `{"status":"not ready","troubles":["starting"]}`+"\n" {
		t.Errorf("/readyz: %d %s", status, body)
	}
	p.Signal(syscall.SIGINT)
	if code, log := p.Wait(); code != 0 || !strings.Contains(log, "stopped before it had begun") {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
}

func TestAPanicOfTheEndpointsDoesNotEndAWorker(t *testing.T) {
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + silent(t), "PROCESSIDEA_STORE=" + t.TempDir(),
		safegotest.PanicsVariable + `={"worker.endpoints": 0}`})
	if status, _ := p.Get("/healthz"); status != 0 {
		t.Errorf("/healthz: %d", status)
	}
	p.Signal(syscall.SIGINT)
	if code, log := p.Wait(); code != 0 || !strings.Contains(log, `"place":"worker.endpoints"`) ||
		!strings.Contains(log, "the endpoints are gone") {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
}

func TestAWorkerThatCannotReachTemporalEndsWithACodeOfItsOwn(t *testing.T) {
	data := t.TempDir()
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=127.0.0.1:1", "PROCESSIDEA_STORE=", "PROCESSIDEA_DATA=" + data})
	if code, log := p.Wait(); code != 4 ||
		!strings.Contains(log, "worker: reach Temporal at 127.0.0.1:1: unreachable: ") ||
		!strings.Contains(log, `"no store is set`) || !strings.Contains(log, data) {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
}

func TestAnAddressThatIsTakenIsNamedWithTheWayOut(t *testing.T) {
	taken := silent(t)
	p := workertest.Start(t, nil, "--listen", taken)
	if code, log := p.Wait(); code != 1 || !strings.Contains(log, taken) ||
		!strings.Contains(log, "--listen (PROCESSIDEA_LISTEN)") {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
}

func TestTheEndpointsTakeNothingButTheQuestion(t *testing.T) {
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + silent(t), "PROCESSIDEA_STORE=" + t.TempDir()})
	for path, want := range map[string]int{"/": http.StatusNotFound, "/debug/pprof/": http.StatusNotFound,
		"/metrics": http.StatusOK} {
		if status, _ := p.Get(path); status != want {
			t.Errorf("%s answers %d", path, status)
		}
	}
	r, err := http.Post(p.URL()+"/healthz", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a POST is answered %d, %v", r.StatusCode, err)
	}
}

func TestBadUsageHasACodeOfItsOwn(t *testing.T) {
	p := workertest.Start(t, []string{"PROCESSIDEA_MAX_CALLS=many"})
	if code, log := p.Wait(); code != 2 ||
		!strings.Contains(log, `worker: bad usage: read PROCESSIDEA_MAX_CALLS: "many": `) {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
}

// Nothing is reached before all settings are read: that Temporal is away would be another code.
func TestAllThatIsWrongWithTheSettingsIsSaidAtOnceAndFirst(t *testing.T) {
	t.Parallel()
	roles := filepath.Join(t.TempDir(), "roles.json")
	if err := os.WriteFile(roles, []byte(`{"roles": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := map[string]string{"PROCESSIDEA_MAX_CALLS": "many", "PROCESSIDEA_DRAIN": "soon",
		"PROCESSIDEA_KEYS": "k1:c2hvcnQ=", "PROCESSIDEA_HTTP_ALLOW": "http://x", "PROCESSIDEA_TOOL_SECRETS": "TOKEN",
		"PROCESSIDEA_MCP_COMMANDS": "npx x; *", "PROCESSIDEA_NOTIFY_URL": "x", "PROCESSIDEA_NOTIFY_FORMAT": "y",
		"PROCESSIDEA_DECIDERS": roles + "x", "PROCESSIDEA_PRICES": roles, "OPENAI_BASE_URL": "x", "OPENAI_RPM": "x",
		"OPENAI_TPM": "x", "OPENAI_SERVERS": "backup", "OTEL_EXPORTER_OTLP_ENDPOINT": "x", "PROCESSIDEA_HOOKS": roles,
		"PROCESSIDEA_ROLES": roles, "PROCESSIDEA_OIDC_ISSUER": "x", "PROCESSIDEA_GATEWAY_URL": "x",
		"PROCESSIDEA_GATEWAY_BEYOND": "x", "TEMPORAL_TLS": "x"}
	env := []string{"TEMPORAL_ADDRESS=127.0.0.1:1", "PROCESSIDEA_GATEWAY=127.0.0.1:0"}
	for name, value := range wrong {
		env = append(env, name+"="+value)
	}
	for _, flags := range [][]string{nil, {"--max-requests", "0"}} { // a flag that is wrong too hides none of them
		code, log := workertest.Start(t, env, flags...).Wait()
		_, said, _ := strings.Cut(log, "worker: bad usage: ")
		for variable := range wrong {
			if !strings.Contains(said, variable) {
				t.Errorf("%s is not said", variable)
			}
		}
		if code != 2 || len(flags) > 0 && !strings.Contains(said, flags[0]) || strings.Contains(said, "TEMPORAL_ADDRESS") {
			t.Errorf("it ended with %d:\n%s", code, log)
		}
	}
}

func TestReadyAsksTheWorkerThatRunsHere(t *testing.T) {
	p := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + silent(t), "PROCESSIDEA_STORE=" + t.TempDir()})
	_, port, _ := strings.Cut(strings.TrimPrefix(p.URL(), "http://"), ":")
	for _, at := range []string{"127.0.0.1:", "0.0.0.0:", ":", "[::]:"} {
		var err strings.Builder
		if code := service.Execute([]string{"ready", "--listen", at + port}, io.Discard, &err); code != 1 ||
			!strings.Contains(err.String(), `it answers 503: {"status":"not ready","troubles":["starting"]}`) {
			t.Errorf("%s: %d %s", at, code, &err)
		}
	}
	healthy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(healthy.Close)
	for at, want := range map[string]int{strings.TrimPrefix(healthy.URL, "http://"): 0, "127.0.0.1:1": 1,
		"nowhere": 2, "": 2} {
		if code := service.Execute([]string{"ready", "--listen", at}, io.Discard, io.Discard); code != want {
			t.Errorf("%q: %d, not %d", at, code, want)
		}
	}
}

func TestKeysThatDoNotFitAreBadUsageAndAreNotShown(t *testing.T) {
	dir := t.TempDir()
	begun, err := blobs.Open(t.Context(), dir)
	if err == nil {
		err = begun.EnsureID(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	store := "PROCESSIDEA_STORE=" + dir
	p := workertest.Start(t, []string{"PROCESSIDEA_KEYS=k1:c2hvcnQgYnV0IHNlY3JldA==", store})
	if code, log := p.Wait(); code != 2 ||
		!strings.Contains(log, "parse PROCESSIDEA_KEYS: entry 1: its key has 16 bytes") ||
		strings.Contains(log, "c2hvcnQ") {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
	entry, err := encryption.GenerateKey("k1")
	if err != nil {
		t.Fatal(err)
	}
	p = workertest.Start(t, []string{"PROCESSIDEA_KEYS=" + entry, "TEMPORAL_ADDRESS=127.0.0.1:1", store})
	if code, log := p.Wait(); code != 4 || !strings.Contains(log, `"msg":"encrypting","key":"k1"`) ||
		strings.Contains(log, entry) {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
	p = workertest.Start(t, []string{"TEMPORAL_ADDRESS=127.0.0.1:1", store})
	if code, log := p.Wait(); code != 2 ||
		!strings.Contains(log, "encrypted with key k1, and PROCESSIDEA_KEYS is not set") {
		t.Errorf("it ended with %d:\n%s", code, log)
	}
}
