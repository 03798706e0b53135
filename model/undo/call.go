package undo

import (
	"slices"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// Call is the record of one Call of one instance.
type Call struct {
	// ProcessID is the process that ran it: a part or the process itself. ID is the Call's id there.
	ProcessID, ID, InstanceToken string
	Key                          ideafile.CallKey
	// Tool is the Tool that ran, and Params are its parameters, after people's decisions. If these are empty, they are
	// unknown, and ToolOrParamsUnknownReason says why.
	Tool                      string
	Params                    jsonval.Object
	ToolOrParamsUnknownReason string
	Result                    any
	Status                    ideafile.CallStatus
	Fault                     *diag.Fault
	// RanSuccessfully is set if its Tool ran and ended well. A person who answers, rejects or skips runs nothing.
	RanSuccessfully bool
	// HasLLMWrittenResult is set if the LLM wrote the result into the Call, so that nothing ran.
	HasLLMWrittenResult bool
	// FirstDoneIdeaNumber is the number of the first Idea that records the Call as done; Selection.AfterIdeaNumber
	// selects by it.
	FirstDoneIdeaNumber int
	// UndoMethod is how its Tool can be undone. DelegateProcessID is the process that the Call ran.
	UndoMethod        ideafile.UndoMethod
	DelegateProcessID string
	// DelegateUndo undoes that process, if UndoMethod says so and its chain could be read.
	DelegateUndo *DelegateUndo
	// UndoneByProcessID is the process that has undone the Call already. RanByProcessID is the process that ran it, if
	// this process was forked from that one.
	UndoneByProcessID, RanByProcessID string
	// UndoneWithCallID is the Call whose delegate ran this Call, if the Tool of that Call has an undo of its own.
	UndoneWithCallID string
	// ReadingForkID is a fork with effects that came from the Call and are not undone.
	ReadingForkID string
	// ReadingCallerCallName is a Call with an effect, in the process whose Call ran this one, that came from what this
	// Call gave and is not undone. CallerCallName is the Call that ran this process. Both are named with their process.
	ReadingCallerCallName, CallerCallName string
	// MustWaitForOtherInstances is set if the Call's instance has ended, and other instances of the process have not.
	MustWaitForOtherInstances bool
	// Undoes is the Call that this Call itself undid; nil: none.
	Undoes *ideafile.UndoneCall

	// ReadPaths and ScopePaths are the places in State that it read. AfterReferences are the places and Calls that it
	// came after.
	ReadPaths, ScopePaths []jsonval.Path
	AfterReferences       []refexpr.Reference
	// WrittenPaths are the places that it wrote. WroteAsUpdate is set if it wrote them as an update.
	WrittenPaths  []jsonval.Path
	WroteAsUpdate bool
	// StartLogicalTime and EndLogicalTime are moments in the order of one run; 0: not known.
	StartLogicalTime, EndLogicalTime int
}

// SetFaultWrittenToBranch notes that the Call did not end well, but wrote the fault to its last branch.
func (c *Call) SetFaultWrittenToBranch(f *diag.Fault) {
	if c.RanSuccessfully, c.Fault = false, f; ideafile.MayHaveTakenEffect(f) {
		c.Status = ideafile.CallFailed
	}
}

// hasFailedInDelegate reports whether the Call failed in its delegate, of which nothing is known here.
func (c *Call) hasFailedInDelegate() bool {
	return !c.RanSuccessfully && c.Fault != nil && c.Fault.Code == ideafile.CodeDelegateFailed &&
		c.DelegateProcessID != "" && c.DelegateUndo == nil && c.UndoMethod.Kind != ideafile.UndoNotNeeded
}

// Name names the Call for people: by its id, with the instance, and its Tool.
func (c *Call) Name() string {
	if c.Tool == "" { // the Tool is not on record
		return c.ID
	}
	return c.ID + " (" + c.Tool + ")"
}

// instanceKey returns where a Call ran: its process and instance.
func (c *Call) instanceKey() [2]string { return [2]string{c.ProcessID, c.InstanceToken} }

// CallsOfInstance lists the Calls of an instance in Plan order, with what they read, wrote and came after. The caller
// adds their results.
func CallsOfInstance(instance *dataflow.Instance, tools []*ideafile.Tool) []Call {
	writesByKey := map[ideafile.CallKey][]statelog.Write{}
	for _, w := range instance.StateWrites() {
		key := ideafile.CallKey{Request: w.Request, Index: w.Index}
		writesByKey[key] = append(writesByKey[key], w)
	}
	var calls []Call
	for _, rec := range instance.CallRecords() {
		c := Call{
			ID: rec.ID, InstanceToken: ideafile.InstanceTokenOfCallID(rec.ID), Tool: rec.Tool, Status: rec.Status,
			Fault: rec.Fault, Undoes: rec.Undoes,
			Key: rec.Key(),
		}
		c.collectReads(rec, ideafile.FindTool(tools, rec.Tool))
		for _, w := range writesByKey[c.Key] {
			if w.CorrectionNumber == 0 {
				c.WrittenPaths, c.WroteAsUpdate = append(c.WrittenPaths, WrittenPaths(w.Path, w.Value)...),
					c.WroteAsUpdate || statelog.IsUpdateWrite(w.OutputMethod, w.Path)
			}
		}
		calls = append(calls, c)
	}
	return calls
}

// WrittenPaths returns the places of a write at a path; for a write of the whole State, its keys.
func WrittenPaths(path jsonval.Path, value any) (paths []jsonval.Path) {
	if len(path) > 0 {
		return []jsonval.Path{path}
	}
	for k := range jsonval.Sorted(jsonval.AsObject(value)) {
		paths = append(paths, jsonval.Path{k})
	}
	return paths
}

// collectReads finds what a Call reads through its own and its Tool's wired parameters, its condition and its scopes,
// and what it comes after.
func (c *Call) collectReads(rec *dataflow.CallRecord, tool *ideafile.Tool) {
	for _, ref := range stateReferences(rec.Params, tool) {
		c.ReadPaths = append(c.ReadPaths, ref.Path)
	}
	if rec.Condition != nil {
		c.ReadPaths = append(c.ReadPaths, rec.Condition.PathsRead(ideafile.TypeState)...)
	}
	c.ScopePaths = rec.StateScopePaths()
	for _, text := range rec.AfterReferences {
		if ref, err := refexpr.ParseReference(text); err == nil {
			c.AfterReferences = append(c.AfterReferences, ref)
		}
	}
}

// stateReferences lists what parameters, and a Tool's wired parameters, refer to in State.
func stateReferences(params jsonval.Object, tool *ideafile.Tool) []refexpr.Reference {
	refs, _ := refexpr.FindReferences(params) // a bad Reference has failed the Call
	if tool != nil {
		for _, wired := range jsonval.Sorted(tool.WiredExpressionByParam) {
			wiredRefs, _ := refexpr.FindReferences(wired)
			refs = append(refs, wiredRefs...)
		}
	}
	return slices.DeleteFunc(refs, func(ref refexpr.Reference) bool { return ref.Kind != ideafile.TypeState })
}

// readBeforeEndOf reports whether a Call had read its inputs before the Call w ended. A Call that did not run has no
// Began.
func (c *Call) readBeforeEndOf(w *Call) bool {
	if c.StartLogicalTime > 0 {
		return w.EndLogicalTime >= c.StartLogicalTime
	}
	return c.EndLogicalTime > 0 && w.EndLogicalTime > c.EndLogicalTime
}

// hasReadFrom reports whether a Call read what the Call w wrote. It did not see the updates of later Calls.
func (c *Call) hasReadFrom(w *Call) bool {
	if c.ID == w.ID || c.instanceKey() != w.instanceKey() || c.readBeforeEndOf(w) {
		return false
	}
	isEarlier := w.Key.Compare(c.Key) < 0
	return c.overlapsWrites(c.ReadPaths, w) && (isEarlier || !w.WroteAsUpdate) || isEarlier &&
		c.overlapsWrites(c.ScopePaths, w)
}

// cameAfter reports whether a Call came after the Call w by its `_after`.
func (c *Call) cameAfter(w *Call) bool {
	if c.ID == w.ID || c.instanceKey() != w.instanceKey() || c.readBeforeEndOf(w) {
		return false
	}
	return slices.ContainsFunc(c.AfterReferences, func(ref refexpr.Reference) bool {
		if key, isCall := ideafile.CallOfReference(ref); isCall {
			return key == w.Key
		}
		return c.overlapsWrites([]jsonval.Path{ref.Path}, w) && (w.Key.Compare(c.Key) < 0 || !w.WroteAsUpdate)
	})
}

// WroteAnyOf reports whether the Call wrote to one of the places in paths, above it or below it.
func (c *Call) WroteAnyOf(paths []jsonval.Path) bool { return c.overlapsWrites(paths, c) }

func (c *Call) overlapsWrites(paths []jsonval.Path, w *Call) bool {
	return slices.ContainsFunc(paths, func(p jsonval.Path) bool {
		return slices.ContainsFunc(w.WrittenPaths,
			p.Overlaps)
	})
}
