package mcptool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/internal/safego"
)

// maxMessage is how large one message of a server may be.
const maxMessage = 16 << 20

var errTooLarge = fmt.Errorf(
	"the server's answer is larger than %d MB, which is the most that a message of an MCP server may have",
	maxMessage>>20)

// program is the transport to a program. Unlike the SDK's own it checks the program's standard output, which must
// contain only messages.
type program struct {
	cmd   *exec.Cmd
	said  *stderrTail // output that is not a message
	large atomic.Bool // a message was too large
}

// Connect starts the program.
func (p *program) Connect(ctx context.Context) (mcp.Connection, error) {
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	over := &mcp.IOTransport{
		// The connection is closed by closing standard input.
		Reader:        io.NopCloser(&messageReader{in: stdout, program: p, begins: true}),
		Writer:        &programEnding{stdin, p.cmd},
		MaxLineLength: maxMessage,
	}
	return over.Connect(ctx)
}

// messageReader passes on what a program writes, and notes lines that are no messages, and one that is too large.
type messageReader struct {
	in      io.Reader
	program *program
	begins  bool // the next byte begins a line
	strange bool // the line is no message
	length  int
}

// Read is called on a goroutine of the SDK.
func (m *messageReader) Read(p []byte) (n int, err error) {
	n, err = m.in.Read(p)
	if panicked := safego.Run("mcp.read", func() error { m.look(p[:n]); return nil }); panicked != nil {
		return 0, panicked
	}
	return n, err
}

func (m *messageReader) look(said []byte) {
	for rest := said; len(rest) > 0; {
		line, _, ended := bytes.Cut(rest, []byte("\n"))
		if text := bytes.TrimSpace(line); m.begins && len(text) > 0 {
			m.begins, m.strange = false, text[0] != '{' && text[0] != '['
		}
		if m.strange {
			_, _ = m.program.said.Write(append(bytes.Clone(line), '\n'))
		}
		m.length += len(line)
		if m.length > maxMessage {
			m.program.large.Store(true)
		}
		rest = rest[len(line):]
		if ended {
			rest = rest[1:]
			m.begins, m.strange, m.length = true, false, 0
		}
	}
}

// programEnding ends a program in the way of the protocol: it closes its standard input, then terminates it, then kills
// it.
type programEnding struct {
	io.WriteCloser
	cmd *exec.Cmd
}

const toEnd = 5 * time.Second

func (e *programEnding) Close() error {
	err := e.WriteCloser.Close()
	ended := make(chan struct{})
	safego.Go("mcp.program", e.cmd.Wait, func(error) { close(ended) })
	for _, urge := range []func() error{
		func() error { return e.cmd.Process.Signal(syscall.SIGTERM) }, func() error { return e.cmd.Process.Kill() },
		func() error { return nil },
	} {
		t := time.NewTimer(toEnd)
		select {
		case <-ended:
			t.Stop()
			return err
		case <-t.C:
			_ = urge()
		}
	}
	return errors.New("the program does not end")
}
