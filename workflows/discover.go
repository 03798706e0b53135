package workflows

import (
	"strings"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"processidea/model"
)

// Where a server does not answer, the process pauses after a few attempts, as it does for an LLM.
const (
	discoverAttempts = 3
	// DiscoverPatience is how long servers may take to say what they offer: time for one that is installed when it is first
	// run.
	DiscoverPatience = 150 * time.Second
	discoverTimeout  = DiscoverPatience + 30*time.Second // in which the activity says itself what took so long
)

// discover asks the Idea's MCP servers for their tools and makes them Tools of the palette. A server that cannot be asked
// pauses the process; it goes on when somebody resumes it.
func (p *process) discover(ctx workflow.Context) error {
	for len(p.idea.Unlisted()) > 0 {
		found, err := p.askServers(ctx)
		if ctx.Err() != nil {
			return p.cancelled(ctx)
		}
		if err == nil {
			if errs := found.Problems.Errors(); len(errs) > 0 {
				return temporal.NewNonRetryableApplicationError(errs.Error(), model.CodeInvalidIdea, nil, errs)
			}
			return p.furnish(ctx, found)
		}
		p.mind.Halt(discoverFault(err))
		p.show(ctx, model.StepPaused)
		p.awaitResume(ctx)
		if ctx.Err() != nil {
			return p.cancelled(ctx)
		}
	}
	return nil
}

// discoverFault words why servers could not be asked.
func discoverFault(err error) *model.Fault {
	if codeOf(err) == "" {
		return &model.Fault{Code: model.CodeMCPUnreachable, Message: "no worker could ask the MCP servers for their tools in time"}
	}
	return faultOf(err)
}

func (p *process) askServers(ctx workflow.Context) (f model.Furnished, err error) {
	var names []string
	for _, s := range p.idea.Unlisted() {
		names = append(names, s.Name)
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: discoverTimeout, HeartbeatTimeout: heartbeatTimeout,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumAttempts: discoverAttempts},
		Summary:     clipBytes("ask MCP servers for their tools: "+strings.Join(names, ", "), 200),
	})
	err = workflow.ExecuteActivity(ctx, ActivityDiscover, p.idea.Source).Get(ctx, &f)
	return f, err
}

// furnish takes the Idea with the tools in it as the one that counts.
func (p *process) furnish(ctx workflow.Context, f model.Furnished) error {
	for _, left := range f.Left {
		workflow.GetLogger(ctx).Warn("a tool of an MCP server cannot be used", "tool", left)
	}
	idea, problems := model.ReadIdea(f.With(p.idea.Source))
	if errs := problems.Errors(); len(errs) > 0 {
		return temporal.NewNonRetryableApplicationError(errs.Error(), model.CodeInvalidIdea, nil, errs)
	}
	p.setIdea(idea)
	p.start.Idea = f.With(p.start.Idea) // for the runs to come
	return nil
}

// awaitResume waits until the process is resumed. What else people send meanwhile is for when there are instances.
func (p *process) awaitResume(ctx workflow.Context) {
	resume := workflow.GetSignalChannel(ctx, model.SteerResume)
	for p.mind.Paused() != nil && ctx.Err() == nil {
		workflow.NewSelector(ctx).
			AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {}).
			AddReceive(resume, func(c workflow.ReceiveChannel, _ bool) {
				var raw converter.RawValue
				c.Receive(ctx, &raw)
				p.resume(ctx, raw)
			}).Select(ctx)
	}
}

func (p *process) resume(ctx workflow.Context, raw converter.RawValue) {
	payload, err := decodeObject(raw)
	var s model.Steering
	if err == nil {
		s, err = model.ReadSteering(model.SteerResume, payload)
	}
	if err == nil {
		err = p.steer(ctx, model.SteerResume, s)
	}
	if err != nil {
		p.inbox.refuse(ctx, model.SteerResume, payload, strings.TrimPrefix(err.Error(), "model: "))
	}
}

// mcp is the tool that a Tool stands for, and its server; nothing where it is no MCP tool.
func (i *instance) mcp(t *model.Tool) (*model.MCPTool, *model.MCPServer) {
	tool, ok := t.MCP()
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
