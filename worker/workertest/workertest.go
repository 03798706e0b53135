// Package workertest runs the production worker as a process of its own, for tests. The test binary itself is the
// worker: nothing has to be built, and what checks the test, such as the race detector, also checks the worker.
package workertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"processidea/examples/texttools"
	"processidea/internal/safego/safegotest"
	"processidea/worker/service"
)

// asWorkerEnvVariable is the variable that makes a test binary the worker.
const asWorkerEnvVariable = "PROCESSIDEA_TEST_AS_WORKER"

// RunIfWorker runs the worker, and does not return, if this process was started by Start. A test package that uses
// Start calls it before anything else, in an init function or in TestMain.
func RunIfWorker() {
	if os.Getenv(asWorkerEnvVariable) != "" {
		safegotest.PanicFromEnvironment()
		// for examples
		os.Exit(service.Execute(os.Args[1:], os.Stdout, os.Stderr, service.WithTools(texttools.Register)))
	}
}

// WorkerProcess is a worker that runs beside the test.
type WorkerProcess struct {
	t         testing.TB
	cmd       *exec.Cmd
	urlChan   chan string // of the worker's endpoints; closed when its log has ended
	knownURL  string
	urlOnce   sync.Once
	endedChan chan struct{}
	log       strings.Builder // complete once endedChan is closed
}

// Start starts a worker with these variables ("NAME=value") and flags. It is killed when the test is over, and its log
// is shown if the test has failed.
func Start(t testing.TB, env []string, flags ...string) *WorkerProcess {
	t.Helper()
	return StartProgram(t, os.Args[0], env, flags...)
}

// StartProgram does what Start does, with a worker that was built elsewhere. args are the verb that makes the program a
// worker, if it needs one, and then flags.
func StartProgram(t testing.TB, program string, env []string, args ...string) *WorkerProcess {
	t.Helper()
	verbCount := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if verbCount < 0 {
		verbCount = len(args)
	}
	p := &WorkerProcess{t: t, urlChan: make(chan string, 1), endedChan: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), program,
		slices.Concat(args[:verbCount], []string{"--listen", "127.0.0.1:0", "--log-format", "json"},
			args[verbCount:])...)
	p.cmd.Env = append(append(os.Environ(), asWorkerEnvVariable+"=1"), env...)
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatalf("start worker: %v", err)
	}
	go p.readLog(stderr)
	t.Cleanup(p.stop)
	return p
}

// readLog keeps the log, and finds the address of the endpoints in it.
func (p *WorkerProcess) readLog(stderr io.Reader) {
	defer close(p.endedChan)
	defer close(p.urlChan)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		p.log.WriteString(lines.Text() + "\n")
		var l struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Msg == "listening" {
			p.urlChan <- "http://" + l.Address
		}
	}
	_ = p.cmd.Wait()
}

func (p *WorkerProcess) stop() {
	_ = p.cmd.Process.Kill()
	<-p.endedChan
	if p.t.Failed() {
		p.t.Logf("worker %d ended with %v:\n%s", p.cmd.Process.Pid, p.cmd.ProcessState, p.log.String())
	}
}

// URL returns the address of the worker's endpoints, such as http://127.0.0.1:9464.
func (p *WorkerProcess) URL() string {
	p.urlOnce.Do(func() { p.knownURL = <-p.urlChan })
	return p.knownURL
}

// Get asks one of the worker's endpoints; status is 0 if nobody answers.
func (p *WorkerProcess) Get(path string) (httpStatus int, body string) {
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.URL()+path, nil)
	if err != nil {
		return 0, ""
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, ""
	}
	return answer.StatusCode, string(data)
}

// IsReady reports whether the worker says that it is ready. If the worker has ended, the test fails.
func (p *WorkerProcess) IsReady() bool {
	p.t.Helper()
	select {
	case <-p.endedChan:
		p.t.Fatal("the worker has ended")
	default:
	}
	status, _ := p.Get("/readyz")
	return status == http.StatusOK
}

// IsDraining reports whether the worker is draining.
func (p *WorkerProcess) IsDraining() bool {
	_, body := p.Get("/readyz")
	return strings.Contains(body, `"draining"`)
}

// Signal sends the worker a signal.
func (p *WorkerProcess) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatalf("signal worker: %v", err)
	}
}

// Wait waits for the worker's end, and returns its exit code, -1 if a signal ended it, and its log.
func (p *WorkerProcess) Wait() (exitCode int, log string) {
	p.t.Helper()
	select {
	case <-p.endedChan:
	case <-p.t.Context().Done():
		p.t.Fatal("wait for worker: the test is over")
	}
	return p.cmd.ProcessState.ExitCode(), p.log.String()
}
