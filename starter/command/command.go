// Package command builds a program of your own from all of `starter` and `worker`, with your own tools in it. Its verbs
// run, dev, check, simulate, worker and all others know these tools.
//
//	func main() {
//		command.Main(command.WithTools(func(r *tools.Registry) {
//			tools.Register(r, "greet", greet)
//		}))
//	}
//
// Such a program contains an embedded Temporal server, as `starter` does. A worker without one is package
// processidea/worker/service.
package command

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"processidea/model/ideafile"
	"processidea/starter/internal/print"
	"processidea/starter/internal/verbs"
	_ "processidea/store/buckets" // stores in buckets
	"processidea/tools"
	"processidea/tools/runner"
	"processidea/worker/engine"
)

// Option adds something to the program that `starter` does not have.
type Option func(*programSettings)

type programSettings struct {
	name      string
	additions engine.Additions
}

// WithTools registers Go functions as tools in addition to the built-in ones. register is called once, before the
// command line is read. It panics then on an invalid name, on a name in use and on a type without a JSON Schema.
// WithTools may be given several times.
func WithTools(register func(*tools.Registry)) Option {
	return func(s *programSettings) { s.additions.Register(register) }
}

// WithRunner adds a kind of Tool: r runs Tools with `_activity: {"<kind>": …}`. If the kind exists already, the program
// panics when it first collects its runners.
func WithRunner(kind ideafile.ToolKind, r runner.Runner) Option {
	return func(s *programSettings) { s.additions.AddRunner(kind, r) }
}

// WithName sets the program's name in its messages and its help. The default is the name of the program's file.
func WithName(name string) Option { return func(s *programSettings) { s.name = name } }

// Main runs the command line that the program was called with, and ends the program with its exit code.
func Main(options ...Option) {
	os.Exit(Execute(os.Args[1:], os.Stdout, os.Stderr, options...))
}

// Execute runs one command line, and returns the exit code: 0 done, 1 the process failed or was cancelled, 2 bad usage
// or an invalid file, 3 it is paused or waits for a person, 4 the server or the LLM cannot be reached, 5 it is
// forgotten but not everywhere, 130 interrupted. Only the result goes to out, everything else to err. It catches
// SIGINT, SIGTERM and SIGHUP while it runs. Only one call may run at a time.
func Execute(args []string, stdout, stderr io.Writer, options ...Option) int {
	s := programSettings{name: strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")}
	for _, o := range options {
		o(&s)
	}
	_ = engine.Dependencies{}.With(s.additions) // panics now if a tool's name is taken
	print.ProgramName = s.name
	return verbs.Execute(args, stdout, stderr, s.additions, embeddedServer{})
}
