package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	archives "processidea/client"
	"processidea/internal/devserver/devtest"
	"processidea/internal/longrun"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	_ "processidea/store/buckets" // the test binary is the workers, too
)

const (
	clusterToken     = "a-token-that-nobody-guesses"
	clusterID        = "many"
	clusterPartition = 20 * time.Second
)

// Each instance is looked into by a delegate, booked, and paid where a person has approved that.
const (
	clusterIdea = `{"meta": {"path": "cluster", "version": "1"}, "config": {"batch": 100},
	"schema": {"tools": {
		"look": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
			"_delegate": "look.json", "_output": {"type": "integer"}, "_outputPath": "looked"},
		"book": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
			"_activity": {"http": {"url": "%[1]s/book"}}, "_output": {}, "_outputPath": "booked"},
		"pay": {"type": "object", "properties": {"n": {"type": "integer"}, "looked": {}, "booked": {}},
			"required": ["n"], "_activity": {"http": {"url": "%[1]s/pay"}}, "_output": {}, "_outputPath": "paid",
			"_approval": {"when": {"properties": {"n": {"multipleOf": 10}}}}}}},
	"context": [{"type": "text", "text": "Look into each, book it, and pay."},
		{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"n": {"type": "integer"},
			"looked": {}, "booked": {}, "paid": {}}, "required": ["n", "looked", "booked", "paid"]}}%[2]s]}`
	clusterDelegate = `{"meta": {"path": "look", "version": "1"},
	"schema": {"tools": {"look": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
		"_activity": {"http": {"url": "%s/look"}}, "_output": {}, "_outputPath": "seen"}},
		"output": {"type": "integer"}},
	"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "look", "n": "†input.n"}],
		"output": "†input.n"}]}`
	clusterReplies = `{"when": "Look into each", "solution": {"calls": [` +
		`{"_tool": "look", "_instance": "*", "n": "†state.n"}, {"_tool": "book", "_instance": "*", "n": "†state.n"}, ` +
		`{"_tool": "pay", "_instance": "*", "n": "†state.n", "looked": "†state.looked", "booked": "†state.booked"}` +
		`], "output": null}}`
)

// effects counts what the Tools were asked for: by place and body the keys under which it was.
type effects struct {
	mu   sync.Mutex
	keys map[string]map[string]int
	last time.Time
	// longest is the longest time in which nothing was asked for.
	longest time.Duration
}

func (e *effects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		N int `json:"n"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	what := fmt.Sprintf("%s %d", r.URL.Path, body.N)
	if e.keys[what] == nil {
		e.keys[what] = map[string]int{}
	}
	e.keys[what][r.Header.Get("Idempotency-Key")]++
	now := time.Now()
	if !e.last.IsZero() {
		e.longest = max(e.longest, now.Sub(e.last))
	}
	e.last = now
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, body.N)
}

func (e *effects) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.keys)
}

// check holds what was done against what was to be done: all of it, and each under one key.
func (e *effects) check(t *testing.T, instances int) {
	t.Helper()
	repeated := 0
	for n := 1; n <= instances; n++ {
		for _, tool := range []string{"look", "book", "pay"} {
			what := fmt.Sprintf("/%s %d", tool, n)
			keys := e.keys[what]
			if len(keys) != 1 {
				t.Errorf("%s was asked for under %d keys: %v", what, len(keys), slices.Collect(maps.Keys(keys)))
			}
			for _, times := range keys {
				repeated += times - 1
			}
		}
	}
	t.Logf("%d effects, of which %d were asked for again under the same key; nothing was for %s at most", e.count(),
		repeated, e.longest.Round(time.Second))
}

// member is a program of the cluster, which is stopped and started again.
type member struct {
	name    string
	command func() *exec.Cmd
	ready   func(context.Context) error
	running *exec.Cmd
}

func (m *member) start(t *testing.T) {
	t.Helper()
	m.running = m.command()
	start(t, m.running, nil, syscall.SIGTERM)
	await(t, m.name+" is ready", m.ready)
}

func (m *member) stop(t *testing.T, by syscall.Signal) {
	t.Helper()
	if err := m.running.Process.Signal(by); err != nil {
		t.Fatalf("%s has ended by itself: %v", m.name, err)
	}
	_ = m.running.Wait()
}

// cluster is all of it.
type cluster struct {
	*bed
	address   string
	instances int // of which a person is asked about every tenth
	network   *link
	effects   *effects
	tools     string
	services  []*member
	workers   []*member
	gateways  []*member
	urls      []string // of the gateways
}

// request sends a body as JSON, and reads the answer; nil: there is none, or nobody reads it.
func request(ctx context.Context, method, url string, body, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(jsonval.Encode(jsonval.ToJSONValue(body))))
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+clusterToken)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answers %s: %.500s", url, answer.Status, data)
	case into == nil:
		return nil
	}
	return json.Unmarshal(data, into)
}

// answers is ready where an endpoint answers with 200.
func answers(url string) func(context.Context) error {
	return func(ctx context.Context) error { return request(ctx, http.MethodGet, url, nil, nil) }
}

// listens is ready where something takes connections.
func listens(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err
	}
}

// newCluster starts all of it, with the store at a place.
func newCluster(t *testing.T, instances int, place string) *cluster {
	t.Helper()
	c := readCompose(t)
	here := map[string]string{"POSTGRES_SEEDS": "127.0.0.1"}
	here["DB_PORT"] = startDatabase(t, c.Services["temporal"].Environment["POSTGRES_USER"])
	temporal := devtest.BuildProgram(t, ".", "./temporal")
	// A shard writes one thing at a time, and a transaction is several round trips: with few of both the delay is what
	// everything waits for.
	here["NUM_HISTORY_SHARDS"], here["SQL_MAX_CONNS"], here["SQL_MAX_IDLE_CONNS"] = "512", "100", "100"
	setUp(t, c, temporal, here)
	k := &cluster{instances: instances, effects: &effects{keys: map[string]map[string]int{}}}
	k.network, here["DB_PORT"] = startLink(t, here["DB_PORT"])
	env, ports := serverEnvironment(t, c, here)
	k.address = "127.0.0.1:" + ports["frontend"]
	for _, name := range []string{"history", "matching", "frontend", "worker"} {
		k.services = append(k.services, &member{name: "Temporal's " + name, ready: listens("127.0.0.1:" + ports[name]),
			command: func() *exec.Cmd {
				server := exec.Command(temporal)
				server.Env = append(slices.Clone(env), "TEMPORAL_SERVICES="+name)
				return server
			}})
		k.services[len(k.services)-1].start(t) // the first of them writes to the database what the cluster is
	}
	namespace := c.Services["worker"].Environment["TEMPORAL_NAMESPACE"]
	prepare(t, k.address, namespace)
	server := httptest.NewServer(k.effects)
	t.Cleanup(server.Close)
	k.tools = server.URL
	k.bed = newBed(t, k.address, namespace, place, []string{
		"PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(server.URL, "http://")})
	for n := range 2 {
		k.workers = append(k.workers, k.worker(t, n, "1"))
		k.workers[n].start(t)
	}
	k.current(t, "1")
	gateway := devtest.BuildProgram(t, root, "./gateway")
	for n := range 2 {
		at := "127.0.0.1:" + freePort(t)
		m := &member{name: "gateway " + strconv.Itoa(n+1), ready: answers("http://" + at + "/openapi.json"),
			command: func() *exec.Cmd {
				c := exec.Command(gateway, "--listen", at)
				c.Env = slices.Concat(os.Environ(), k.env, []string{"PROCESSIDEA_GATEWAY_TOKEN=" + clusterToken})
				return c
			}}
		m.start(t)
		k.gateways, k.urls = append(k.gateways, m), append(k.urls, "http://"+at)
	}
	return k
}

// worker is the nth of a version.
func (k *cluster) worker(t *testing.T, n int, build string) *member {
	at := "127.0.0.1:" + freePort(t)
	return &member{name: fmt.Sprintf("worker %d of version %s", n+1, build), ready: answers("http://" + at + "/healthz"),
		command: func() *exec.Cmd {
			c := exec.Command(os.Args[0], "--listen", at, "--log-format", "json", "--deployment", "cluster",
				"--build-id", build)
			c.Env = slices.Concat(os.Environ(), k.env, []string{"PROCESSIDEA_TEST_AS_WORKER=1"})
			return c
		}}
}

// current makes a version of the workers the current one.
func (k *cluster) current(t *testing.T, build string) {
	t.Helper()
	await(t, "version "+build+" is current", func(ctx context.Context) error {
		_, err := k.client.WorkerDeploymentClient().GetHandle("cluster").SetCurrentVersion(ctx,
			client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build})
		return err
	})
}

// begin starts the process.
func (k *cluster) begin(t *testing.T) client.WorkflowRun {
	t.Helper()
	var states strings.Builder
	for n := 1; n <= k.instances; n++ {
		fmt.Fprintf(&states, `, {"type": "state", "_instance": "%d", "state": {"n": %d}}`, n, n)
	}
	source := decoded(t, fmt.Sprintf(clusterIdea, k.tools, states.String()))
	idea, problems := ideafile.ReadIdea(source)
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	return k.bed.begin(t, clusterID, "cluster", idea, protocol.ProcessStart{Idea: source,
		ScriptedReplies: clusterReplies,
		Delegation: protocol.DelegationContext{Files: map[string]any{
			"look.json": decoded(t, fmt.Sprintf(clusterDelegate, k.tools))}}})
}

// disturb stops every part in its turn, by force and as one asks it to, cuts the database off, and brings the workers
// to another version. Each happens when the process has come so much further.
func (k *cluster) disturb(t *testing.T) {
	t.Helper()
	var acts []func()
	for _, m := range slices.Concat(k.services, k.workers, k.gateways) {
		for _, by := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
			acts = append(acts, func() {
				t.Logf("%s: %s", m.name, by)
				m.stop(t, by)
				m.start(t)
			})
		}
	}
	acts = append(acts, func() {
		t.Logf("the database is cut off for %s", clusterPartition)
		k.network.cutFor(clusterPartition)
	}, func() {
		t.Log("the workers are brought to another version")
		for n, old := range k.workers {
			k.workers[n] = k.worker(t, n, "2")
			k.workers[n].start(t)
			if n == 0 {
				k.current(t, "2")
			}
			old.stop(t, syscall.SIGTERM)
		}
	})
	// What waits for people is counted out: it may be done last.
	all := 3*k.instances - k.instances/10
	for n, act := range acts {
		await(t, "the process comes further", func(context.Context) error {
			if want := all * (n + 1) / (len(acts) + 2); k.effects.count() < want {
				return fmt.Errorf("%d of %d effects", k.effects.count(), want)
			}
			return nil
		})
		act()
	}
}

// decide approves through the gateways what waits, now through one and now through the other, until the process has
// ended. What a gateway that is just stopped has made of a decision is not known: who asks again sees.
func (k *cluster) decide(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	taken, failures := [2]int{}, map[string]int{}
	for n := 0; ; n++ {
		select {
		case <-ended:
			t.Logf("%d decisions were taken by one gateway, %d by the other; they could not answer: %v", taken[0],
				taken[1], failures)
			if min(taken[0], taken[1]) == 0 && k.instances >= 100 { // of a few decisions one may take all
				t.Error("one gateway took no decision")
			}
			return
		case <-time.After(500 * time.Millisecond):
		}
		some, err := k.approve(t.Context(), k.urls[n%2])
		if taken[n%2] += some; err != nil {
			failures[code.FindString(err.Error())]++
		}
	}
}

var code = regexp.MustCompile(`"code":"[^"]+"|connection re[a-z]+|EOF|$`)

func (k *cluster) approve(ctx context.Context, gateway string) (taken int, err error) {
	var list struct {
		Approvals []struct{ Process, Call, Digest string }
	}
	err = request(ctx, http.MethodGet, gateway+"/api/processes/"+clusterID+"/approvals", nil, &list)
	if err != nil || len(list.Approvals) == 0 {
		return 0, err
	}
	var decisions []map[string]any
	for _, a := range list.Approvals[:min(2, len(list.Approvals))] {
		decisions = append(decisions, map[string]any{"process": a.Process, "call": a.Call, "digest": a.Digest,
			"decision": "approve", "by": "ann"})
	}
	var answer struct {
		Results []struct{ Call, Outcome, Code, Reason string }
	}
	err = request(ctx, http.MethodPost, gateway+"/api/decisions", map[string]any{"decisions": decisions}, &answer)
	for _, r := range answer.Results {
		if r.Outcome == "taken" {
			taken++
		} else {
			err = fmt.Errorf(`%s: %s: %s "code":"%s"`, r.Call, r.Outcome, r.Reason, r.Code)
		}
	}
	return taken, err
}

// instances is more than a part has, so that the process with its store in a folder is split.
var instances = flag.Int("instances", 110, "how many the process of the cluster has")

// Four services of Temporal on a database that is 20 ms away, two workers, two gateways and one store: whatever of it is
// stopped, nothing is lost and nothing is done under two keys. It is not parallel, for it has the machine to itself.
func TestManyInstancesRunThroughWhileEveryPartOfAClusterIsStopped(t *testing.T) {
	longrun.SkipUnlessEnabled(t)
	release, err := devtest.LockMachineExclusive()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	t.Run("with the store in a folder", func(t *testing.T) { runThrough(t, *instances, t.TempDir()) })
	t.Run("with the store on S3", func(t *testing.T) { runThrough(t, *instances/2, startBucket(t)) })
}

// startBucket is the URL of an empty bucket on a server of S3's API.
func startBucket(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("store"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "any")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "any")
	return "s3://store?region=eu-central-1&use_path_style=true&endpoint=" + server.URL
}

func runThrough(t *testing.T, instances int, place string) {
	k := newCluster(t, instances, place)
	t.Logf("Temporal at %s, gateways at %v with the token %s", k.address, k.urls, clusterToken)
	begun := time.Now()
	run := k.begin(t)
	ended := make(chan struct{})
	var people errgroup.Group
	people.Go(func() error { k.decide(t, ended); return nil })
	k.disturb(t)
	var r loop.ProcessResult
	await(t, "the process ends", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if err := run.Get(ctx, &r); err != nil {
			return fmt.Errorf("after %d effects: %w", k.effects.count(), err)
		}
		return nil
	})
	close(ended)
	_ = people.Wait()
	t.Logf("%s after %s", r.Status, time.Since(begun).Round(time.Second))
	if r.Status != loop.StatusCompleted || r.Calls.Done != 3*instances || len(r.Instances) != instances {
		t.Errorf("it comes to %s with %+v of %d instances", r.Status, r.Calls, len(r.Instances))
	}
	k.effects.check(t, instances)
	archive, err := archives.OpenArchive(t.Context(), place, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	report, err := archive.Chain(clusterID).Verify(t.Context())
	if err != nil || !report.IsIntact || report.ChildChainCount < instances {
		t.Errorf("the chains are not whole: %v %+v", err, report)
	}
}
