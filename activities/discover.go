package activities

import (
	"context"
	"errors"
	"fmt"

	"processidea/activities/tools"
	"processidea/model/ideafile"
	"processidea/protocol"
)

// Discover asks an Idea's MCP servers for their tools, once, when a process starts: from then on they are Tools of its
// palette, pinned by a digest.
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
		if offers[s.Name], err = a.MCP.List(ctx, s); err != nil {
			return nil, unreported(ctx, failure(fmt.Errorf("MCP server %s: %w", s.Name, err)))
		}
	}
	f := read.WithMCPTools(offers)
	return &f, nil
}

// callMCP calls a tool of an MCP server.
func (a *Activities) callMCP(ctx context.Context, in protocol.ExecuteInput, params map[string]any, key string) (any, error) {
	if in.Server == nil || in.MCP == nil {
		return nil, tools.Final(errors.New("config.mcp does not name the tool's server"))
	}
	return a.MCP.Call(ctx, *in.Server, *in.MCP, params, key)
}
