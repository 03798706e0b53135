package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/learn/backtest"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/model/undo"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// UndoOptions say what of a process is taken back.
type UndoOptions struct {
	undo.Choice
	// Tools tells which Tools are pure, and how Go functions are taken back.
	Tools ideafiles.Tools
	// As names the process that takes it back; empty: ID-undo-1, or the next number.
	As string
	// By is who has it taken back, and why.
	By By
}

// Undoing is what takes back what a process did. Client.StartUndo has it done.
type Undoing struct {
	Process string `json:"process"`
	// As is the process that takes it back.
	As string `json:"as"`
	undo.Plan

	number int // of As; 0: it has a name of its own
	idea   map[string]any
	by     By
	of     map[[2]string]*backtest.RanInstance

	archive *Archive
}

// TakenBack says as which process a Call was taken back, at whose wish, and why.
type TakenBack struct {
	CallID string `json:"call"`
	As     string `json:"as"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Undo says how what a process did is taken back, by its chain: the Calls that do it, what cannot be taken back and
// why, and what stays because something reads it. Nothing is done. The error wraps ErrNotFound where there is no such
// process or Idea, ErrForgotten where it was forgotten, and ErrInvalid where a Call or an instance is none that is
// done, or the process was simulated.
func (a *Archive) Undo(ctx context.Context, id string, o UndoOptions) (*Undoing, error) {
	run, err := a.finishedRun(ctx, id, "undo")
	if err != nil {
		return nil, err
	}
	if last := len(run.Ideas); o.ToIdea > last {
		return nil, kind.Errorf(ErrNotFound, "undo %s to Idea %d: there are %d", id, o.ToIdea, last)
	}
	instances, err := backtest.ReadRan(run)
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	earlier, n, err := a.Chain(id).takenBack(ctx)
	if err != nil {
		return nil, err
	}
	u := &undoReader{archive: a, process: id, options: o, of: map[[2]string]*backtest.RanInstance{}}
	for _, idea := range run.Ideas {
		u.parts = append(u.parts, latestOfParts(idea))
	}
	calls, err := u.calls(ctx, instances, earlier)
	if err != nil {
		return nil, err
	}
	plan, err := undo.Invert(calls, o.Choice, u.tool, func(c undo.Call) any { return u.instance(c).State })
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	out := &Undoing{Process: id, As: undoID(id, n), number: n, Plan: plan, by: o.By, of: u.of, archive: a}
	if o.As != "" {
		out.As, out.number = o.As, 0
		if err := a.checkFree(ctx, out); err != nil {
			return nil, err
		}
	}
	last := len(run.Ideas)
	out.idea, err = a.Chain(id).withEarlierDeciders(ctx, undoIdea(out, run.Ideas[last-1], u.of), last)
	return out, err
}

// InWords tells in the words of the business what a Call of a process did that is taken back, or what takes it back.
func (u *Undoing) InWords(ctx context.Context, w *shown.Words, did *undo.Call, tool string,
	params map[string]any) shown.Call {
	i := u.of[[2]string{did.Process, did.Instance}]
	about := shown.Case{State: i.State,
		Input: ideafile.InstanceViewOf(i.Idea.Context, did.Instance).PayloadByKind[ideafile.TypeInput]}
	call, err := u.archive.inWords(blobs.ForProcess(ctx, u.Process), w, tool, params, did.Instance, about)
	if err != nil { // what the store does not give stands there by its name
		call = w.Call(tool, params, did.Instance, about, LanguageOf(ctx))
	}
	return call
}

// undoID is the id of the nth process that takes back what another did.
func undoID(id string, n int) string {
	suffix := fmt.Sprintf("-undo-%d", n)
	id = strings.ReplaceAll(strings.ReplaceAll(id, "/~", "~"), "/", "~")
	return spelling.Shortened(id, id, longestID-len(suffix)) + suffix
}

// checkFree gives an error where the name of the process that is to take back is none, or another process has it.
func (a *Archive) checkFree(ctx context.Context, u *Undoing) error {
	if err := ValidateID(u.As); err != nil {
		return err
	}
	last, err := a.Chain(u.As).Length(ctx)
	if err == nil && last > 0 {
		err = u.takenError()
	}
	return err
}

func (u *Undoing) takenError() error {
	return kind.Errorf(ErrInvalid, "undo %s as %s: there is another process of this id: choose another id, or none",
		u.Process, u.As)
}

// undoReader puts together what is known of the Calls of one process.
type undoReader struct {
	archive *Archive
	process string
	options UndoOptions
	of      map[[2]string]*backtest.RanInstance // by process or part, and token
	parts   []map[string]int                    // by Idea of a split process: the latest Idea of each part in it
}

func (u *undoReader) instance(c undo.Call) *backtest.RanInstance {
	return u.of[[2]string{c.Process, c.Instance}]
}

// tool finds the Tool that takes a Call back.
func (u *undoReader) tool(c undo.Call, name string) *ideafile.Tool {
	t := u.instance(c).Idea.Tool(name)
	if t == nil || t.DelegateFile != "" {
		return nil
	}
	return t
}

// calls adds to the Calls of a chain what the chain of each process or part, and those of others, say of them.
func (u *undoReader) calls(ctx context.Context, instances []backtest.RanInstance,
	earlier map[ideafile.UndoneCall]TakenBack) (calls []undo.Call, err error) {
	ideas, before := map[string]map[string]int{}, map[string]forkedFrom{}
	bindings := map[string]map[string]ideafile.ToolBinding{}
	for n := range instances {
		i := &instances[n]
		u.of[[2]string{i.ProcessID, i.Token}] = i
		if _, known := ideas[i.ProcessID]; !known {
			c := u.archive.Chain(i.ProcessID)
			if ideas[i.ProcessID], err = c.doneByIdea(ctx); err == nil {
				before[i.ProcessID], err = c.forkedFrom(ctx, i.Idea)
			}
			if err != nil {
				return nil, err
			}
			bindings[i.ProcessID] = u.options.Tools.Bind(i.Idea)
		}
		for _, c := range i.Calls {
			c.Idea = u.ideaOfWhole(i.ProcessID, ideas[i.ProcessID][c.ID])
			c.TakenBackBy = earlier[ideafile.UndoneCall{Process: c.Process, CallID: c.ID}].As
			c.DoneBefore = before[i.ProcessID].whoDid(c)
			if t := i.Idea.Tool(c.Tool); t != nil {
				c.How = u.how(c, t, bindings[i.ProcessID][t.Name])
				if t.DelegateFile != "" {
					c.Delegate = protocol.DelegateID(c.Process, c.ID)
				}
			} else {
				c.How.Kind = ideafile.UndoNever
			}
			calls = append(calls, c)
		}
	}
	return calls, nil
}

// latestOfParts gives, for an Idea of a split process, the number of the latest Idea of each part that is in it.
func latestOfParts(idea map[string]any) map[string]int {
	latest := map[string]int{}
	parts, _ := jsonval.AsObject(idea["meta"])["parts"].([]any)
	for _, part := range parts {
		of := jsonval.AsObject(part)
		latest[jsonval.AsText(of["process"])], _ = jsonval.ReadPositiveInt(of["at"])
	}
	return latest
}

// ideaOfWhole is the number of the first Idea of the whole process that tells what an Idea of its part tells; of a
// process that was not split it is the Idea itself.
func (u *undoReader) ideaOfWhole(part string, at int) int {
	if part == u.process || at == 0 {
		return at
	}
	whole := slices.IndexFunc(u.parts, func(latest map[string]int) bool { return latest[part] >= at })
	if whole < 0 {
		whole = len(u.parts) // it was ended before it could tell
	}
	return whole + 1
}

// how is how a Call of a Tool is taken back. Where the workers are elsewhere, a Tool that nothing runs here may be a Go
// function there: that the LLM wrote the result is believed of the Call alone that says so.
func (u *undoReader) how(c undo.Call, t *ideafile.Tool, b ideafile.ToolBinding) ideafile.Undo {
	if b.Kind == ideafile.KindLatent && u.options.Tools.Elsewhere && !c.WrittenByLLM && t.Undo == nil {
		return ideafile.Undo{Kind: ideafile.UndoNever}
	}
	return t.UndoUnder(b)
}

// doneByIdea says of each Call of the chain which Idea is the first that tells that it is done.
func (c *Chain) doneByIdea(ctx context.Context) (map[string]int, error) {
	first := map[string]int{}
	tell := func(id string, at int) {
		if first[id] == 0 {
			first[id] = at
		}
	}
	last, err := c.readable(ctx, "undo")
	for at := 1; at <= last && err == nil; at++ {
		var log []turn.LogEntry
		var context any
		if log, err = c.chains.StoredLogAt(ctx, c.process, at); err != nil {
			break
		}
		for _, e := range log {
			if e.IsWrite() && e.CorrectionNumber == 0 {
				tell(ideafile.FormatCallID(e.Request, e.Index, e.Instance), at)
			}
		}
		var link chain.Link
		if link, err = c.chains.Link(ctx, c.process, at); err == nil {
			context, err = c.chains.Context(ctx, c.process, protocol.IdeaRef{At: at, Digest: link.Digest})
		}
		if err == nil {
			eachDone(context, func(id string) { tell(id, at) })
		}
	}
	return first, err
}

// eachDone visits the Calls that the records in a context call done.
func eachDone(context any, visit func(id string)) {
	idea, _ := ideafile.ReadIdeaWithCheckedTools(map[string]any{"context": context})
	tokens := idea.InstanceTokens()
	for _, m := range idea.Context {
		for _, p := range turn.ReadPast(m, tokens) {
			for _, token := range jsonval.SortedKeys(p.StatusByInstance) {
				if p.StatusByInstance[token] == ideafile.Done {
					visit(ideafile.FormatCallID(p.Request, p.Index, token))
				}
			}
		}
	}
}

// forkedFrom is the process that another was forked from, and the Calls that were done by then.
type forkedFrom struct {
	process string
	done    map[string]bool // nil: its chain is not there any more
}

func (c *Chain) forkedFrom(ctx context.Context, idea *ideafile.Idea) (f forkedFrom, err error) {
	origin := jsonval.AsObject(jsonval.AsObject(idea.Source["meta"])["origin"])
	f.process = jsonval.AsText(origin["process"])
	at, wrong := jsonval.ReadPositiveInt(origin["at"])
	isUndo := jsonval.AsObject(idea.Source["meta"])[protocol.UndoesMeta] != nil // what takes back does all of it itself
	if f.process == "" || isUndo {
		return forkedFrom{}, nil
	}
	if wrong != nil {
		return f, fmt.Errorf("read from which Idea of %s a process was forked: %w", f.process, wrong)
	}
	of := &Chain{c.chains, f.process}
	if last, err := of.Length(ctx); err != nil || at > last || of.forgotten(ctx, last) != nil {
		return f, err
	}
	ideas, err := of.doneByIdea(ctx)
	if err != nil {
		return f, err
	}
	f.done = map[string]bool{}
	for id, told := range ideas {
		f.done[id] = told <= at
	}
	return f, nil
}

// whoDid names the process from which the Call's was forked, if it was done there: by its chain, or, where that is
// gone, unless the log of this one tells of a write.
func (f forkedFrom) whoDid(c undo.Call) string {
	if f.process == "" || f.done != nil && !f.done[c.ID] || f.done == nil && len(c.Writes) > 0 {
		return ""
	}
	return f.process
}

// undoings lists the processes that take back what the process did, or may, and the number of the next one that has no
// name of its own.
func (c *Chain) undoings(ctx context.Context) (ids []string, next int, err error) {
	ids, err = c.chains.NamedUndos(ctx, c.process)
	next = 1
	// One that was ended before it began has no Idea, and its number is not used again.
	for n, missing := 1, 0; missing < 2 && err == nil; n++ {
		last, as := 0, undoID(c.process, n)
		ids = append(ids, as)
		last, err = c.chains.Latest(ctx, as)
		if missing++; last > 0 {
			missing, next = 0, n+1
		}
	}
	return ids, next, err
}

// UndoneBy lists the processes that take back what the process did.
func (c *Chain) UndoneBy(ctx context.Context) (ids []string, err error) {
	all, _, err := c.undoings(ctx)
	for n := 0; n < len(all) && err == nil; n++ {
		var last int
		if last, err = c.chains.Latest(ctx, all[n]); last > 0 {
			ids = append(ids, all[n])
		}
	}
	return ids, err
}

// takenBack says which Calls of the process were taken back, by whom, and which number the next process has that takes
// some back.
func (c *Chain) takenBack(ctx context.Context) (made map[ideafile.UndoneCall]TakenBack, next int, err error) {
	made = map[ideafile.UndoneCall]TakenBack{}
	ids, next, err := c.undoings(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, as := range append(ids, c.process) { // its own instances that failed, too
		of := &Chain{c.chains, as}
		last, err := of.Length(ctx)
		if err != nil {
			return nil, 0, err
		}
		if last == 0 {
			continue
		}
		if err := of.forgotten(ctx, last); errors.Is(err, ErrForgotten) {
			continue // what it took back is not known: the key keeps the world from seeing it twice
		}
		idea, err := c.chains.Load(ctx, as, last)
		if err != nil {
			return nil, 0, err
		}
		if of := jsonval.AsObject(idea["meta"])[protocol.UndoesMeta]; as == c.process && of != nil {
			continue // what it takes back is another's
		}
		readTakenBack(as, idea, made)
	}
	return made, next, nil
}

// readTakenBack reads what the latest Idea of a process says that it took back.
func readTakenBack(as string, source map[string]any, made map[ideafile.UndoneCall]TakenBack) {
	idea, _ := ideafile.ReadIdeaWithCheckedTools(source)
	of := jsonval.AsObject(jsonval.AsObject(source["meta"])[protocol.UndoesMeta])
	tokens := idea.InstanceTokens()
	for _, m := range idea.Context {
		for _, p := range turn.ReadPast(m, tokens) {
			if p.CallKey().IsUndo() != (of == nil) {
				continue // what it took back of itself, or of another process
			}
			what := jsonval.AsObject(p.WrittenCall.RawObject()[ideafile.UndoesKey])
			key := ideafile.UndoneCall{Process: jsonval.AsText(what["process"]), CallID: jsonval.AsText(what["call"])}
			for _, status := range p.StatusByInstance {
				if key.CallID != "" && status == ideafile.Done {
					made[key] = TakenBack{key.CallID, as,
						cmp.Or(jsonval.AsText(what["by"]), jsonval.AsText(of["by"]), "itself"),
						cmp.Or(jsonval.AsText(what["reason"]), jsonval.AsText(of["reason"]), "it failed")}
				}
			}
		}
	}
}

// TakenBack lists the Calls of the process that were taken back, in the order of their ids.
func (c *Chain) TakenBack(ctx context.Context) ([]TakenBack, error) {
	made, _, err := c.takenBack(ctx)
	if err != nil {
		return nil, err
	}
	list := []TakenBack{}
	for _, one := range made {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b TakenBack) int {
		x, _ := ideafile.ParseCallKey(a.CallID)
		y, _ := ideafile.ParseCallKey(b.CallID)
		return cmp.Or(x.Compare(y), strings.Compare(a.CallID, b.CallID))
	})
	return list, nil
}
