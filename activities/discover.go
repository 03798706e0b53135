package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"

	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// DiscoverMCPTools asks an Idea's MCP servers for their tools. It is done once, when a process starts: the tools become
// Tools of its palette, each pinned by a digest.
func (a *Activities) DiscoverMCPTools(ctx context.Context, idea jsonval.Object) (*mcppalette.Palette, error) {
	var before string // what the attempt before said
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &before)
	}
	defer Heartbeat(ctx, before)()
	idea, err := a.restoreIdeaTools(ctx, idea)
	if err != nil {
		return nil, err
	}
	read, problems := ideafile.ReadIdea(idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return &mcppalette.Palette{Problems: errs}, nil
	}
	if read.Simulation != nil {
		return &mcppalette.Palette{ToolSources: jsonval.Object{}}, nil
	}
	patience := cmp.Or(a.MCPPatience, protocol.DiscoverPatience)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	offers := map[string][]mcppalette.ToolSpec{}
	for _, s := range read.MCPServersToAskForTools() {
		var err error
		offers[s.Name], err = a.MCP.List(ctx, s)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			// The server hangs: another attempt would take as long.
			return nil, nonRetryableError(ideafile.CodeMCPUnreachable, withPreviousError(
				fmt.Errorf("MCP server %s: it did not answer within %s: %w", s.Name, patience, err), before))
		}
		info := activity.GetInfo(ctx)
		of := protocol.ExecuteInput{Process: info.WorkflowExecution.ID}
		wait, isLast := toolWait(info, of, err)
		if isLast {
			wait = 0
		}
		a.reportToolWait(ctx, of, "asking MCP server "+s.Name+" for its tools", err, wait)
		if err != nil {
			err = fmt.Errorf("MCP server %s: %w", s.Name, err)
			activity.RecordHeartbeat(ctx, jsonval.Clip(err.Error(), maxErrorMessage/2))
			err = withPreviousError(err, before)
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

// withPreviousError adds to an error what the attempt before said, which may say more.
func withPreviousError(err error, before string) error {
	if before == "" || err.Error() == before {
		return err
	}
	return fmt.Errorf("%w; the attempt before: %s", err, before)
}
