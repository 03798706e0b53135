package mcptool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/internal/safego"
)

// maxMessageBytes bounds one message of a server, in bytes.
const maxMessageBytes = 16 << 20

var errMessageTooLarge = fmt.Errorf(
	"the server's answer is larger than %d MB, which is the most that a message of an MCP server may have",
	maxMessageBytes>>20)

// programTransport is the transport to a program. Unlike the SDK's own, it checks the program's standard output, which
// should contain only messages.
type programTransport struct {
	conn                   *conn
	cmd                    *exec.Cmd
	strayOutput            *outputTail // output that is not a message
	hasSeenTooLargeMessage atomic.Bool // a message was too large
}

// Connect starts the program.
func (p *programTransport) Connect(ctx context.Context) (mcp.Connection, error) {
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
	in := bufio.NewReader(stdout)
	innerTransport := &mcp.IOTransport{
		// The connection is closed by closing standard input.
		Reader:        io.NopCloser(&chunkReader{nextChunk: func() ([]byte, error) { return p.nextMessages(in) }}),
		Writer:        &programStopper{stdin, p.cmd},
		MaxLineLength: maxMessageBytes,
	}
	return innerTransport.Connect(ctx)
}

// nextMessages reads the next message that the program writes. Every other line is logged and left out, as other
// clients do: many programs log on their standard output.
func (p *programTransport) nextMessages(in *bufio.Reader) ([]byte, error) {
	for {
		line, err := readLine(in)
		text := bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark))
		match := answerBeginPattern.FindIndex(text)
		if match != nil && match[0] > 0 && !isJSONRPCMessage(text) && isWholeAnswer(text[match[0]:]) {
			_, _ = p.strayOutput.Write(append(text[:match[0]:match[0]], '\n'))
			text = text[match[0]:]
		}
		var lines []byte
		for _, message := range splitMessages(text) {
			if isJSONRPCMessage(message) {
				lines = append(append(lines, p.conn.ensureReadable(message, nil)...), '\n')
			}
		}
		switch {
		case errors.Is(err, errMessageTooLarge):
			p.hasSeenTooLargeMessage.Store(true)
			return nil, err
		case len(lines) > 0:
			return lines, err
		case len(text) > 0:
			_, _ = p.strayOutput.Write(append(text, '\n'))
		}
		if err != nil {
			return nil, err
		}
	}
}

// answerBeginPattern finds where an answer may begin in a line that begins with other text, such as a progress bar.
var answerBeginPattern = regexp.MustCompile(`\{\s*"(?:jsonrpc|id|result|error)"\s*:`)

func isWholeAnswer(text []byte) bool {
	return json.Valid(text) && isJSONRPCMessage(text) && isResponse(text)
}

func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > maxMessageBytes {
			return nil, errMessageTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// programStopper ends a program in the way of the protocol: it closes the program's standard input, then terminates it,
// then kills it.
type programStopper struct {
	io.WriteCloser
	cmd *exec.Cmd
}

const stopStepTimeout = 5 * time.Second

func (e *programStopper) Close() error {
	err := e.WriteCloser.Close()
	ended := make(chan struct{})
	safego.Go("mcp.program", e.cmd.Wait, func(error) { close(ended) })
	for _, stop := range []func() error{
		func() error { return e.cmd.Process.Signal(syscall.SIGTERM) }, func() error { return e.cmd.Process.Kill() },
		func() error { return nil },
	} {
		t := time.NewTimer(stopStepTimeout)
		select {
		case <-ended:
			t.Stop()
			return err
		case <-t.C:
			_ = stop()
		}
	}
	return errors.New("the program does not end")
}
