package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"processidea/client"
	"processidea/connect"
	"processidea/gateway/access"
	"processidea/gateway/server"
	"processidea/internal/devserver/devtest"
	"processidea/store/blobs"
	"processidea/worker/engine"
)

// What all tests share: a Temporal server that can be started again, a worker, a store, and the browsers.
var (
	temporal *devtest.Server
	onDisk   devtest.Options
	engineOn *client.Client
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if !slices.ContainsFunc(browsers, func(b *browser) bool { return b.program() != "" }) {
		return m.Run() // each test says that it is skipped
	}
	release, err := devtest.LockMachineShared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer release()
	stop, err := begin()
	defer stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func begin() (stop func(), err error) {
	var undo []func()
	stop = func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}
	dir, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return stop, err
	}
	undo = append(undo, func() { _ = os.RemoveAll(dir) })
	onDisk = devtest.Options{Dir: filepath.Join(dir, "temporal"), SearchAttributes: connect.SearchAttributeTypes}
	if temporal, err = devtest.StartWithOptions(onDisk); err != nil {
		return stop, err
	}
	undo = append(undo, func() { temporal.Stop() })
	values, err := blobs.Open(context.Background(), "mem://")
	if err != nil {
		return stop, err
	}
	options := sdk.Options{HostPort: temporal.Address(), Namespace: temporal.Namespace(),
		Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))}
	of, err := sdk.Dial(connect.ClientOptions(options, values))
	if err != nil {
		return stop, err
	}
	undo = append(undo, of.Close)
	deciders, err := trustNobody(dir)
	if err != nil {
		return stop, err
	}
	w, err := engine.NewWorker(of, engine.Dependencies{Store: values, DeciderKeys: deciders})
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		return stop, err
	}
	undo = append(undo, w.Stop)
	engineOn = client.New(of, temporal.Namespace(), values)
	undo = append(undo, keepIn(dir))
	return stop, nil
}

// restartTemporal ends the Temporal server, and starts it again on what it left.
func restartTemporal(t *testing.T) {
	t.Helper()
	_, port, err := net.SplitHostPort(temporal.Address())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(port, &onDisk.Port); err != nil {
		t.Fatal(err)
	}
	temporal.Stop()
	again, err := devtest.StartWithOptions(onDisk)
	if err != nil {
		t.Fatal(err)
	}
	temporal = again
}

const token = "a-token-for-the-tests-of-this-package"

// house is a gateway that answers over HTTP, and can be started again at its address.
type house struct {
	*testing.T
	browser *browser // in which people come to it
	options server.Options
	address string
	url     string
	stop    func()
}

// open serves a gateway; set changes its options, knowing its address.
func open(t *testing.T, set ...func(*server.Options, string)) *house {
	t.Helper()
	guard, err := access.NewTokenGuard(token, access.Person{Name: "ann", Groups: []string{"finance"}})
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{Client: engineOn, Guard: guard}
	h := &house{T: t, browser: inChromium, address: "127.0.0.1:0"}
	l := h.listen()
	for _, f := range set {
		f(&o, h.url)
	}
	h.options = o
	h.serve(l)
	t.Cleanup(func() { h.stop() })
	return h
}

func (h *house) start() { h.Helper(); h.serve(h.listen()) }

func (h *house) listen() net.Listener {
	h.Helper()
	l, err := new(net.ListenConfig).Listen(h.Context(), "tcp", h.address)
	if err != nil {
		h.Fatal(err)
	}
	h.address, h.url = l.Addr().String(), "http://"+l.Addr().String()
	return l
}

func (h *house) serve(l net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	g := server.New(h.options)
	go func() { ended <- g.Serve(ctx, l) }()
	h.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			h.Error(err)
		}
	}
}

// ask sends a program's request, and gives what came back.
func (h *house) ask(method, path string, body any) (status int, answer map[string]any) {
	h.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		h.Fatal(err)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(h.Context()), method, h.url+path, bytes.NewReader(data))
	if err != nil {
		h.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &answer); err != nil {
			h.Fatalf("%s: %v: %s", path, err, data)
		}
	}
	return resp.StatusCode, answer
}

// payments is a process of which each instance has a Call that waits for people.
func payments(id string, rows ...string) map[string]any {
	return map[string]any{
		"id": id, "instances": json.RawMessage("[" + strings.Join(rows, ",") + "]"),
		"replies": strings.Repeat(`{"solution": {"calls": [], "output": null}}`+"\n", 6),
		"idea": json.RawMessage(`{
			"meta": {"path": "payment", "version": "1"},
			"schema": {"tools": {
				"pay": {"description": "Pays a customer.", "type": "object", "additionalProperties": false, "required": ["template", "values"],
					"properties": {"template": {"const": "†input.letter"}, "values": {"type": "object",
						"required": ["order", "cents"], "properties": {"order": {"type": "string", "description": "As the customer gave it."}, "cents": {"type": "number", "minimum": 1},
							"how": {"enum": ["card", "cash"]}, "urgent": {"type": ["boolean", "null"]}, "note": {"type": "string"},
							"lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}}}}},
					"_activity": "formatText", "_outputPath": "†state.receipt",
					"_approval": {"timeout": "72h", "onTimeout": "reject"},
					"_undo": {"tool": "say", "params": {"template": "No more.", "values": {}}}},
				"say": {"description": "Writes to a customer.", "type": "object", "properties": {"template": {"type": "string"}, "values": {"type": "object"}},
					"required": ["template", "values"], "_activity": "formatText", "_outputPath": "†state.receipt"}}},
			"context": [{"type": "input", "input": {"letter": "Order {order}: {cents} cents"}},
				{"type": "plan", "stage": "optimal", "plan": [{"_tool": "pay", "_instance": "*", "values": "†input.values"}]}]}`),
	}
}

// id is what a process of the test is called.
func (h *house) id() string { return strings.NewReplacer("/", "-", "#", "-").Replace(h.Name()) }

// pays begins a process of payments, and waits until they wait. It is ended with the test.
func (h *house) pays(rows ...string) (id string) {
	h.Helper()
	id = h.id()
	h.begin(payments(id, rows...), len(rows))
	return id
}

func (h *house) begin(start map[string]any, waiting int) {
	h.Helper()
	if status, answer := h.ask("POST", "/api/processes", start); status != http.StatusCreated {
		h.Fatalf("it was not started: %d %v", status, answer)
	}
	id := url.PathEscape(start["id"].(string))
	h.Cleanup(func() { _, _ = h.ask("POST", "/api/processes/"+id+"/cancel", map[string]any{}) })
	eventually(h, fmt.Sprint(waiting, " Calls of ", id, " wait"), func() bool {
		// As the inbox lists them, which asks of all processes.
		_, answer := h.ask("GET", "/api/approvals", nil)
		list, _ := answer["approvals"].([]any)
		there := 0
		for _, one := range list {
			if a, _ := one.(map[string]any); a["process"] == start["id"] {
				there++
			}
		}
		return there == waiting
	})
}

// receipts gives what the instances of a process wrote, in their order, once it has ended.
func (h *house) receipts(id string) string {
	h.Helper()
	var all []string
	var answer map[string]any
	eventually(h, id+" has ended", func() bool {
		var status int
		status, answer = h.ask("GET", "/api/processes/"+id+"/result?wait=20", nil)
		return status == http.StatusOK
	})
	instances, _ := answer["instances"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(instances)) {
		i, _ := instances[name].(map[string]any)
		state, _ := i["state"].(map[string]any)
		all = append(all, fmt.Sprint(state["receipt"]))
	}
	return strings.Join(all, "; ")
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	devtest.Eventually(t, what, holds)
}

func row(order string, cents int) string {
	return fmt.Sprintf(`{"values": {"order": %q, "cents": %d}}`, order, cents)
}
