package workflows

import (
	"sort"

	"go.temporal.io/sdk/workflow"

	"processidea/model"
)

// Instance is the hands of one instance: it owns the State, takes Calls as they close in the stream, runs each as soon as
// what it reads is there, and reports to its process when nothing is running any more. It lives as long as the instance
// does.
func Instance(ctx workflow.Context, setup InstanceSetup, own InstanceOwn) (*InstanceResult, error) {
	i := newInstance(ctx, setup, own)
	if err := i.answer(ctx); err != nil {
		return nil, err
	}
	workflow.Go(ctx, i.watchProcess)
	for !i.ended() {
		i.listen(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if i.gone {
			return nil, orphan()
		}
		i.startReady(ctx)
		i.report(ctx)
		i.show(ctx)
	}
	return &InstanceResult{Status: i.end, State: i.run.State()}, nil
}

// instance is what an Instance workflow holds while it runs.
type instance struct {
	setup InstanceSetup
	own   InstanceOwn
	tools []*model.Tool
	run   *model.Run
	inbox *inbox
	end   model.InstanceStatus // once the process has said so

	closed int // the highest Request that is closed here
	broke  map[int]bool
	told   told
	deaths map[string]int // workers lost under a Call, by its id

	queue   []model.Ready // Calls that may run and wait for others to end
	running int

	orphaned workflow.Channel // says that the process is gone
	gone     bool
}

// told is what the process has been told.
type told struct {
	closed int
	quiet  bool
	calls  map[string]model.Status
}

func newInstance(ctx workflow.Context, setup InstanceSetup, own InstanceOwn) *instance {
	i := &instance{
		setup: setup, own: own, broke: map[int]bool{}, deaths: map[string]int{},
		told: told{quiet: true, calls: map[string]model.Status{}},
	}
	for _, name := range sortedNames(setup.Tools) {
		// The process has checked the palette: what is wrong with it was said there.
		if t := model.ReadTool(name, setup.Tools[name], "", new(model.Problems)); t != nil {
			i.tools = append(i.tools, t)
		}
	}
	palette := model.Palette{Tools: i.tools, Bindings: setup.Bindings}
	i.run = model.NewRun(palette, readContext(setup.Context, own.Context), own.Token)
	i.inbox = newInbox(ctx)
	i.orphaned = workflow.NewBufferedChannel(ctx, 1)
	i.inbox.selector.AddReceive(i.orphaned, func(c workflow.ReceiveChannel, _ bool) { i.gone = c.ReceiveAsync(nil) })
	on(i.inbox, ctx, SignalCalls, i.onCalls)
	on(i.inbox, ctx, SignalClose, i.onClose)
	on(i.inbox, ctx, SignalEnd, i.onEnd)
	return i
}

// readContext reads messages that the process has checked.
func readContext(parts ...[]any) []model.Message {
	var out []model.Message
	for _, part := range parts {
		for _, raw := range part {
			if m, ok := model.ReadMessage(raw, "", new(model.Problems)); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	//workflowcheck:ignore -- sorted below
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// ended says that the process has ended the instance, and nothing of it is running any more.
func (i *instance) ended() bool { return i.end != "" && i.run.Quiet() }

// listen waits until something happens and takes all that has happened by then.
func (i *instance) listen(ctx workflow.Context) { i.inbox.wait(ctx) }

func (i *instance) onCalls(ctx workflow.Context, s CallsSignal) {
	for _, c := range s.Calls {
		i.run.Accept(s.Request, c.Index, c.Call)
	}
	for _, r := range s.Results {
		if s.Request > i.closed {
			i.run.Succeed(r.Call, r.Output)
		}
	}
	if s.Last {
		i.close(s.Request)
	}
}

func (i *instance) onClose(ctx workflow.Context, s CloseSignal) {
	i.broke[s.Request] = true
	i.close(s.Request)
}

func (i *instance) close(request int) {
	if i.run.Close(request); request > i.closed {
		i.closed = request
	}
}

func (i *instance) onEnd(ctx workflow.Context, s EndSignal) { i.end = s.Status }

// maxRunning is how many Calls of one instance run at once. Over two thousand pending activities would leave the workflow
// stuck, and over 4 MB of commands in one task would end it: two hundred with payloads below the store's threshold
// stay far below both.
const maxRunning = 200

// startReady runs every Call that may run now, as many at once as are good for the workflow.
func (i *instance) startReady(ctx workflow.Context) {
	i.queue = append(i.queue, i.run.Next()...)
	for len(i.queue) > 0 && i.running < maxRunning {
		next := i.queue[0]
		i.queue = i.queue[1:]
		i.execute(ctx, next)
	}
}

// report tells the process what has changed, when the instance has come to rest.
func (i *instance) report(ctx workflow.Context) {
	quiet := i.run.Quiet()
	if !quiet || quiet == i.told.quiet && i.closed == i.told.closed {
		i.told.quiet = quiet
		return
	}
	r := i.news()
	i.told.quiet, i.told.closed = quiet, i.closed
	// No run id: the process may have continued as new. When it is gone, nobody is left to tell.
	f := workflow.SignalExternalWorkflow(ctx, i.setup.Process, "", SignalReport, r)
	i.inbox.when(f, func(f workflow.Future) {
		if err := f.Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Warn("the process could not be told", "error", err)
		}
	})
}

// news is what the process has not been told yet.
func (i *instance) news() model.Report {
	r := model.Report{Token: i.own.Token, Closed: i.closed, Quiet: true, Missing: i.run.Missing()}
	r.Writes = i.run.NewWrites()
	for _, rec := range i.run.Records() {
		if before, known := i.told.calls[rec.ID]; known && before == rec.Status {
			continue
		}
		i.told.calls[rec.ID] = rec.Status
		c := model.CallReport{Request: rec.Request, Index: rec.Index, Status: rec.Status, Fault: rec.Fault, Result: rec.Result}
		if i.broke[rec.Request] {
			c.Call = rec.Written
		}
		r.Calls = append(r.Calls, c)
	}
	for _, rec := range i.run.Asking() {
		params, err := i.run.Resolved(rec)
		if err == nil {
			r.Asking = append(r.Asking, model.Asked{ID: rec.ID, Token: i.own.Token, Tool: rec.Tool, Params: params})
		}
	}
	return r
}
