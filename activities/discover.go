package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/protocol"
)

// DiscoverMCPTools asks an Idea's MCP servers for their tools. It is done once, when a process starts: the tools become
// Tools of its palette, each pinned by a digest.
func (a *Activities) DiscoverMCPTools(ctx context.Context, idea map[string]any) (*mcppalette.Palette, error) {
	defer Heartbeat(ctx)()
	idea, err := a.restoreIdeaTools(ctx, idea)
	if err != nil {
		return nil, err
	}
	read, problems := ideafile.ReadIdea(idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return &mcppalette.Palette{Problems: errs}, nil
	}
	if read.Simulation != nil {
		return &mcppalette.Palette{ToolSources: map[string]any{}}, nil
	}
	patience := cmp.Or(a.MCPPatience, protocol.DiscoverPatience)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	offers := map[string][]mcppalette.ToolSpec{}
	for _, s := range read.MCPServersToAskForTools() {
		var err error
		offers[s.Name], err = a.MCP.List(ctx, s)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			// It hangs: another attempt would take as long.
			return nil, nonRetryableError(ideafile.CodeMCPUnreachable,
				fmt.Errorf("MCP server %s: it did not answer within %s: %w", s.Name, patience, err))
		}
		if err != nil {
			err = fmt.Errorf("MCP server %s: %w", s.Name, err)
			for _, lack := range a.missingForTools(read) { // all of it together
				err = fmt.Errorf("%w; %s", err, lack)
			}
			return nil, translateShutdownError(ctx, toolError(err))
		}
	}
	f := mcppalette.ResolveTools(read, offers)
	f.StoredTools, err = a.storePalette(ctx, f.AddToIdeaSource(idea))
	if f.StoredTools != nil {
		f.ToolSources = nil
	}
	return &f, err
}
