package devserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"processidea/internal/devserver"
)

// A test that needs a process of its own runs the test binary again, with these set.
const (
	actVariable = "DEVSERVER_TEST_ACT"
	dirVariable = "DEVSERVER_TEST_DIR"
)

// acts are what such a process can do; each returns its exit code.
var acts = map[string]func(dir string) int{"hold": hold, "pass": pass}

// hold starts a server and a workflow, says so, and waits to be killed.
func hold(dir string) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := devserver.Start(ctx, devserver.Options{Dir: dir, UIPort: -1})
	if err != nil {
		return complain(err)
	}
	c, err := connect(s.Address(), s.Namespace())
	if err != nil {
		return complain(err)
	}
	if err := openGreet(ctx, c, "held"); err != nil {
		return complain(err)
	}
	fmt.Println("open")
	// Its standard input ends when the test that started it is gone.
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 1
}

// pass starts a server with its UI, uses both, and stops them.
func pass(dir string) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := devserver.Start(ctx, devserver.Options{Dir: dir})
	if err != nil {
		return complain(err)
	}
	defer s.Stop()
	for _, path := range []string{"", "/api/v1/namespaces", "/api/v1/namespaces/nowhere", "/nothing/here"} {
		if _, _, err := get(ctx, s.UIURL()+path); err != nil {
			return complain(err)
		}
	}
	c, err := connect(s.Address(), s.Namespace())
	if err != nil {
		return complain(err)
	}
	defer c.Close()
	if err := openGreet(ctx, c, "passing"); err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// process is this test binary at work on an act.
type process struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func perform(t *testing.T, act, dir string) *process {
	t.Helper()
	cmd := command(t, act, dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &process{cmd, bufio.NewReader(out)}
}

func command(t *testing.T, act, dir string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(within(t), binary)
	cmd.Env = append(os.Environ(), actVariable+"="+act, dirVariable+"="+dir)
	return cmd
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("read from the other process: %v", err)
	}
	return strings.TrimSpace(line)
}

// kill is kill -9: nothing of the process gets to say goodbye.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
}
