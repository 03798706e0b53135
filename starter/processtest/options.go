package processtest

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"processidea/model/ideafile"
	"processidea/tools"
	"processidea/tools/runner"
	"processidea/worker/engine"
)

// Option says what a process is started with.
type Option func(*startSettings)

type startSettings struct {
	additions            engine.Additions
	fakes                *tools.Registry
	fakedToolNames       []string // the names of the Tools that have a fake
	envVars              map[string]string
	repliesText          *string
	instanceRows         []map[string]any
	replacesInstanceRows bool
	omitsMCPServers      bool
	restTimeout          time.Duration
}

// WithTools registers the Go tools that the process may use beside the built-in ones, as command.WithTools does.
func WithTools(register func(*tools.Registry)) Option {
	return func(s *startSettings) { s.additions.Register(register) }
}

// WithRunner adds a kind of Tool, as command.WithRunner does.
func WithRunner(kind ideafile.ToolKind, x runner.Runner) Option {
	return func(s *startSettings) { s.additions.AddRunner(kind, x) }
}

// Fake runs fn for a Tool of the Idea or of a delegate, whatever runs it otherwise: a Go function, HTTP, MCP, a
// delegate, or the LLM itself. In and Out are as for tools.Register: structs, or map[string]any and any. An error is
// retried unless tools.Final makes it final.
func Fake[In, Out any](tool string, fn func(context.Context, In) (Out, error)) Option {
	return func(s *startSettings) {
		tools.Register(s.fakes, fakeName(tool), fn)
		s.fakedToolNames = append(s.fakedToolNames, tool)
	}
}

// FakeResult is a Fake that gives the same result to each Call.
func FakeResult(tool string, result any) Option {
	return Fake(tool, func(context.Context, map[string]any) (any, error) { return result, nil })
}

// FakeError is a Fake that fails for good.
func FakeError(tool string, err error) Option {
	return Fake(tool, func(context.Context, map[string]any) (any, error) { return nil, tools.Final(err) })
}

// fakeName is the name under which a fake is registered, so that it replaces no Go function that other Tools use.
func fakeName(tool string) string { return "fake:" + tool }

// WithReplies sets the LLM's replies, each a line of a replies file, which may span several lines here: {"solution":
// {"calls": […]}}. They replace the folder's replies.jsonl. docs/idea-file.md, "Replies", describes a line.
func WithReplies(lines ...string) Option {
	return func(s *startSettings) {
		var text bytes.Buffer
		for _, line := range lines {
			if json.Compact(&text, []byte(line)) != nil {
				text.WriteString(line) // the reader reports what is wrong with it
			}
			text.WriteByte('\n')
		}
		replies := text.String()
		s.repliesText = &replies
	}
}

// WithInstances sets the rows of data that the process runs over, in place of the folder's. Without arguments there are
// none.
func WithInstances(rows ...map[string]any) Option {
	return func(s *startSettings) { s.instanceRows, s.replacesInstanceRows = rows, true }
}

// WithVariable sets a variable of the worker's environment, such as PROCESSIDEA_HTTP_ALLOW or PROCESSIDEA_DECIDERS.
// Process Idea's variables in the test program's own environment are ignored.
func WithVariable(name, value string) Option {
	return func(s *startSettings) { s.envVars[name] = value }
}

// WithoutMCPServers leaves out the Idea's MCP servers (config.mcp). Of the Tools that they would offer, only those with
// a Fake exist, with the parameters of the fake's In.
func WithoutMCPServers() Option { return func(s *startSettings) { s.omitsMCPServers = true } }

// WithTimeout sets how long the process may take to come to rest. The default is a minute.
func WithTimeout(d time.Duration) Option { return func(s *startSettings) { s.restTimeout = d } }
