// Package command makes the whole of `starter`, and of `worker`, a program of one's own, with one's own tools in it:
// run, dev, check, simulate, worker and all other verbs know them.
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

// Option adds to the program what it does not have by itself.
type Option func(*settings)

type settings struct {
	name      string
	additions engine.Additions
}

// WithTools registers Go functions as tools beside the built-in ones. register is called once, before the command line
// is read. A name that is taken or unfit, and a type without a JSON Schema, panics then. It may be given several times.
func WithTools(register func(*tools.Registry)) Option {
	return func(s *settings) { s.additions.Register(register) }
}

// WithRunner adds a kind of Tool: Tools with `_activity: {"<kind>": …}` are run by x. A kind that is taken panics when
// it is first looked at.
func WithRunner(kind ideafile.ToolKind, x runner.Runner) Option {
	return func(s *settings) { s.additions.AddRunner(kind, x) }
}

// WithName is the program's name, as its messages and its help have it. Without it that is the name of the program's
// file.
func WithName(name string) Option { return func(s *settings) { s.name = name } }

// Main runs the command line that the program was called with, and ends the program with its exit code.
func Main(options ...Option) {
	os.Exit(Execute(os.Args[1:], os.Stdout, os.Stderr, options...))
}

// Execute runs one command line, and gives the exit code: 0 done, 1 the process failed or was cancelled, 2 bad usage or
// an invalid file, 3 it is paused or waits for a person, 4 the server or the LLM cannot be reached, 130 interrupted.
// The result alone goes to out, everything else to err. It catches SIGINT, SIGTERM and SIGHUP while it runs, and there
// may be one at a time.
func Execute(args []string, out, err io.Writer, options ...Option) int {
	s := settings{name: strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")}
	for _, o := range options {
		o(&s)
	}
	_ = engine.Parts{}.With(s.additions) // a name that is taken is said now
	print.Program = s.name
	return verbs.Execute(args, out, err, s.additions, embedded{})
}
