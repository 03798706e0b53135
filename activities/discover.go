package activities

import (
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
func (a *Activities) DiscoverMCPTools(ctx context.Context, idea jsonval.Object) (*mcppalette.PaletteAddition, error) {
	previousError := lastHeartbeatDetails[string](ctx) // what the attempt before said
	defer StartHeartbeats(ctx, previousError)()
	idea, err := a.restoreIdeaTools(ctx, idea)
	if err != nil {
		return nil, err
	}
	parsedIdea, problems := ideafile.ReadIdea(idea)
	if errs := problems.Errors(); len(errs) > 0 {
		return &mcppalette.PaletteAddition{Problems: errs}, nil
	}
	if parsedIdea.Simulation != nil {
		return &mcppalette.PaletteAddition{ToolSources: jsonval.Object{}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, protocol.DiscoverMCPToolsTimeout)
	defer cancel()
	specsByServer := map[string][]mcppalette.ToolSpec{}
	for _, s := range parsedIdea.MCPServersToAskForTools() {
		var err error
		specsByServer[s.Name], err = a.MCP.ListTools(ctx, s)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			// The server hangs: another attempt would take as long.
			return nil, nonRetryableError(ideafile.CodeMCPUnreachable, addPreviousError(
				fmt.Errorf("MCP server %s: it did not answer within %s: %w", s.Name, protocol.DiscoverMCPToolsTimeout,
					err),
				previousError))
		}
		info := activity.GetInfo(ctx)
		input := protocol.ExecuteInput{ProcessID: info.WorkflowExecution.ID}
		retryDelay, isLast := toolRetryDelay(info, input, err)
		if isLast {
			retryDelay = 0
		}
		a.reportToolWait(ctx, input, "asking MCP server "+s.Name+" for its tools", err, retryDelay)
		if err != nil {
			err = fmt.Errorf("MCP server %s: %w", s.Name, err)
			activity.RecordHeartbeat(ctx, jsonval.Clip(err.Error(), maxErrorChars/2))
			err = addPreviousError(err, previousError)
			for _, requirement := range a.missingToolRequirements(parsedIdea) { // all of it together
				err = fmt.Errorf("%w; %s", err, requirement)
			}
			return nil, translateShutdownError(ctx, toolError(err))
		}
	}
	addition := mcppalette.ResolveTools(parsedIdea, specsByServer)
	addition.StoredPalette, err = a.storePalette(ctx, addition.AddToIdeaSource(idea))
	if addition.StoredPalette != nil {
		addition.ToolSources = nil
	}
	return &addition, err
}

// addPreviousError adds to an error what the attempt before said, which may say more.
func addPreviousError(err error, previous string) error {
	if previous == "" || err.Error() == previous {
		return err
	}
	return fmt.Errorf("%w; the attempt before: %s", err, previous)
}
