package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/learn/backtest"
	"processidea/model/approval"
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

// UndoOptions select which Calls of a process are undone.
type UndoOptions struct {
	undo.Choice
	// Tools states which Tools are pure, and how to undo Go functions.
	Tools ideafiles.Tools
	// As names the process that undoes the Calls; empty: ID-undo-1, or the next number.
	As string
	// AtWork is set of a process that has not ended: it undoes its Calls itself, once it is paused.
	AtWork bool
	// By is who orders the undo, and why.
	By By
	// Review has each Call wait for a person, who has it run, answers it or rejects it.
	Review bool
}

// Undoing is a plan to undo what a process did. Client.StartUndo runs it.
type Undoing struct {
	Process string `json:"process"`
	// As is the id of the process that undoes it: of one AtWork, its own.
	As     string `json:"as"`
	AtWork bool   `json:"atWork,omitempty"`
	undo.Plan

	archive *Archive
	options UndoOptions
	number  int // of As; 0: it has a name of its own
	idea    map[string]any
	of      map[[2]string]*backtest.RanInstance // by process or part, and token
	parts   []map[string]int                    // by Idea of a split process: the latest Idea of each part in it
	within  map[string]any                      // the Ideas that undo what processes of Calls did, by undoneFile
}

// UndoneCall states which process undid a Call, on whose order, and why.
type UndoneCall struct {
	CallID string `json:"call"`
	As     string `json:"as"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Undo plans, from the chain of a process, how to undo what it did: the Calls that undo it, what cannot be undone and
// why, and what stays because something reads it. It changes nothing. The error wraps ErrNotFound if there is no such
// process or Idea, ErrForgotten if it was forgotten, and ErrInvalid if a selected Call or instance does not exist, or
// the process was simulated. It is a *RefusedError if a selected Call is not done.
func (a *Archive) Undo(ctx context.Context, id string, o UndoOptions) (*Undoing, error) {
	run, err := a.FinishedRun(ctx, id, "undo")
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
	earlier, n, err := a.Chain(id).undoneCalls(ctx)
	if err != nil {
		return nil, err
	}
	u := &Undoing{Process: id, As: undoID(id, n), AtWork: o.AtWork, archive: a, options: o, number: n,
		of: map[[2]string]*backtest.RanInstance{}, within: map[string]any{}}
	for _, idea := range run.Ideas {
		u.parts = append(u.parts, latestOfParts(idea))
	}
	calls, err := u.calls(ctx, instances, earlier)
	if err != nil {
		return nil, err
	}
	u.Plan, err = undo.Invert(calls, o.Choice, u.tool, func(c undo.Call) any { return u.instance(c).State })
	if kind.Is[approval.NothingDone](err) {
		return nil, undoRefused(id, err.Error())
	}
	if err != nil {
		return nil, kind.Errorf(ErrInvalid, "undo %s: %w", id, err)
	}
	switch {
	case o.AtWork && o.As != "":
		return nil, undoneByItself(id, o.As)
	case o.AtWork:
		u.As = id
	case o.As != "":
		u.As, u.number = o.As, 0
		if err := u.checkFree(ctx); err != nil {
			return nil, err
		}
	}
	last := len(run.Ideas)
	u.idea, err = a.Chain(id).withEarlierDeciders(ctx, u.undoIdea(run.Ideas[last-1]), last)
	return u, err
}

// InWords describes, in the words of the business, an undone Call or the Call that undoes it.
func (u *Undoing) InWords(ctx context.Context, w *shown.Words, did *undo.Call, tool string,
	params map[string]any) shown.Call {
	i := u.instance(*did)
	about := shown.Case{State: i.State,
		Input: ideafile.InstanceViewOf(i.Idea.Context, did.Instance).PayloadByKind[ideafile.TypeInput]}
	call, err := u.archive.inWords(blobs.ForProcess(ctx, u.Process), w, tool, params, did.Instance, about)
	if err != nil { // what the store does not give stands there by its name
		call = w.Call(tool, params, did.Instance, about, LanguageOf(ctx))
	}
	return call
}

// undoID is the id of the nth process that undoes another.
func undoID(id string, n int) string {
	suffix := fmt.Sprintf("-undo-%d", n)
	id = strings.ReplaceAll(strings.ReplaceAll(id, "/~", "~"), "/", "~")
	return spelling.ShortenID(id, id, maxIDBytes-len(suffix)) + suffix
}

// checkFree refuses an id for the undoing process that is invalid or in use.
func (u *Undoing) checkFree(ctx context.Context) error {
	if err := ValidateID(u.As); err != nil {
		return err
	}
	last, err := u.archive.Chain(u.As).Length(ctx)
	if err == nil && last > 0 {
		err = u.idInUseError()
	}
	return err
}

func (u *Undoing) idInUseError() error {
	return kind.Errorf(ErrOtherStart, "undo %s as %s: another process has this id: choose another one, or leave it out",
		u.Process, u.As)
}

func (u *Undoing) instance(c undo.Call) *backtest.RanInstance {
	return u.of[[2]string{c.Process, c.Instance}]
}

// tool finds the Tool that undoes a Call.
func (u *Undoing) tool(c undo.Call, name string) *ideafile.Tool {
	t := u.instance(c).Idea.Tool(name)
	if t == nil || t.DelegateFile != "" {
		return nil
	}
	return t
}

// calls adds to the Calls what the chains of their processes, parts and other processes know about them.
func (u *Undoing) calls(ctx context.Context, instances []backtest.RanInstance,
	earlier map[ideafile.UndoneCall]UndoneCall) (calls []undo.Call, err error) {
	ends, before := map[string]map[ideafile.CallStatus]map[string]int{}, map[string]forkedFrom{}
	bindings := map[string]map[string]ideafile.ToolBinding{}
	for n := range instances {
		i := &instances[n]
		u.of[[2]string{i.ProcessID, i.Token}] = i
		if ends[i.ProcessID] == nil {
			c := u.archive.Chain(i.ProcessID)
			if ends[i.ProcessID], err = c.endsByIdea(ctx); err == nil {
				before[i.ProcessID], err = c.forkedFrom(ctx, i.Idea)
			}
			if err != nil {
				return nil, err
			}
			bindings[i.ProcessID] = u.options.Tools.Bind(i.Idea)
		}
		for _, c := range i.Calls {
			when := ends[i.ProcessID]
			c.Idea = u.ideaOfWhole(i.ProcessID, cmp.Or(when[ideafile.Done][c.ID], when[ideafile.Failed][c.ID]))
			c.TakenBackBy = earlier[ideafile.UndoneCall{Process: c.Process, CallID: c.ID}].As
			c.DoneBefore, c.MustWait = before[i.ProcessID].processThatDid(c), u.AtWork && i.HasEnded
			if t := i.Idea.Tool(c.Tool); t != nil {
				c.How = u.undoMethod(c, t, bindings[i.ProcessID][t.Name])
				if t.DelegateFile != "" {
					err = u.readDelegate(ctx, &c)
				}
			} else {
				c.How.Kind = ideafile.UndoNever
			}
			if calls = append(calls, c); err != nil {
				return nil, err
			}
		}
	}
	return calls, nil
}

// readDelegate finds how to undo what the process did that a Call ran, if that is how, and on record. A process at work
// cannot do it.
func (u *Undoing) readDelegate(ctx context.Context, c *undo.Call) error {
	c.Delegate = protocol.DelegateID(c.Process, c.ID)
	if c.How.Kind != ideafile.UndoProcess || c.TakenBackBy+c.DoneBefore != "" || u.options.AtWork {
		return nil
	}
	of, err := u.archive.Undo(ctx, c.Delegate, UndoOptions{Tools: u.options.Tools, By: u.options.By,
		Review: u.options.Review})
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
		return nil
	}
	if err == nil {
		c.Within, u.within[undoneFile(c.Delegate)] = &undo.Within{Process: c.Delegate, Plan: of.Plan}, of.idea
	}
	return err
}

// undoneFile names the Idea that undoes what a process did, among the files of delegates.
func undoneFile(process string) string { return strings.ReplaceAll(process, "/", "~") }

// latestOfParts returns the number of the latest Idea of each part in an Idea of a split process.
func latestOfParts(idea map[string]any) map[string]int {
	latest := map[string]int{}
	for _, part := range jsonval.AsList(jsonval.AsObject(idea["meta"])["parts"]) {
		of := jsonval.AsObject(part)
		latest[jsonval.AsText(of["process"])], _ = jsonval.ReadPositiveInt(of["at"])
	}
	return latest
}

// ideaOfWhole returns the first Idea of the whole process that includes an Idea of its part; for a process that was not
// split, the Idea itself.
func (u *Undoing) ideaOfWhole(part string, at int) int {
	if part == u.Process || at == 0 {
		return at
	}
	whole := slices.IndexFunc(u.parts, func(latest map[string]int) bool { return latest[part] >= at })
	if whole < 0 {
		whole = len(u.parts) // it was ended before it could tell
	}
	return whole + 1
}

// undoMethod returns how to undo a Call of a Tool. With workers elsewhere, a Tool that nothing runs here may be a Go
// function there; only the Call itself shows that the LLM wrote its result.
func (u *Undoing) undoMethod(c undo.Call, t *ideafile.Tool, b ideafile.ToolBinding) ideafile.Undo {
	if b.Kind == ideafile.KindLatent && u.options.Tools.Elsewhere && !c.WrittenByLLM && t.Undo == nil {
		return ideafile.Undo{Kind: ideafile.UndoNever}
	}
	return t.UndoUnder(b)
}

// endsByIdea maps each Call of the chain to the first Idea that shows it as done, or as failed.
func (c *Chain) endsByIdea(ctx context.Context) (map[ideafile.CallStatus]map[string]int, error) {
	first := map[ideafile.CallStatus]map[string]int{ideafile.Done: {}, ideafile.Failed: {}}
	last, err := c.number(ctx, "undo", 0)
	for at := 1; at <= last && err == nil; at++ {
		tell := func(status ideafile.CallStatus, id string) {
			if told := first[status]; told != nil && told[id] == 0 {
				told[id] = at
			}
		}
		var log []turn.LogEntry
		if log, err = c.chains.StoredLogAt(ctx, c.process, at); err != nil {
			break
		}
		for _, e := range log {
			if e.IsWrite() && e.CorrectionNumber == 0 {
				tell(ideafile.Done, ideafile.FormatCallID(e.Request, e.Index, e.Instance))
			}
		}
		var link chain.Link
		var context any
		if link, err = c.chains.LinkAt(ctx, c.process, at); err == nil {
			context, err = c.chains.Context(ctx, c.process, protocol.IdeaRef{At: at, Digest: link.Digest})
		}
		if err == nil {
			idea, _ := ideafile.ReadIdeaWithCheckedTools(map[string]any{"context": context})
			eachPast(idea, func(p turn.PastCall, token string) {
				tell(p.StatusByInstance[token], p.CallKey().ID(token))
			})
		}
	}
	return first, err
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
	ends, err := of.endsByIdea(ctx)
	if err != nil {
		return f, err
	}
	f.done = map[string]bool{}
	for id, told := range ends[ideafile.Done] {
		f.done[id] = told <= at
	}
	return f, nil
}

// processThatDid returns the origin of the fork if the Call was done there: by the origin's chain, or, if that is gone,
// unless this chain's log records a write of it.
func (f forkedFrom) processThatDid(c undo.Call) string {
	if f.process == "" || f.done != nil && !f.done[c.ID] || f.done == nil && len(c.Writes) > 0 {
		return ""
	}
	return f.process
}

// undoings lists the processes that take back what the process did, or may, and the number of the next one that has no
// name of its own. Those that take back a part of it, or the whole that it is a part of, are among them.
func (c *Chain) undoings(ctx context.Context) (ids []string, next int, err error) {
	relatives, err := c.parts(ctx)
	if whole := WholeOf(c.process); whole != c.process {
		relatives = append(relatives, whole)
	}
	for _, process := range append(relatives, c.process) {
		if err == nil {
			var of []string
			of, err = (&Chain{c.chains, process}).namedUndos(ctx)
			ids = append(ids, of...)
		}
	}
	next = 1
	// One that was ended before it began is not named, and its number is not used again.
	for n, missing := 1, 0; missing < 2; n++ {
		as := undoID(c.process, n)
		if missing++; slices.Contains(ids, as) {
			missing, next = 0, n+1
		} else {
			ids = append(ids, as)
		}
	}
	return ids, next, err
}

// parts lists the processes of the parts, by the latest Idea.
func (c *Chain) parts(ctx context.Context) ([]string, error) {
	last, err := c.Length(ctx)
	if err != nil || last == 0 {
		return nil, err
	}
	link, err := c.chains.LinkAt(ctx, c.process, last)
	return link.Parts, err
}

// namedUndos lists the processes that undo what the process did, and not their parts.
func (c *Chain) namedUndos(ctx context.Context) ([]string, error) {
	ids, err := c.chains.NamedUndos(ctx, c.process)
	for n := range ids {
		ids[n] = WholeOf(ids[n])
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// UndoneBy lists the processes that have begun to undo what the process did.
func (c *Chain) UndoneBy(ctx context.Context) (ids []string, err error) {
	all, err := c.namedUndos(ctx)
	for n := 0; n < len(all) && err == nil; n++ {
		var last int
		if last, err = c.chains.Latest(ctx, all[n]); last > 0 {
			ids = append(ids, all[n])
		}
	}
	return ids, err
}

// undoneCalls says which Calls of the process were taken back, by whom, and which number the next process has that
// takes some back.
func (c *Chain) undoneCalls(ctx context.Context) (made map[ideafile.UndoneCall]UndoneCall, next int, err error) {
	made = map[ideafile.UndoneCall]UndoneCall{}
	ids, next, err := c.undoings(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, as := range append(ids, c.process) { // its own instances that failed, too
		idea, err := (&Chain{c.chains, as}).load(ctx, "read", 0)
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrForgotten) {
			continue // what a forgotten one took back is not known: the key keeps the world from seeing it twice
		}
		if err != nil {
			return nil, 0, err
		}
		if of := jsonval.AsObject(idea["meta"])[protocol.UndoesMeta]; as == c.process && of != nil {
			continue // what it takes back is another's
		}
		readUndoneCalls(as, idea, made)
	}
	maps.DeleteFunc(made, func(of ideafile.UndoneCall, _ UndoneCall) bool { // the whole takes back other parts too
		return isPart(c.process) && of.Process != c.process
	})
	return made, next, nil
}

// readUndoneCalls reads what the latest Idea of a process says that it took back.
func readUndoneCalls(as string, source map[string]any, made map[ideafile.UndoneCall]UndoneCall) {
	idea, _ := ideafile.ReadIdeaWithCheckedTools(source)
	of := jsonval.AsObject(jsonval.AsObject(source["meta"])[protocol.UndoesMeta])
	eachPast(idea, func(p turn.PastCall, token string) {
		what := jsonval.AsObject(p.WrittenCall.RawObject()[ideafile.UndoesKey])
		key := ideafile.UndoneCall{Process: jsonval.AsText(what["process"]), CallID: jsonval.AsText(what["call"])}
		// it counts what was taken back of the process itself, or of the other one that this one takes back
		if p.CallKey().IsUndo() == (of == nil) && key.CallID != "" && p.StatusByInstance[token] == ideafile.Done {
			made[key] = UndoneCall{key.CallID, as,
				cmp.Or(jsonval.AsText(what["by"]), jsonval.AsText(of["by"]), "itself"),
				cmp.Or(jsonval.AsText(what["reason"]), jsonval.AsText(of["reason"]), "it failed")}
		}
	})
}

// UndoneCalls lists the Calls of the process that were taken back, in the order of their ids.
func (c *Chain) UndoneCalls(ctx context.Context) ([]UndoneCall, error) {
	made, _, err := c.undoneCalls(ctx)
	if err != nil {
		return nil, err
	}
	list := []UndoneCall{}
	for _, one := range made {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b UndoneCall) int {
		x, _ := ideafile.ParseCallKey(a.CallID)
		y, _ := ideafile.ParseCallKey(b.CallID)
		return cmp.Or(x.Compare(y), strings.Compare(a.CallID, b.CallID))
	})
	return list, nil
}
