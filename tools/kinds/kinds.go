// Package kinds lists the kinds of Tools that come with the program. It is the one place that knows them all. A new
// kind is a package that implements runner.Runner, and one line in NewRunnerRegistry. A kind for which a worker must be
// configured also needs a field of Deps and a line of WorkerRequirements.
//
// Workers, `starter check` and tests all use this list. For mere checking, Deps may be zero: no Runner needs its
// client to validate a spec. Only the Go functions in Deps.Tools are known.
package kinds

import (
	"processidea/model/ideafile"
	"processidea/tools"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
	"processidea/tools/runner"
)

// Deps are the dependencies of the Runners.
type Deps struct {
	Tools *tools.Registry
	HTTP  *httptool.Client
	MCP   *mcptool.Hub
}

// NewRunnerRegistry returns a registry of all kinds.
func NewRunnerRegistry(d Deps) *runner.Registry {
	r := runner.NewRegistry()
	r.Register(ideafile.KindGo, d.Tools)
	r.Register(ideafile.KindHTTP, d.HTTP)
	r.Register(ideafile.KindMCP, d.MCP)
	return r
}
