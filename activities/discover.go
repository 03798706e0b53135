package activities

import (
	"context"
	"fmt"

	"processidea/model/ideafile"
	"processidea/protocol"
)

// Discover asks an Idea's MCP servers for their tools. It is done once, when a process starts: the tools become Tools of
// its palette, each pinned by a digest.
func (a *Activities) Discover(ctx context.Context, idea map[string]any) (*ideafile.MCPPalette, error) {
	defer heartbeat(ctx)()
	read, problems := ideafile.ReadIdea(idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return &ideafile.MCPPalette{Problems: errs}, nil
	}
	if read.Simulated != nil {
		return &ideafile.MCPPalette{Tools: map[string]any{}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, protocol.DiscoverPatience)
	defer cancel()
	offers := map[string][]ideafile.MCPToolSpec{}
	for _, s := range read.ServersToList() {
		var err error
		offers[s.Name], err = a.MCP.List(ctx, s)
		if err != nil {
			return nil, withoutShutdownError(ctx, toolFailure(fmt.Errorf("MCP server %s: %w", s.Name, err)))
		}
	}
	f := read.ResolveMCPTools(offers)
	return &f, nil
}
