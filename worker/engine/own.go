package engine

import (
	"maps"

	"processidea/model/ideafile"
	"processidea/tools"
	"processidea/tools/runner"
)

// Additions holds the additions of a custom worker to the built-in Tools.
type Additions struct {
	// Tools are Go functions; nil: none.
	Tools *tools.Registry
	// Runners run kinds of Tools, beside those of package kinds.
	Runners map[ideafile.ToolKind]runner.Runner
}

// Register registers Go functions as tools. It panics on a name that is taken or unfit, and on a type without a JSON
// Schema.
func (o *Additions) Register(register func(*tools.Registry)) {
	if o.Tools == nil {
		o.Tools = tools.NewRegistry()
	}
	register(o.Tools)
}

// AddRunner adds a kind of Tool: Tools with `_activity: {"<kind>": …}` are run by x.
func (o *Additions) AddRunner(kind ideafile.ToolKind, r runner.Runner) {
	if o.Runners == nil {
		o.Runners = map[ideafile.ToolKind]runner.Runner{}
	}
	o.Runners[kind] = r
}

// With adds a custom program's Tools and runners to those of the environment. It panics on a tool whose name is taken.
func (p Dependencies) With(additions Additions) Dependencies {
	p = p.FillFromEnvironment()
	p.Tools.Include(additions.Tools)
	runners := map[ideafile.ToolKind]runner.Runner{}
	maps.Copy(runners, p.Runners)
	maps.Copy(runners, additions.Runners)
	p.Runners = runners
	return p
}
