package process

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/model/quality"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/display"
)

// This file finds the Tools of an opening process: it asks the MCP servers for theirs, and the worker what it binds
// each Tool to.

// If a server does not answer, the process pauses after a few attempts, as it does for an LLM.
const (
	maxMCPDiscoverAttempts = 3
	// the activity's own timeout is shorter, and names the slow step
	mcpDiscoverTimeout = protocol.DiscoverMCPToolsTimeout + 30*time.Second
)

// bindTools finds out which Tools there are, and binds them. The process is running then.
func (c *processCore) bindTools(ctx workflow.Context) error {
	err := c.discoverMCPTools(ctx)
	if err != nil {
		return err
	}
	prepareResult, err := c.prepareTools(ctx)
	c.phase = phaseRunning
	if err != nil {
		return err
	}
	c.recommendedSize = quality.RequestSizeFor(c.idea, prepareResult.Bindings)
	if prepareResult.StoredPalette != nil { // a NewStoredPalette in place of the Tools
		if err := c.changeTools(func(idea jsonval.Object) jsonval.Object {
			return ideafile.WithTools(idea, prepareResult.StoredPalette)
		}); err != nil {
			return err
		}
	}
	c.setup.Bindings, c.NotifiesPeople, c.MinimizesActions = prepareResult.Bindings, prepareResult.CanNotify,
		prepareResult.MinimizesActions
	c.LLMMayAdaptValues = c.idea.Config.AdaptValuesWithLLM && (prepareResult.HasLLM || c.start.ScriptedReplies != "")
	return nil
}

// changeTools replaces the Tools of the Idea, in this run and in later ones.
func (c *processCore) changeTools(change func(idea jsonval.Object) jsonval.Object) error {
	idea, problems := ideafile.ReadIdeaWithoutCheckingTools(change(c.idea.Source))
	if err := invalidIdeaError(problems); err != nil {
		return err
	}
	c.setIdea(idea)
	c.start.Idea = change(c.start.Idea)
	return nil
}

// prepareToolsTimeout is generous: a palette may have thousands of Tools, and a machine may be slow.
const prepareToolsTimeout = 3 * time.Minute

// prepareTools binds the Tools once the worker has all that they need. A lack pauses the process before it has an
// effect; when somebody resumes it, the worker is asked again.
func (c *processCore) prepareTools(ctx workflow.Context) (*protocol.PrepareResult, error) {
	for {
		prepareResult, err := c.preparedTools, error(nil)
		if c.preparedTools = nil; prepareResult == nil {
			prepareResult, err = prepareTools(ctx, c.idea.Source, c.start.Delegation)
		}
		if err != nil {
			return nil, err
		}
		if prepareResult.NoUsableLLMReason != "" && c.start.ScriptedReplies == "" {
			prepareResult.MissingRequirements = append(prepareResult.MissingRequirements,
				prepareResult.NoUsableLLMReason)
		}
		if len(prepareResult.MissingRequirements) == 0 {
			return prepareResult, nil
		}
		if err := c.pauseUntilResumed(ctx, diag.Faultf(ideafile.CodeToolAccessDenied,
			"the worker lacks what the process needs: %s. Nothing has run. "+
				"Mend that where the worker runs, start it again, and resume the process: starter resume %s",
			strings.Join(prepareResult.MissingRequirements, "; "), c.processID)); err != nil {
			return nil, err
		}
	}
}

// pauseUntilResumed pauses an opening process until somebody resumes or cancels it.
func (c *processCore) pauseUntilResumed(ctx workflow.Context, reason *diag.Fault) error {
	c.variant.pauseWithFault(reason)
	c.variant.showStarting(ctx)
	c.handleSignalsUntil(ctx, func() bool { return c.variant.pauseReason() == nil })
	if c.mustStop(ctx) {
		return c.variant.cancel(ctx)
	}
	return nil
}

// prepareTools makes the worker check the Idea, with its delegates, and return the Tools that it knows.
func prepareTools(ctx workflow.Context, idea jsonval.Object,
	d protocol.DelegationContext) (*protocol.PrepareResult, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: prepareToolsTimeout, ScheduleToCloseTimeout: prepareToolsTimeout,
		Summary: "bind the tools",
	})
	var r protocol.PrepareResult
	err := workflow.ExecuteLocalActivity(ctx, protocol.ActivityPrepareProcess, idea, d).Get(ctx, &r)
	if err != nil {
		return nil, err
	}
	return &r, invalidIdeaError(r.Problems)
}

// discoverMCPTools asks the Idea's MCP servers for their tools and makes them Tools of the palette. A server that
// cannot be asked pauses the process; when somebody resumes it, the servers are asked again.
func (c *processCore) discoverMCPTools(ctx workflow.Context) error {
	for len(c.idea.MCPServersToAskForTools()) > 0 {
		addition, err := c.askMCPServers(ctx)
		if c.mustStop(ctx) {
			return c.variant.cancel(ctx)
		}
		if err == nil {
			return c.addMCPTools(ctx, addition)
		}
		if err := c.pauseUntilResumed(ctx, mcpDiscoveryFault(err)); err != nil {
			return err
		}
	}
	return nil
}

// mustStop reports whether the process was cancelled, or one that it belongs to is gone.
func (c *processCore) mustStop(ctx workflow.Context) bool { return ctx.Err() != nil || c.isOrphaned }

// handleSignalsUntil handles people's signals until holds returns true. That may take minutes: people must see the
// outcome of their signals immediately, and the order of pause and resume matters.
func (c *processCore) handleSignalsUntil(ctx workflow.Context, condition func() bool) {
	for !condition() && !c.mustStop(ctx) {
		c.inbox.Wait(ctx)
		if !condition() {
			c.variant.showStarting(ctx)
		}
	}
}

// mcpDiscoveryFault words why servers could not be asked.
func mcpDiscoveryFault(err error) *diag.Fault {
	if protocol.FaultCodeOf(err) != "" {
		return protocol.FaultOf(err)
	}
	f := diag.Faultf(ideafile.CodeMCPUnreachable, "no worker could ask the MCP servers for their tools in time")
	var timeoutErr *temporal.TimeoutError
	var previousError string // what the attempt before said
	if errors.As(err, &timeoutErr) && timeoutErr.HasLastHeartbeatDetails() &&
		timeoutErr.LastHeartbeatDetails(&previousError) == nil && previousError != "" {
		f.Message += "; the attempt before: " + previousError
	}
	return f
}

func (c *processCore) askMCPServers(ctx workflow.Context) (addition mcppalette.PaletteAddition, err error) {
	var serverNames []string
	for _, s := range c.idea.MCPServersToAskForTools() {
		serverNames = append(serverNames, s.Name)
	}
	c.pendingMCPServerNames = serverNames
	defer func() { c.pendingMCPServerNames = nil }()
	display.SetDetails(ctx, fmt.Sprintf("**%s** — %s\n", display.EscapeMarkdown(c.title()),
		display.EscapeMarkdown(c.askingMCPServersText())))
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: mcpDiscoverTimeout, HeartbeatTimeout: activity.HeartbeatTimeout(ctx),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumAttempts: maxMCPDiscoverAttempts},
		Summary: display.TruncateBytes("ask MCP servers for their tools: "+strings.Join(serverNames, ", "), 200),
	})
	discoveryFuture := workflow.ExecuteActivity(ctx, protocol.ActivityDiscoverMCPTools, c.idea.Source)
	c.inbox.OnFutureReady(discoveryFuture, func(workflow.Future) {})
	c.handleSignalsUntil(ctx, discoveryFuture.IsReady)
	if !discoveryFuture.IsReady() {
		return addition, ctx.Err()
	}
	return addition, discoveryFuture.Get(ctx, &addition)
}

// askingMCPServersText names the MCP servers that are being asked, and how long that may take.
func (c *processCore) askingMCPServersText() string {
	prefix := "asking MCP server "
	if len(c.pendingMCPServerNames) > 1 {
		prefix = "asking MCP servers "
	}
	return prefix + strings.Join(c.pendingMCPServerNames, ", ") + " for tools, which may take " +
		protocol.DiscoverMCPToolsTimeout.String()
}

// addMCPTools adds the servers' tools to the Idea, in this run and in later ones.
func (c *processCore) addMCPTools(ctx workflow.Context, addition mcppalette.PaletteAddition) error {
	err := invalidIdeaError(addition.Problems)
	if err == nil {
		err = c.changeTools(addition.AddToIdeaSource)
	}
	if err != nil {
		return err
	}
	for _, note := range c.idea.MCPOmissionNotes() {
		workflow.GetLogger(ctx).Warn("a tool of an MCP server is not used as it is offered", "note", note)
	}
	return nil
}
