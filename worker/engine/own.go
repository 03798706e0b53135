package engine

import (
	"maps"

	"processidea/model/ideafile"
	"processidea/tools"
	"processidea/tools/runner"
)

// Own is what a program of one's own brings along beside what is built in.
type Own struct {
	// Tools are Go functions; nil: none.
	Tools *tools.Registry
	// Runners run kinds of Tools, beside those of package kinds.
	Runners map[ideafile.ToolKind]runner.Runner
}

// With adds what a program of one's own brings to what the environment gives. It panics on a tool whose name is taken.
func (p Parts) With(own Own) Parts {
	p = p.FromEnvironment()
	p.Tools.Include(own.Tools)
	all := map[ideafile.ToolKind]runner.Runner{}
	maps.Copy(all, p.Runners)
	maps.Copy(all, own.Runners)
	p.Runners = all
	return p
}
