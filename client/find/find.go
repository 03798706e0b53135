package find

import (
	"context"
	"errors"
	"fmt"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"

	"processidea/client"
	"processidea/client/internal/kind"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
	"processidea/store/texts"
)

// Finding says which process, or which of its instances, contains a text, and in which Parts: parts of Ideas, "id" (the
// process's id), "history" (in Temporal), or "start" (what a Schedule starts).
type Finding struct {
	ProcessID string `json:"process,omitempty"`
	chain.InstanceMatch
	// ScheduleID is set instead of a process if the text is in what a Schedule starts its processes from.
	ScheduleID string `json:"schedule,omitempty"`
}

// Options are the callbacks of a search.
type Options struct {
	// OnFound receives the findings, process by process.
	OnFound func(Finding) error
	// OnUnreadable receives a description of what could not be read.
	OnUnreadable func(what string)
}

const (
	historyMatchPath = "history"
	idMatchPath      = "id"
	startMatchPath   = "start"
)

// SearchIdeas searches all Ideas in a store for a text. It keeps the findings of one process at a time in memory.
func SearchIdeas(ctx context.Context, a *client.Archive, text string, o Options) error {
	needle := texts.NewNeedle(text)
	if needle == "" {
		return kind.Errorf(client.ErrInvalid, "find: the text to look for is empty")
	}
	processIDs, err := a.ProcessIDs(ctx)
	if err != nil {
		return err
	}
	chainStore := chain.New(a.Store())
	for _, processID := range processIDs {
		f, err := chainStore.Find(ctx, processID, needle)
		if err != nil {
			return err
		}
		for _, number := range f.UnreadableIdeaNumbers {
			o.OnUnreadable(fmt.Sprintf("Idea %d of %s, which is broken", number, processID))
		}
		if needle.IsIn(processID) {
			if len(f.Matches) == 0 || f.Matches[0].Instance != "" {
				f.Matches = slices.Insert(f.Matches, 0, chain.InstanceMatch{})
			}
			f.Matches[0].Paths = append(f.Matches[0].Paths, idMatchPath)
		}
		for _, match := range f.Matches {
			if err := o.OnFound(Finding{ProcessID: processID, InstanceMatch: match}); err != nil {
				return err
			}
		}
	}
	return nil
}

// SearchHistories searches Temporal's histories of the namespace for a text, and what Schedules start processes from.
// It keeps one page of events at a time in memory.
func SearchHistories(ctx context.Context, c *client.Client, text string, o Options) error {
	s := temporalSearcher{Client: c, needle: texts.NewNeedle(text), options: o, isReported: map[string]bool{}}
	if s.needle == "" {
		return kind.Errorf(client.ErrInvalid, "find: the text to look for is empty")
	}
	service := c.Temporal().WorkflowService()
	err := chain.EachExecution(ctx, service, c.Namespace(), func(workflowID string, m proto.Message) error {
		processID, typedToken, isInstance := protocol.ParseInstanceID(workflowID)
		return s.searchMessage(ctx, workflowID, m, func(token string) error {
			if isInstance { // its history is about this instance alone
				token = typedToken
			}
			match := chain.InstanceMatch{Instance: token, Paths: []string{historyMatchPath}}
			return s.report(Finding{ProcessID: processID, InstanceMatch: match})
		})
	})
	if err == nil {
		err = chain.EachSchedule(ctx, service, c.Namespace(), func(scheduleID string, m proto.Message) error {
			return s.searchMessage(ctx, scheduleID, m, func(string) error {
				return s.report(Finding{ScheduleID: scheduleID,
					InstanceMatch: chain.InstanceMatch{Paths: []string{startMatchPath}}})
			})
		})
	}
	if err != nil {
		return fmt.Errorf("find: %w", err)
	}
	return nil
}

// temporalSearcher searches Temporal.
type temporalSearcher struct {
	*client.Client
	needle     texts.Needle
	options    Options
	isReported map[string]bool // by process, instance and Schedule
}

// report reports each finding once.
func (s *temporalSearcher) report(h Finding) error {
	key := h.ProcessID + "\n" + spelling.TypeableInstanceToken(h.Instance) + "\n" + h.ScheduleID
	if s.isReported[key] {
		return nil
	}
	s.isReported[key] = true
	return s.options.OnFound(h)
}

// searchMessage searches the texts of a message, and its payloads. It calls found with the instances whose values
// contain the text.
func (s *temporalSearcher) searchMessage(
	ctx context.Context, ownerID string, m proto.Message, onFound func(token string) error,
) error {
	err := protorange.Range(m.ProtoReflect(), func(v protopath.Values) error {
		if text, ok := v.Index(-1).Value.Interface().(string); ok && s.needle.IsIn(text) {
			return onFound("")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return blobs.EachPayload(ctx, m, func(p *commonpb.Payload) error {
		return s.searchPayload(ctx, ownerID, p,
			onFound)
	})
}

func (s *temporalSearcher) searchPayload(
	ctx context.Context, ownerID string, p *commonpb.Payload, onFound func(token string) error,
) error {
	store := s.Archive().Store()
	payload, err := store.Resolve(ctx, p)
	if err == nil {
		payload, err = store.Keys().OpenPayload(payload)
	}
	if err != nil {
		return s.reportIfUnreadable(ownerID, err)
	}
	v, err := jsonval.Decode(payload.GetData())
	if err != nil { // not JSON
		v = string(payload.GetData())
	}
	tokens := map[string]bool{}
	onText := func(place texts.Place, text string) {
		if s.needle.IsIn(text) {
			tokens[place.InstanceToken] = true
		}
	}
	loadBlob := func(h jsonval.BlobHandle) (any, error) {
		data, err := store.Get(blobs.WithProcess(ctx, ownerID), h.Digest)
		if err != nil {
			return nil, s.reportIfUnreadable(ownerID, err)
		}
		return jsonval.Decode(data)
	}
	err = texts.Walker{Load: loadBlob, OnText: onText, OnNumber: onText}.WalkValue(v, texts.Place{})
	for _, token := range jsonval.SortedKeys(tokens) {
		if err == nil {
			err = onFound(token)
		}
	}
	return err
}

// reportIfUnreadable reports a value that can no longer be read, and returns any other error.
func (s *temporalSearcher) reportIfUnreadable(ownerID string, err error) error {
	for _, lost := range []error{blobs.ErrMissing, blobs.ErrChanged, blobs.ErrForgotten} {
		if errors.Is(err, lost) {
			s.options.OnUnreadable(fmt.Sprintf("a value in the history of %s: %s", ownerID, err))
			return nil
		}
	}
	return err
}
