package workflows

import (
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// Where a server does not answer, the process pauses after a few attempts, as it does for an LLM.
const (
	discoverAttempts = 3
	discoverTimeout  = protocol.DiscoverPatience + 30*time.Second // in which the activity says itself what took so long
)

// discover asks the Idea's MCP servers for their tools and makes them Tools of the palette. A server that cannot be asked
// pauses the process; it goes on when somebody resumes it.
func (p *process) discover(ctx workflow.Context) error {
	for len(p.idea.ServersToList()) > 0 {
		p.opening = true
		found, err := p.askServers(ctx)
		if ctx.Err() != nil || p.gone {
			return p.cancelledEarly(ctx)
		}
		if err == nil {
			if errs := found.Problems.Errors(); len(errs) > 0 {
				return temporal.NewNonRetryableApplicationError(errs.Error(), turn.CodeInvalidIdea, nil, errs)
			}
			p.opening = false
			return p.furnish(ctx, found)
		}
		p.mind.PauseFor(discoverFault(err))
		p.showOpening(ctx)
		p.listen(ctx, func() bool { return p.mind.PauseReason() == nil })
		if ctx.Err() != nil || p.gone {
			return p.cancelledEarly(ctx)
		}
	}
	return nil
}

// listen hears what people say until something holds. It may be minutes: nobody waits so long to be told, and a pause and
// a resume mean something in the order in which they come.
func (p *process) listen(ctx workflow.Context, holds func() bool) {
	for !holds() && ctx.Err() == nil && !p.gone {
		if p.inbox.wait(ctx); !holds() {
			p.showOpening(ctx)
		}
	}
}

// showOpening shows a process that has no instances yet.
func (p *process) showOpening(ctx workflow.Context) {
	switch {
	case p.parts != nil:
		p.showParts(ctx, p.partsStatus())
	case p.mind.PauseReason() != nil:
		p.show(ctx, loop.StepPaused)
	default:
		p.show(ctx, loop.StepWait)
	}
}

func (p *process) cancelledEarly(ctx workflow.Context) error {
	if p.parts != nil {
		return p.cancelParts(ctx)
	}
	return p.cancelled(ctx)
}

// discoverFault words why servers could not be asked.
func discoverFault(err error) *diag.Fault {
	if protocol.CodeOf(err) == "" {
		return &diag.Fault{Code: ideafile.CodeMCPUnreachable, Message: "no worker could ask the MCP servers for their tools in time"}
	}
	return protocol.FaultOf(err)
}

func (p *process) askServers(ctx workflow.Context) (f ideafile.MCPPalette, err error) {
	var names []string
	for _, s := range p.idea.ServersToList() {
		names = append(names, s.Name)
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: discoverTimeout, HeartbeatTimeout: protocol.HeartbeatTimeout,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: discoverAttempts},
		Summary:     clipBytes("ask MCP servers for their tools: "+strings.Join(names, ", "), 200),
	})
	asked := workflow.ExecuteActivity(ctx, protocol.ActivityDiscover, p.idea.Source)
	p.inbox.when(asked, func(workflow.Future) {})
	p.listen(ctx, asked.IsReady)
	if !asked.IsReady() {
		return f, ctx.Err()
	}
	return f, asked.Get(ctx, &f)
}

// furnish takes the Idea with the tools in it as the one that counts.
func (p *process) furnish(ctx workflow.Context, f ideafile.MCPPalette) error {
	for _, left := range f.Unusable {
		workflow.GetLogger(ctx).Warn("a tool of an MCP server cannot be used", "tool", left)
	}
	idea, problems := ideafile.ReadIdea(f.ApplyTo(p.idea.Source))
	if errs := problems.Errors(); len(errs) > 0 {
		return temporal.NewNonRetryableApplicationError(errs.Error(), turn.CodeInvalidIdea, nil, errs)
	}
	p.setIdea(idea)
	p.start.Idea = f.ApplyTo(p.start.Idea) // for the runs to come
	return nil
}

// early is what people sent that needs instances, before there were any.
type early struct {
	kind string
	s    loop.Steering
}

// takeEarly starts the instances and then does what people asked for early. Where they paused the process, its instances
// start held, and a pause is an Idea of the chain.
func (p *process) takeEarly(ctx workflow.Context) error {
	if p.mind.PauseReason() != nil {
		p.held = true
		p.sealNow(ctx, nil)
	}
	if len(p.early) == 0 {
		return nil
	}
	if err := p.startNew(ctx); err != nil {
		return err
	}
	for _, e := range p.early {
		if err := p.steer(ctx, e.kind, e.s); err != nil {
			p.inbox.refuse(ctx, e.kind, map[string]any{"id": e.s.ID, "by": e.s.By}, strings.TrimPrefix(err.Error(), "model: "))
		}
	}
	p.early = nil
	return nil
}

// mcp is the tool that a Tool stands for, and its server; nothing where it is no MCP tool.
func (i *instance) mcp(t *ideafile.Tool) (*ideafile.MCPTool, *ideafile.MCPServer) {
	tool, ok := t.MCPTool()
	if !ok {
		return nil, nil
	}
	for _, s := range i.setup.Servers {
		if s.Name == tool.Server {
			return &tool, &s
		}
	}
	return &tool, nil
}
