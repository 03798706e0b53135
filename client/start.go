package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/api/serviceerror"

	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/client/internal/offload"
	"processidea/connect"
	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// StartOptions say what a process starts from. It has all data of the start: workers need none of the files.
type StartOptions struct {
	// ID names the process. A second start with the same id and content attaches to it. Empty: an id is made up from
	// ForkSourceID or from the path in the Idea's meta.
	ID string `json:"id,omitempty" maxLength:"200" doc:"names the process: printable ASCII without a slash; absent: one is made up"`
	// Idea is an Idea file as a JSON value, with numbers as json.Number: from ParseIdea, package ideafiles, or
	// Chain.Fork.
	Idea map[string]any `json:"idea" doc:"an Idea file"`
	// InstanceRows are rows of data: each is an instance's input, or a message if it has a "type". "_instance" names an
	// instance; rows without one are named ①, ②, … in order.
	InstanceRows []map[string]any `json:"instances,omitempty" nullable:"false" doc:"rows of data, each an instance's input, or a message; _instance names it"`
	// InstanceNameColumn is the column of InstanceRows that names them for people; empty: config.instanceName of the
	// Idea says how.
	InstanceNameColumn string `json:"key,omitempty" doc:"the column of instances that names them for people; absent: as config.instanceName of the Idea says"`
	// ScriptedReplies is a scripted LLM in the form of a replies file, JSON Lines; empty: the workers ask their LLM.
	ScriptedReplies string `json:"replies,omitempty" doc:"a scripted LLM: the text of a replies file, JSON Lines; absent: the workers ask theirs"`
	// DelegateFiles are the Idea files of delegates, and the files of instructions, that the Idea does not carry: JSON
	// values, by the paths under which _delegate and messages name them.
	DelegateFiles IdeaFiles `json:"delegates,omitempty" doc:"the Idea files of delegates and the files of instructions, by the paths under which _delegate and messages name them"`
	// RunsSolution runs the Calls of the Idea's solution, except those that its record calls done.
	RunsSolution bool `json:"withSolution,omitempty" doc:"run the Calls of the Idea's solution, except those that its record calls done"`
	// ForkSourceID is the process that the Idea was forked from. A fork without an ID is named after it:
	// ForkSourceID-fork-1, or the next unused number.
	ForkSourceID string `json:"-"`
	isUndo       bool   // an undo starts the process: its Idea has Calls that undo others
	// StartedBy is who starts the process. If a policy excludes the starter from deciding, nobody can decide without
	// it.
	StartedBy string `json:"-"`
	// WorkerVersion pins the process, and all that it starts, to a version of the workers; zero: it moves to each
	// version that becomes current.
	WorkerVersion connect.WorkerVersion `json:"-"`
}

// IdeaFiles are Idea files as JSON objects, by their paths.
type IdeaFiles map[string]any

// ParseIdea reads an Idea file from JSON. The error is an *InvalidError with all mistakes in its form.
func ParseIdea(data []byte) (map[string]any, error) {
	v, keyOrder, err := jsonval.DecodeWithKeyOrder(data, jsonval.DefaultLimits)
	if err != nil {
		return nil, kind.WithKind(ErrInvalid, err)
	}
	ideafile.RecordParamOrder(v, keyOrder)
	_, problems := ideafile.ReadIdea(v)
	if err := ideafiles.ErrorFromProblems("Idea", problems); err != nil {
		return nil, err
	}
	return v.(jsonval.Object), nil
}

// Start starts a process, or attaches to the one that was started with the same id from the same content, running or
// ended: IsAttached says which. It returns once the server has accepted the process.
//
// The error is an *InvalidError if the Idea is malformed, ErrIDInUse if a process with the id was started from
// something else, and a *ClaimedIDError if the store has Ideas of a process that Temporal does not know. It wraps
// ErrInvalid if the server refuses the start, or if the workers use another store. Mistakes that only a worker can
// find, such as an unknown activity, end the process: see Result.
func (c *Client) Start(ctx context.Context, o StartOptions) (*Process, error) {
	startSpec, err := c.prepare(ctx, &o)
	if err != nil {
		return nil, err
	}
	_, isAttached, err := connect.StartOrAttachProcess(ctx, c.temporal, c.namespace, startSpec,
		func() (protocol.ProcessStart, error) { return c.storeStart(blobs.WithProcess(ctx, o.ID), o) })
	if err != nil {
		return nil, startError(startSpec.ID, err)
	}
	return &Process{client: c, id: startSpec.ID, isAttached: isAttached}, nil
}

// Prepare does what Start does before it starts, for callers that start processes later. It checks the Idea, and puts
// large values into the store, where they belong to no process. It returns the errors of Start.
func (c *Client) Prepare(ctx context.Context, o StartOptions) (s connect.StartSpec, err error) {
	if s, err = c.prepare(ctx, &o); err == nil {
		s.Start, err = c.storeStart(ctx, o)
	}
	return s, err
}

// prepare does all of a start but to store its values.
func (c *Client) prepare(ctx context.Context, o *StartOptions) (s connect.StartSpec, err error) {
	if s.Idea, err = o.checkAndCompleteIdea(); err != nil {
		return s, err
	}
	ideaWithoutContext := *s.Idea // the rest needs only its meta, and there may be many messages
	ideaWithoutContext.Context, s.Idea = nil, &ideaWithoutContext
	if err := c.chooseID(ctx, o, s.Idea); err != nil {
		return s, err
	}
	if err := c.checkSameStoreAsWorkers(ctx, o.ID); err != nil {
		return s, err
	}
	err = connect.InitializeStore(ctx, c.temporal, c.archive.blobStore)
	if errors.Is(err, blobs.ErrUnavailable) {
		return s, kind.Errorf(ErrUnreachable, "start process %s: %w", o.ID, err)
	}
	if err != nil {
		return s, fmt.Errorf("start process %s: %w", o.ID, err)
	}
	s.ID, s.ContentDigest, s.WorkerVersion = o.ID, o.contentDigest(), o.WorkerVersion
	return s, nil
}

// checkSameStoreAsWorkers returns an error if the workers use another store: they would not find the values of this
// program, nor this program theirs.
func (c *Client) checkSameStoreAsWorkers(ctx context.Context, processID string) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	ownID := c.archive.Store().ID()
	workerStoreIDs, err := connect.StoreIDsOfWorkers(ctx, c.temporal)
	// If the server does not answer, the start itself reports that.
	if usesOtherStore := err == nil && len(workerStoreIDs) > 0 &&
		!slices.Contains(workerStoreIDs, ownID); !usesOtherStore {
		return nil
	}
	return kind.Errorf(ErrInvalid,
		"start process %s: the worker uses another store (%s) than this program (%s): set PROCESSIDEA_STORE to the "+
			"worker's, or use its --data", processID, strings.Join(workerStoreIDs, ", "),
		cmp.Or(ownID, "one that nobody has used yet"))
}

// checkAndCompleteIdea checks the form of the Idea and of the instances, which become messages of its context. It also
// checks that all files of its delegates are present: files that the Idea carries, as an Idea of a chain does, become
// DelegateFiles. It returns the Idea without these messages and files.
func (o *StartOptions) checkAndCompleteIdea() (*ideafile.Idea, error) {
	var extractProblems diag.Problems
	filesToCheckForUndoKeys := o.DelegateFiles
	o.Idea, o.DelegateFiles, extractProblems = delegate.ExtractFiles(o.Idea, o.DelegateFiles)
	o.dropForkOrigins()
	o.Idea = delegate.WithInstructions(o.Idea, "", o.DelegateFiles)
	for key, file := range o.DelegateFiles {
		if source, ok := file.(jsonval.Object); ok {
			o.DelegateFiles[key] = delegate.WithInstructions(source, key, o.DelegateFiles)
		}
	}
	newInvalidError := func(problems ...diag.Problem) error {
		return ideafiles.ErrorFromProblems(cmp.Or(o.ID, "Idea"), problems)
	}
	idea, problems := ideafile.ReadIdea(o.Idea)
	if err := (Actor{Name: o.StartedBy}).CheckName(); err != nil {
		return nil, fmt.Errorf("start process %s %w", o.ID, err)
	}
	problems.Append(extractProblems...)
	problems.AppendNew(delegate.CheckFiles(idea, "", o.DelegateFiles)...)
	switch {
	case o.isUndo:
		filesToCheckForUndoKeys = nil
	case o.ForkSourceID == "": // a fork keeps what its origin had
		filesToCheckForUndoKeys = o.DelegateFiles
		problems.Append(ideafile.CheckNewUndoesKeys(o.Idea, nil)...)
	}
	for key, file := range jsonval.Sorted(filesToCheckForUndoKeys) {
		for _, problem := range ideafile.CheckNewUndoesKeys(jsonval.AsObject(file), nil) {
			problems.Add(key+": "+problem.JSONPath, "%s", problem.Message)
		}
	}
	if err := newInvalidError(problems...); err != nil {
		return nil, err
	}
	if len(o.InstanceRows) == 0 && idea.IsUnfilledTemplate() && idea.Simulation == nil {
		return nil, newInvalidError(diag.Problem{JSONPath: "$.meta.template",
			Message: "a template has no instances: give it a file of them (run FILE --instances ROWS)"})
	}
	if len(o.InstanceRows) == 0 {
		return idea, nil
	}
	rows := normalizeRows(o.InstanceRows)
	o.InstanceRows = nil // what becomes a message is changed in a copy, and the row itself can go
	messages, problems := ideafiles.MessagesFromRows(rows, idea)
	if err := newInvalidError(problems...); err != nil {
		return nil, err
	}
	if o.InstanceNameColumn != "" {
		namedIdea, problem := ideafiles.NameInstancesBy(o.Idea, o.InstanceNameColumn, messages)
		if problem != nil {
			return nil, newInvalidError(*problem)
		}
		o.Idea = namedIdea
	}
	o.Idea = delegate.WithInstructions(ideafiles.WithMessages(o.Idea, messages), "", o.DelegateFiles)
	return idea, nil
}

// dropForkOrigins removes origins from Ideas that are no forks: a caller may write anything there.
func (o *StartOptions) dropForkOrigins() {
	if o.ForkSourceID != "" || o.isUndo {
		return
	}
	o.Idea = chain.WithoutForkOrigin(o.Idea)
	for key, file := range o.DelegateFiles {
		if source, ok := file.(jsonval.Object); ok {
			o.DelegateFiles[key] = chain.WithoutForkOrigin(source)
		}
	}
}

// normalizeRows converts rows with Go numbers and typed values to JSON values. Rows that are JSON values already, as
// from the API, are not copied.
func normalizeRows(rows []jsonval.Object) []jsonval.Object {
	normalizedRows := make([]jsonval.Object, len(rows))
	for n, row := range rows {
		if normalizedRows[n] = row; !jsonval.IsJSONValue(row) {
			normalizedRows[n], _ = jsonval.ToJSONValue(row).(jsonval.Object)
		}
	}
	return normalizedRows
}

func (c *Client) storeStart(ctx context.Context, o StartOptions) (start protocol.ProcessStart, err error) {
	start = protocol.ProcessStart{ScriptedReplies: o.ScriptedReplies, ResumesSolutionCalls: o.RunsSolution}
	if o.StartedBy != "" {
		start.StartedBy = []policy.Identity{{Name: o.StartedBy, Account: AccountOf(ctx)}}
	}
	if start.Idea, err = offload.Idea(ctx, c.archive.blobStore, o.Idea); err != nil {
		return start, err
	}
	if len(o.DelegateFiles) > 0 {
		start.Delegation.Files = jsonval.Object{}
	}
	for key, v := range o.DelegateFiles {
		idea := jsonval.AsObject(v)
		if start.Delegation.Files[key], err = offload.Idea(ctx, c.archive.blobStore, idea); err != nil {
			return start, err
		}
	}
	start.Delegation.Files, err = offload.IdeaFiles(ctx, c.archive.blobStore, start.Delegation.Files)
	return start, err
}

// contentDigest identifies what a process is started from: SHA-256, in hex, over the canonical bytes of the Idea, the
// replies, any delegates, and whether the solution is used. The order in which people are shown parameters does not
// count. The process's memo has the digest.
func (o *StartOptions) contentDigest() string {
	h := sha256.New()
	h.Write(jsonval.Encode(ideafile.WithoutParamOrder(o.Idea)))
	h.Write([]byte("\n" + o.ScriptedReplies))
	if len(o.DelegateFiles) > 0 {
		h.Write([]byte("\n"))
		files := jsonval.Object{ideafile.DelegatesKey: jsonval.Object(o.DelegateFiles)}
		h.Write(jsonval.Encode(jsonval.Lookup(ideafile.WithoutParamOrder(files), ideafile.DelegatesKey)))
	}
	if o.RunsSolution {
		h.Write([]byte("\nwith its solution"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// startError distinguishes a server that refused the start from a server that did not answer.
func startError(id string, err error) error {
	switch {
	case errors.Is(err, ErrIDInUse):
		return kind.Errorf(ErrInvalid, "start process %s: %w", id, ErrIDInUse)
	case isInvalidArgument(err) || kind.Is[*serviceerror.NamespaceNotFound](err):
		return kind.WithKind(ErrInvalid, err)
	}
	return fmt.Errorf("start process: %w", err)
}
