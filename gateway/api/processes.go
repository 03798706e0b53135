package api

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/feed"
	"processidea/model/ideafile/spelling"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/blobs"
)

func (a *API) addProcessOperations() {
	const tag, processPath = "processes", "/api/processes/{id}"
	startOperation := newPostOperation(tag, "start-process", "/api/processes", "Start a process",
		"Starts a process from an Idea, or attaches to the one with the same id and content, so that a request "+
			"can be repeated. 201: it was started; 200: it was there.")
	startOperation.MaxBodyBytes = maxIdeaBodyBytes
	addOperation(a, access.Start, asStartOperation(startOperation, startedResponse), a.start)
	addGet(a, tag, "list-processes", "/api/processes", "List processes, the latest first",
		"Lists the processes that somebody started, not those that a process started. A page may hold fewer than "+
			"`limit` although more follow: then it has `next`.",
		func(ctx context.Context, in *listInput) (ProcessPage, error) {
			return a.ListProcesses(ctx, client.ProcessFilter{Status: loop.Status(in.Status), ProcessPath: in.Path,
				OnlyAwaitingPeople: in.Awaiting},
				in.Limit, in.Page)
		})
	addGet(a, tag, "get-process", processPath, "See where a process stands",
		"Tells where a process stands, without the States of its instances. If no worker answers, only its status "+
			"is known, and unseen says why.",
		func(ctx context.Context, in *ProcessTarget) (ProcessStatus, error) { return a.Status(ctx, in.ID) })
	addGetOperation(a, huma.Operation{
		OperationID: "get-result", Path: processPath + "/result", Summary: "Get what a process has come to",
		Tags: []string{tag},
		Description: "Gives what a process came to, with every value whole. If it is still at work after `wait`, " +
			"the answer is the problem not-ended.",
		Errors: []int{http.StatusConflict},
	}, asHandler(a.getResult))
	addGet(a, tag, "list-instances", processPath+"/instances", "See where the instances stand",
		"Gives the State of each instance and what became of each of its Calls, by token. A worker must be there to "+
			"answer.", a.listInstances)
	addGet(a, tag, "count-actions", processPath+"/actions", "Count what a hosted Temporal bills",
		"Counts the actions that the process has taken so far. It reads the histories of all its workflows that "+
			"the server still has, so do not ask often. Queries and heartbeats are not counted.",
		func(ctx context.Context, in *ProcessTarget) (client.BilledActionCounts, error) {
			return a.Client.Process(in.ID).CountBilledActions(ctx)
		})
}

type startBody struct {
	_ struct{} `additionalProperties:"false"`
	client.StartOptions
}

// Started names a process.
type Started struct {
	ProcessID  string `json:"process" doc:"its id"`
	IsAttached bool   `json:"attached" doc:"it was there already"`
}

type startOutput struct {
	Status   int
	Location string `header:"Location" doc:"the process's page"`
	Body     Started
}

var startedResponse = &huma.Response{Description: "The process"}

func (a *API) start(ctx context.Context, in *struct{ Body startBody }) (*startOutput, error) {
	o := in.Body.StartOptions
	in.Body.StartOptions = client.StartOptions{} // its rows are many, and not needed once they are messages
	return a.startForCaller(ctx, o, a.Client.Start)
}

// startForCaller starts a process in the caller's name. o.ID may be empty.
func (a *API) startForCaller(ctx context.Context, o client.StartOptions,
	start func(context.Context, client.StartOptions) (*client.Process, error)) (*startOutput, error) {
	if err := client.ValidateProcessID(o.ID); o.ID != "" && err != nil {
		return nil, invalidAt("body.id", err)
	}
	o.StartedBy = access.PersonFrom(ctx).Name
	processID := o.ID // o is not kept while the process starts
	p, err := start(ctx, o)
	a.NoteChange(processID)
	if err != nil {
		return nil, err
	}
	out := &startOutput{Status: http.StatusCreated, Location: processURL(p.ID()), Body: Started{p.ID(), p.IsAttached()}}
	if p.IsAttached() {
		out.Status = http.StatusOK
	}
	return out, nil
}

func processURL(id string) string { return "/api/processes/" + url.PathEscape(id) }

type listInput struct {
	Status   string `query:"status" enum:"running,paused,completed,failed,cancelled" doc:"only those of this status"`
	Path     string `query:"path" doc:"only those of an Idea with this meta.path"`
	Awaiting bool   `query:"awaiting" doc:"only those in which a Call waits for a person"`
	Limit    int    `query:"limit" default:"50" minimum:"1" maximum:"200" doc:"how many at most"`
	Page     string `query:"page" doc:"next of the previous page"`
}

// ProcessPage is a page of processes.
type ProcessPage struct {
	Processes     []client.ProcessSummary `json:"processes" nullable:"false"`
	NextPageToken string                  `json:"next,omitempty" doc:"the page after this one, for the parameter page; absent: there is none"`
}

// ListProcesses returns a page of processes. pageToken is the Next of the previous page, or empty. The result is
// shared: do not change it.
func (a *API) ListProcesses(ctx context.Context, f client.ProcessFilter, limit int,
	pageToken string) (ProcessPage, error) {
	temporalPageToken, err := decodePageToken(pageToken)
	if err != nil {
		return ProcessPage{}, invalidAt("query.page", err)
	}
	key := fmt.Sprintf("list\n%d %s %v", limit, pageToken, f)
	return sharedAnswer(ctx, a, key, func(ctx context.Context) (ProcessPage, error) {
		page, err := a.Client.ListPage(ctx, f, limit, temporalPageToken)
		if err != nil {
			return ProcessPage{}, err
		}
		return ProcessPage{page.Processes, encodePageToken(page.NextPageToken)}, nil
	})
}

var errBadPageToken = errors.New("it is not the next of a page")

// encodePageToken encodes the server's page token with a checksum, because the server is slow to refuse an invalid
// token.
func encodePageToken(temporalPageToken []byte) string {
	if len(temporalPageToken) == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(temporalPageToken,
		crc32.ChecksumIEEE(temporalPageToken)))
}

func decodePageToken(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	n := len(data) - crc32.Size
	if err != nil || n < 1 || binary.BigEndian.Uint32(data[n:]) != crc32.ChecksumIEEE(data[:n]) {
		return nil, errBadPageToken
	}
	return data[:n], nil
}

// ProcessStatus is the status of a process.
type ProcessStatus struct {
	protocol.ProcessView
	UnseenReason      string   `json:"unseen,omitempty" doc:"why only the status is known: no worker answers"`
	UndoingProcessIDs []string `json:"undoneBy,omitempty" doc:"the processes that have begun to take back what it did, once it has ended"`
}

// Status returns the status of a process. The result is shared: do not change it. The error wraps client.ErrNotFound if
// the id is unknown.
func (a *API) Status(ctx context.Context, processID string) (ProcessStatus, error) {
	return sharedAnswer(ctx, a, "status\n"+processID, func(ctx context.Context) (s ProcessStatus, err error) {
		s, err = a.fetchStatus(ctx, processID)
		if err == nil && s.Status != loop.StatusRunning && s.Status != loop.StatusPaused {
			s.UndoingProcessIDs, err = a.Client.Chain(processID).UndoingProcessIDs(ctx)
		}
		return s, err
	})
}

func (a *API) fetchStatus(ctx context.Context, processID string) (ProcessStatus, error) {
	p, err := a.Client.Attach(ctx, processID)
	if err != nil {
		return ProcessStatus{}, err
	}
	v, err := p.Status(ctx)
	if err == nil {
		return ProcessStatus{ProcessView: withoutNilLists(v)}, nil
	}
	r, err := p.Snapshot(ctx)
	if err != nil && !errors.Is(err, client.ErrNoWorker) {
		return ProcessStatus{}, err
	}
	out := ProcessStatus{ProcessView: withoutNilLists(client.Status{ProcessResult: feed.WithoutStates(r)})}
	if err != nil {
		out.UnseenReason = err.Error()
	}
	return out, nil
}

// withoutNilLists replaces a nil list by an empty one, so that JSON has [] in place of null.
func withoutNilLists(v client.Status) client.Status {
	if v.WaitingFor == nil {
		v.WaitingFor = []string{}
	}
	return v
}

type resultInput struct {
	ProcessTarget
	Wait int `query:"wait" minimum:"0" maximum:"60" doc:"how many seconds to wait for the end"`
}

func (a *API) getResult(ctx context.Context, in *resultInput) (r loop.ProcessResult, err error) {
	p, err := a.Client.Attach(ctx, in.ID)
	if err != nil {
		return r, err
	}
	hasEnded, err := a.Feed.AwaitEndWithin(ctx, p, time.Duration(in.Wait)*time.Second)
	if err == nil && !hasEnded {
		err = newProblem(http.StatusConflict, CodeNotEnded, "process "+p.ID()+" is still at work")
	}
	if err != nil {
		return r, err
	}
	return p.Result(ctx)
}

type instancesInput struct {
	ProcessTarget
	Instance string `query:"instance" doc:"only this one: its token, or as it is typed (13 for ⑬)"`
}

// InstanceList is instances by their tokens.
type InstanceList struct {
	Instances map[string]client.InstanceStatus `json:"instances"`
}

func (a *API) listInstances(ctx context.Context, in *instancesInput) (list InstanceList, err error) {
	p, err := a.Client.Attach(ctx, in.ID)
	if err != nil {
		return list, err
	}
	all, err := p.Instances(ctx)
	if err != nil {
		return list, noWorkerErrorIfUnmapped(err)
	}
	for instanceToken, i := range all {
		if in.Instance != "" && !spelling.MatchesInstanceToken(in.Instance, instanceToken) {
			delete(all, instanceToken)
			continue
		}
		if i.State, err = a.Client.Archive().Store().Restore(blobs.WithProcess(ctx, in.ID), i.State); err != nil {
			return list, err
		}
		all[instanceToken] = i
	}
	if in.Instance != "" && len(all) == 0 {
		return list, newProblem(http.StatusNotFound, CodeNotFound, "process "+in.ID+" has no instance "+in.Instance)
	}
	return InstanceList{all}, nil
}

// noWorkerErrorIfUnmapped turns an error without a code into the problem no-worker: the process was found, but nobody
// answered.
func noWorkerErrorIfUnmapped(err error) error {
	if slices.ContainsFunc(errorMappings, func(k errorMapping) bool { return errors.Is(err, k.err) }) {
		return err
	}
	return newProblem(http.StatusServiceUnavailable, CodeNoWorker, err.Error())
}
