package process

import (
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/protocol"
	"processidea/workflows/internal/activity"
	"processidea/workflows/internal/display"
)

// This file looks up the Tools of a process that opens: those that its MCP servers offer, and what this worker binds
// each to.

// If a server does not answer, the process pauses after a few attempts, as it does for an LLM.
const (
	discoverAttempts = 3
	// the activity itself says before that what took so long
	discoverTimeout = protocol.DiscoverPatience + 30*time.Second
)

// bindTools finds out which Tools there are, and binds them. The process is open then.
func (c *processCore) bindTools(ctx workflow.Context) error {
	err := c.discoverMCPTools(ctx)
	if err != nil {
		return err
	}
	prepared, err := c.prepareTools(ctx)
	c.phase = running
	if err != nil {
		return err
	}
	if prepared.Palette != nil {
		if err := c.useStoredPalette(prepared.Palette); err != nil {
			return err
		}
	}
	c.setup.Bindings, c.notifiesPeople, c.savesActions = prepared.Bindings, prepared.Notify, prepared.SaveActions
	c.llmMayAdapt = c.idea.Config.AdaptValuesWithLLM && (prepared.LLM || c.start.Replies != "")
	return nil
}

// useStoredPalette puts what stands for the stored Tools in their place, in this run and in those to come.
func (c *processCore) useStoredPalette(palette map[string]any) error {
	idea, problems := ideafile.ReadIdeaWithCheckedTools(ideafile.WithTools(c.idea.Source, palette))
	err := invalidIdeaError(problems)
	if err != nil {
		return err
	}
	c.setIdea(idea)
	c.start.Idea = ideafile.WithTools(c.start.Idea, palette)
	return nil
}

// prepareTimeout is generous: a palette may have thousands of Tools, and a machine may be slow.
const prepareTimeout = 3 * time.Minute

// prepareTools binds the Tools once the worker lacks nothing that they need. What it lacks pauses the process before
// anything of it has an effect; when somebody resumes it, the worker is asked again.
func (c *processCore) prepareTools(ctx workflow.Context) (*protocol.PrepareResult, error) {
	for {
		prepared, err := c.prepared, error(nil)
		if c.prepared = nil; prepared == nil {
			prepared, err = prepareTools(ctx, c.idea.Source, c.start.Delegation)
		}
		if err != nil {
			return nil, err
		}
		if prepared.LacksLLM != "" && c.start.Replies == "" {
			prepared.Lacks = append(prepared.Lacks, prepared.LacksLLM)
		}
		if len(prepared.Lacks) == 0 {
			return prepared, nil
		}
		c.own.pauseWithFault(diag.Faultf(ideafile.CodeNotAllowed,
			"the worker lacks what the process needs: %s. Nothing has run. "+
				"Mend that where the worker runs, start it again, and resume the process: starter resume %s",
			strings.Join(prepared.Lacks, "; "), c.processID))
		c.own.showStarting(ctx)
		c.handleSignalsUntil(ctx, func() bool { return c.own.pauseReason() == nil })
		if c.mustStop(ctx) {
			return nil, c.own.cancel(ctx)
		}
	}
}

// prepareTools has the worker check the Idea, with its delegates, and say which Tools it knows.
func prepareTools(ctx workflow.Context, idea map[string]any,
	d protocol.DelegationContext) (*protocol.PrepareResult, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: prepareTimeout, Summary: "bind the tools",
	})
	var r protocol.PrepareResult
	err := workflow.ExecuteLocalActivity(ctx, protocol.ActivityPrepare, idea, d).Get(ctx, &r)
	if err != nil {
		return nil, err
	}
	return &r, invalidIdeaError(r.Problems)
}

// discoverMCPTools asks the Idea's MCP servers for their tools and makes them Tools of the palette. A server that
// cannot be asked pauses the process; when somebody resumes it, the servers are asked again.
func (c *processCore) discoverMCPTools(ctx workflow.Context) error {
	for len(c.idea.MCPServersToAskForTools()) > 0 {
		found, err := c.askMCPServers(ctx)
		if c.mustStop(ctx) {
			return c.own.cancel(ctx)
		}
		if err == nil {
			return c.addMCPTools(ctx, found)
		}
		c.own.pauseWithFault(mcpDiscoveryFault(err))
		c.own.showStarting(ctx)
		c.handleSignalsUntil(ctx, func() bool { return c.own.pauseReason() == nil })
		if c.mustStop(ctx) {
			return c.own.cancel(ctx)
		}
	}
	return nil
}

// mustStop reports whether the process was cancelled, or one that it belongs to is gone.
func (c *processCore) mustStop(ctx workflow.Context) bool { return ctx.Err() != nil || c.orphaned }

// handleSignalsUntil handles what people signal until something holds. That may take minutes: people must see at once
// what became of their signals, and a pause and a resume mean something in the order in which they come.
func (c *processCore) handleSignalsUntil(ctx workflow.Context, holds func() bool) {
	for !holds() && !c.mustStop(ctx) {
		c.inbox.Wait(ctx)
		if !holds() {
			c.own.showStarting(ctx)
		}
	}
}

// mcpDiscoveryFault words why servers could not be asked.
func mcpDiscoveryFault(err error) *diag.Fault {
	if protocol.FaultCodeOf(err) == "" {
		return &diag.Fault{Code: ideafile.CodeMCPUnreachable,
			Message: "no worker could ask the MCP servers for their tools in time"}
	}
	return protocol.FaultOf(err)
}

func (c *processCore) askMCPServers(ctx workflow.Context) (found mcppalette.Palette, err error) {
	var names []string
	for _, s := range c.idea.MCPServersToAskForTools() {
		names = append(names, s.Name)
	}
	c.askedMCPServers = names
	defer func() { c.askedMCPServers = nil }()
	display.SetDetails(ctx, fmt.Sprintf("**%s** — %s\n", display.EscapeMarkdown(c.title()),
		display.EscapeMarkdown(c.askingMCPServersText())))
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: discoverTimeout, HeartbeatTimeout: activity.HeartbeatTimeout(ctx),
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumAttempts: discoverAttempts},
		Summary: display.TruncateBytes("ask MCP servers for their tools: "+strings.Join(names, ", "), 200),
	})
	answer := workflow.ExecuteActivity(ctx, protocol.ActivityDiscover, c.idea.Source)
	c.inbox.OnFutureReady(answer, func(workflow.Future) {})
	c.handleSignalsUntil(ctx, answer.IsReady)
	if !answer.IsReady() {
		return found, ctx.Err()
	}
	return found, answer.Get(ctx, &found)
}

// askingMCPServersText says which MCP servers are being asked, and how long that may take.
func (c *processCore) askingMCPServersText() string {
	what := "asking MCP server "
	if len(c.askedMCPServers) > 1 {
		what = "asking MCP servers "
	}
	return what + strings.Join(c.askedMCPServers, ", ") + " for tools, which may take " +
		protocol.DiscoverPatience.String()
}

// addMCPTools takes the Idea with the servers' tools in it as the one that counts, in this run and in those to come.
func (c *processCore) addMCPTools(ctx workflow.Context, found mcppalette.Palette) error {
	err := invalidIdeaError(found.Problems)
	if err != nil {
		return err
	}
	idea, problems := ideafile.ReadIdeaWithCheckedTools(found.AddToIdeaSource(c.idea.Source))
	err = invalidIdeaError(problems)
	if err != nil {
		return err
	}
	for _, note := range idea.MCPNotes() {
		workflow.GetLogger(ctx).Warn("a tool of an MCP server is not used as it is offered", "note", note)
	}
	c.setIdea(idea)
	c.start.Idea = found.AddToIdeaSource(c.start.Idea)
	return nil
}
