package main

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"processidea/internal/devserver/devtest"
	"processidea/starter/internal/exit"
)

// status asks a gateway for the list of processes.
func (d *desk) status(address, token string) int {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), http.MethodGet, address+"/api/processes", nil)
	if err != nil {
		d.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	answer.Body.Close()
	return answer.StatusCode
}

func TestDevServesTheGatewayAtAnAddressThatStaysTheSame(t *testing.T) {
	d := newDesk(t, nil)
	n, p := d.dev("--worker=false")
	u, err := url.Parse(n.GatewayURL)
	if err != nil || u.Query().Get("token") == "" {
		t.Fatalf("%q %v", n.GatewayURL, err)
	}
	address, token := "http://"+u.Host, u.Query().Get("token")
	p.says("its desk and HTTP API are at " + n.GatewayURL)
	if s := d.status(address, token); s != 200 {
		t.Errorf("with the token it answers %d", s)
	}
	if s := d.status(address, token+"x"); s != 401 {
		t.Errorf("with another it answers %d", s)
	}
	info, err := os.Stat(filepath.Join(d.dir, ".processidea", "gateway.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if log, err := os.ReadFile(filepath.Join(d.dir, ".processidea", "worker.log")); err != nil ||
		strings.Contains(string(log), token) {
		t.Errorf("the token stands in the log: %v", err)
	}
	d.eventually("it is where it was, unless another program has taken that port", func() bool {
		before := n.GatewayURL
		p.signal(syscall.SIGINT)
		p.end().is(exit.Done)
		n, p = d.dev("--worker=false")
		return n.GatewayURL == before
	})
}

func TestTheUIOfAFolderStaysWhereItIs(t *testing.T) {
	d := newDesk(t, nil).ownServer()
	port := strconv.Itoa(devtest.FreePort(t)) // none of the usual ones
	n, p := d.dev("--worker=false", "--gateway-port=-1", "--ui-port="+port)
	p.signal(syscall.SIGINT)
	p.end().is(exit.Done)
	if again, _ := d.dev("--worker=false", "--gateway-port=-1", "--ui-port=0"); again.UIURL != n.UIURL ||
		!strings.HasSuffix(n.UIURL, ":"+port) {
		t.Errorf("it was at %s, and is at %s", n.UIURL, again.UIURL)
	}
}

func TestAGatewayRunsAloneAndInAWorker(t *testing.T) {
	d := newDesk(t, nil)
	n, _ := d.dev("--worker=false", "--gateway-port=-1")
	if n.GatewayURL != "" {
		t.Errorf("it serves %s", n.GatewayURL)
	}
	const token = "a-token-that-nobody-guesses"
	for name, args := range map[string][]string{"gateway": {"--listen", "127.0.0.1:0"},
		"worker": {"--gateway", "127.0.0.1:0", "--listen", ""}} {
		program := devtest.BuildProgram(t, ".", "processidea/"+name)
		env := append(d.env[:len(d.env):len(d.env)], "TEMPORAL_ADDRESS="+n.Address, "TEMPORAL_NAMESPACE="+n.Namespace,
			"PROCESSIDEA_STORE="+n.StorePlace)
		open := exec.Command(program, args...)
		open.Env, open.Dir = env, t.TempDir()
		if out, err := open.CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "PROCESSIDEA_GATEWAY_TOKEN") || open.ProcessState.ExitCode() != exit.Usage {
			t.Errorf("%s without a token: %v %s", name, err, out)
		}
		c := exec.Command(program, args...)
		said := newLines()
		c.Env, c.Dir, c.Stderr = append(env, "PROCESSIDEA_GATEWAY_TOKEN="+token), t.TempDir(), said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, ok := said.wait("the gateway listens")
		if !ok {
			t.Fatalf("%s: %s", name, said)
		}
		_, address, _ := strings.Cut(line, "address=")
		if s := d.status("http://"+strings.TrimSpace(address), token); s != 200 {
			t.Errorf("%s answers %d", name, s)
		}
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%s ended with %v: %s", name, err, said)
		}
	}
}
