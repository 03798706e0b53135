package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"processidea/internal/devserver/devtest"
	"processidea/internal/safego/safegotest"
	"processidea/model/loop"
	"processidea/starter/internal/server"
)

// asProgram makes the test binary the program itself, with what the tests' flags build into it, such as the race
// detector.
const asProgram = "STARTER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asTemporal) != "" && filepath.Base(os.Args[0]) == "temporal" {
		if err := temporalCommand(os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(asProgram) != "" {
		safegotest.PanicFromEnvironment()
		os.Exit(asStarter())
	}
	release, err := devtest.LockMachineShared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	stopShared()
	release()
	os.Exit(code)
}

// longest is more than anything here takes, so that a broken program is a failed test and no hanging one.
const longest = 3 * time.Minute

// desk is a working directory and an environment to call the program from.
type desk struct {
	*testing.T
	dir     string
	env     []string
	program string // what is called
}

func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs the program with its server")
	}
	t.Parallel()
	env := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), asProgram + "=1", onTemporal + "=" + shared(t)}
	return &desk{T: t, dir: folder(t, files), env: env, program: os.Args[0]}
}

// ownServer has the program embed a server, as it does for its users. That takes longer, and is for tests of the
// server's beginning, its end, its files or its UI.
func (d *desk) ownServer() *desk { return d.set(onTemporal + "=") }

// at is a desk in another directory with the same environment.
func (d *desk) at(dir string) *desk { return &desk{d.T, dir, d.env[:len(d.env):len(d.env)], d.program} }

func (d *desk) set(variables ...string) *desk {
	d.env = append(d.env, variables...)
	return d
}

// ended is what a program that has ended left.
type ended struct {
	t        *testing.T
	line     string
	out, err string
	code     int
}

// do calls the program and waits for its end.
func (d *desk) do(args ...string) ended {
	d.Helper()
	return d.start(args...).end()
}

// program is the program at work.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	line  string
	out   bytes.Buffer
	said  *lines
	ended chan struct{}
}

// start calls the program and lets it work.
func (d *desk) start(args ...string) *program {
	d.Helper()
	p := &program{t: d.T, line: strings.Join(args, " "), said: newLines(), ended: make(chan struct{})}
	p.cmd = exec.Command(d.program, args...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = d.dir, d.env, &p.out, p.said
	if err := p.cmd.Start(); err != nil {
		d.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.said.close()
		close(p.ended)
	}()
	d.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// end waits for the end of the program.
func (p *program) end() ended {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(longest):
		p.t.Fatalf("%s goes on and on; it has said:\n%s", p.line, p.said)
	}
	return ended{p.t, p.line, p.out.String(), p.said.String(), p.cmd.ProcessState.ExitCode()}
}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// says waits until the program has written a line with the text to standard error, and gives that line.
func (p *program) says(text string) string {
	p.t.Helper()
	line, ok := p.said.wait(text)
	if !ok {
		p.t.Fatalf("%s does not say %q, but:\n%s", p.line, text, p.said)
	}
	return line
}

// code checks the exit code.
func (e ended) is(code int) ended {
	e.t.Helper()
	if e.code != code {
		e.t.Fatalf("%s: exit code %d, want %d\nout: %s\nerr: %s", e.line, e.code, code, e.out, e.err)
	}
	return e
}

// quiet checks that nothing was written to standard output.
func (e ended) quiet() ended {
	e.t.Helper()
	if e.out != "" {
		e.t.Errorf("%s wrote to standard output: %s", e.line, e.out)
	}
	return e
}

// tells checks that all texts stand on standard output.
func (e ended) tells(texts ...string) ended {
	e.t.Helper()
	for _, text := range texts {
		if !strings.Contains(e.out, text) {
			e.t.Errorf("%s does not print %q, but:\n%s", e.line, text, e.out)
		}
	}
	return e
}

// complains checks that a line of standard error holds the texts.
func (e ended) complains(texts ...string) ended {
	e.t.Helper()
	for line := range strings.Lines(e.err) {
		if !strings.HasPrefix(line, "starter: ") {
			continue
		}
		found := true
		for _, text := range texts {
			found = found && strings.Contains(line, text)
		}
		if found {
			return e
		}
	}
	e.t.Errorf("%s does not say %q on one line of standard error, but:\n%s", e.line, texts, e.err)
	return e
}

// json decodes standard output, which is one JSON value and nothing else.
func (e ended) json(into any) {
	e.t.Helper()
	d := json.NewDecoder(strings.NewReader(e.out))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		e.t.Fatalf("%s: %v in %q; err: %s", e.line, err, e.out, e.err)
	}
	if rest, _ := io.ReadAll(d.Buffered()); strings.TrimSpace(string(rest)) != "" {
		e.t.Errorf("%s: after the JSON stands %q", e.line, rest)
	}
}

func (e ended) result() (r loop.ProcessResult) {
	e.t.Helper()
	e.json(&r)
	return r
}

// lines takes what a program writes, and lets others wait for a line.
type lines struct {
	mu     sync.Mutex
	grown  *sync.Cond
	text   bytes.Buffer
	closed bool
}

func newLines() *lines {
	l := &lines{}
	l.grown = sync.NewCond(&l.mu)
	return l
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grown.Broadcast()
	return l.text.Write(p)
}

func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.grown.Broadcast()
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) wait(text string) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	defer context.AfterFunc(ctx, l.grown.Broadcast)()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		s := bufio.NewScanner(bytes.NewReader(l.text.Bytes()))
		for s.Scan() {
			if strings.Contains(s.Text(), text) {
				return s.Text(), true
			}
		}
		if l.closed || ctx.Err() != nil {
			return "", false
		}
		l.grown.Wait()
	}
}

// eventually waits until a condition holds.
func (d *desk) eventually(what string, holds func() bool) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), longest)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			d.Fatalf("it never came to be that %s", what)
		case <-tick.C:
		}
	}
}

// dev runs `starter dev` until the test is over, and gives how to reach it.
func (d *desk) dev(args ...string) (server.ServerInfo, *program) {
	d.Helper()
	p := d.start(append([]string{"dev", "--ui-port=-1"}, args...)...)
	p.says("stop with Ctrl-C")
	var n server.ServerInfo
	data, err := os.ReadFile(filepath.Join(d.dir, ".processidea", server.ServerFile))
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		d.Fatal(err)
	}
	return n, p
}

// folder makes a folder of files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
