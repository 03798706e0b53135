package intake_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"processidea/client"
	"processidea/connect"
	"processidea/gateway/access"
	"processidea/gateway/hooks"
	"processidea/gateway/server"
	"processidea/store/blobs"
)

// asGateway has this test binary be a gateway, so that its memory is measured alone. It holds the folder with the files
// of Ideas and rules.
const asGateway = "INTAKE_TEST_GATEWAY"

const (
	token      = "a-token-for-the-tests-of-this-package"
	restPath   = "/-/rest" // has the gateway give back what memory it can
	hookPath   = "/hooks/orders"
	readySaid  = "ready at "
	hookRules  = `{"hooks": {"orders": {"idea": "idea.json", "secret": "$env:ORDERS", "instances": "[.a, .p, .instances]"}}}`
	startable  = `{"context": [{"type": "input", "schema": {"type": "object", "properties": {"a": {"items": {"type": "string"}}}}}]}`
	hookSecret = "a secret that nobody ever guesses"
)

func whsec() string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(hookSecret)) }

func TestMain(m *testing.M) {
	if folder := os.Getenv(asGateway); folder != "" {
		if err := serve(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// noServer is a Temporal server that does nothing: what is refused never reaches one.
type noServer struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (noServer) GetSystemInfo(context.Context,
	*workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}},
		nil
}

// serve answers until standard input ends.
func serve(folder string) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(g, noServer{})
	go func() { _ = g.Serve(l) }()
	values, err := blobs.Open(context.Background(), "mem://")
	if err != nil {
		return err
	}
	quiet := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	temporal, err := sdk.NewLazyClient(connect.ClientOptions(sdk.Options{HostPort: l.Addr().String(), Logger: quiet},
		values))
	if err != nil {
		return err
	}
	guard, err := access.NewTokenGuard(token, access.Person{Name: "ann"})
	if err != nil {
		return err
	}
	rules, err := hooks.Open(filepath.Join(folder, "hooks.json"), func(string) string { return whsec() })
	if err != nil {
		return err
	}
	gateway := server.New(server.Options{
		Client: client.New(temporal, "default", values), Guard: guard, Hooks: rules,
		Agents: server.AgentOptions{IdeaFolder: folder, AllowDecisions: true},
	})
	page := http.NewServeMux()
	page.Handle("/", gateway)
	page.HandleFunc(restPath, func(http.ResponseWriter, *http.Request) { debug.FreeOSMemory() })
	at, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(readySaid + at.Addr().String())
	go func() { _, _ = bufio.NewReader(os.Stdin).ReadByte(); os.Exit(0) }()
	return http.Serve(at, page) //nolint:gosec // a test's
}

// gateway is one in a process of its own.
type gateway struct {
	*testing.T
	url    string
	status string // the file that tells its memory
	clear  string // the file that has its peak forgotten
	cookie string
}

func begin(t *testing.T) *gateway {
	t.Helper()
	if _, err := os.Stat("/proc/self/clear_refs"); err != nil {
		t.Skip("the memory of a process is not told here")
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"hooks.json": hookRules, "idea.json": startable} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asGateway+"="+folder, "GOGC=50")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ready := strings.CutPrefix(strings.TrimSpace(line), readySaid)
	if !ready {
		t.Fatalf("it says %q, %v", line, err)
	}
	process := fmt.Sprintf("/proc/%d/", cmd.Process.Pid)
	return &gateway{T: t, url: "http://" + address, status: process + "status", clear: process + "clear_refs"}
}

var (
	resident = regexp.MustCompile(`VmRSS:\s+([0-9]+) kB`)
	peak     = regexp.MustCompile(`VmHWM:\s+([0-9]+) kB`)
)

// memory is in bytes.
func (g *gateway) memory(what *regexp.Regexp) int {
	g.Helper()
	data, err := os.ReadFile(g.status)
	if err != nil {
		g.Fatal(err)
	}
	m := what.FindSubmatch(data)
	if m == nil {
		g.Fatalf("%s tells nothing of it", g.status)
	}
	kb, _ := strconv.Atoi(string(m[1]))
	return kb << 10
}

// taken is how many bytes of memory something takes at its peak.
func (g *gateway) taken(do func()) int {
	g.Helper()
	answer, err := http.Get(g.url + restPath) //nolint:gosec,noctx // the test's own gateway
	if err != nil {
		g.Fatal(err)
	}
	_ = answer.Body.Close()
	if err := os.WriteFile(g.clear, []byte("5"), 0o600); err != nil {
		g.Fatal(err)
	}
	before := g.memory(resident)
	do()
	return g.memory(peak) - before
}
