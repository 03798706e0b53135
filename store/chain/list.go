package chain

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"processidea/internal/safego"
	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// Link is one Idea of a chain, as a list shows it.
type Link struct {
	IdeaNumber   int       `json:"at"`
	Digest       string    `json:"digest"`
	ParentDigest string    `json:"parent,omitempty"`
	Created      time.Time `json:"createdAt"`
	// Request is the number of the Request that sealed the Idea; 0 if no Request did.
	Request int `json:"request,omitempty"`
	// LLM is the turn.LLMUsage of the LLM that answered; absent if none has answered yet.
	LLM        any    `json:"llm,omitempty"`
	Counts     Counts `json:"counts"`
	ForkOrigin any    `json:"origin,omitempty"`
	// Undoes says which process this one undoes, for whom and why; absent if it undoes none.
	Undoes any `json:"undoes,omitempty"`
	// Simulated says who played the Tools of a simulation; absent for a process that really ran.
	Simulated any `json:"simulated,omitempty"`
	// PartProcessIDs are the processes of the parts from which a split process's Idea was made.
	PartProcessIDs []string `json:"parts,omitempty"`
	// Forgotten states who had the contents removed. The last Idea of such a chain is readable, and records it.
	Forgotten *ForgetRecord `json:"forgotten,omitempty"`
}

// maxConcurrentReads is how many manifests are read at a time: a bucket answers many requests as fast as one.
const maxConcurrentReads = 16

// List returns the Ideas of a process in order. The error wraps ErrNoIdea if there are none.
func (s *Store) List(ctx context.Context, processID string) (links []Link, err error) {
	defer wrapError(&err, "list Ideas of %s", processID)
	manifests, err := s.manifests(ctx, processID)
	return jsonval.Map(manifests, (*manifest).link), err
}

// LinkAt returns one Idea of a process by its number. The error wraps ErrNoIdea if there is no such Idea.
func (s *Store) LinkAt(ctx context.Context, processID string, ideaNumber int) (l Link, err error) {
	defer wrapError(&err, "read Idea %d of %s", ideaNumber, processID)
	m, err := s.manifest(ctx, processID, ideaNumber)
	if err == nil {
		l = m.link()
	}
	return l, err
}

func (m *manifest) link() Link {
	// A createdAt that is no time yields the zero time; Verify reports it.
	created, _ := time.Parse(time.RFC3339Nano, m.metaText(createdAtMetaKey))
	var partProcessIDs []string
	for _, part := range jsonval.AsList(m.Meta["parts"]) {
		partProcessIDs = append(partProcessIDs, jsonval.AsText(jsonval.AsObject(part)["process"]))
	}
	return Link{
		PartProcessIDs: partProcessIDs, IdeaNumber: m.metaNumber("at"), Digest: m.Digest,
		ParentDigest: m.metaText("parent"),
		Created:      created,
		Request:      m.metaNumber("request"), LLM: m.Meta["llm"], Counts: m.Counts,
		ForkOrigin: m.Meta[forkOriginMetaKey],
		Undoes:     m.Meta["undoes"], Simulated: m.Meta["simulated"],
		Forgotten: m.forgotten(),
	}
}

// manifests reads all manifests of a process in order.
func (s *Store) manifests(ctx context.Context, processID string) ([]*manifest, error) {
	numbers, _, err := s.ideaNumbers(ctx, processID)
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, ErrNoIdea
	}
	all := make([]*manifest, len(numbers))
	err = safego.ForEach(ctx, "chain.manifests", len(numbers), maxConcurrentReads,
		func(ctx context.Context, n int) (err error) {
			all[n], err = s.manifest(ctx, processID, numbers[n])
			return err
		})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// manifestFolder is the folder of all manifests.
const manifestFolder = "ideas/"

// ManifestName names the place of a process's Idea in the store.
func ManifestName(processID string, ideaNumber int) string {
	return fmt.Sprintf("%s%d.json", ideasFolder(processID), ideaNumber)
}

// ideasFolder names the folder of a process's Ideas.
func ideasFolder(processID string) string { return manifestFolder + url.PathEscape(processID) + "/" }

// parseIdeaNumber parses the number of the Idea at a place; ok is false if no Idea of the process has such a name.
func parseIdeaNumber(processID, name string) (number int, ok bool) {
	text, ok := strings.CutSuffix(strings.TrimPrefix(name, ideasFolder(processID)), ".json")
	number, err := strconv.Atoi(text)
	return number, ok && err == nil && number > 0 && strconv.Itoa(number) == text
}

// ListProcessIDs lists the processes that have Ideas, in the order of their names.
func (s *Store) ListProcessIDs(ctx context.Context) (processIDs []string, err error) {
	return s.processIDsWithPrefix(ctx, "")
}

// ListPartsAndDelegates lists the parts and delegates of a process, at any depth, that have Ideas.
func (s *Store) ListPartsAndDelegates(ctx context.Context, processID string) (processIDs []string, err error) {
	return s.processIDsWithPrefix(ctx, processID+"/")
}

func (s *Store) processIDsWithPrefix(ctx context.Context, prefix string) (processIDs []string, err error) {
	defer wrapError(&err, "list processes")
	folders, err := s.blobStore.ListFolders(ctx, manifestFolder+url.PathEscape(prefix))
	processIDs = []string{}
	for _, f := range folders {
		if p, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(f, manifestFolder), "/")); err == nil {
			processIDs = append(processIDs, p)
		}
	}
	slices.Sort(processIDs)
	return processIDs, err
}

// ideaNumbers lists the numbers of a process's Ideas in order, and the names of other files in their folder.
func (s *Store) ideaNumbers(ctx context.Context, processID string) (numbers []int, otherFiles []string, err error) {
	items, err := s.blobStore.ListUnder(ctx, ideasFolder(processID))
	for _, i := range items {
		if number, ok := parseIdeaNumber(processID, i.Name); ok {
			numbers = append(numbers, number)
		} else {
			otherFiles = append(otherFiles, i.Name)
		}
	}
	slices.Sort(numbers)
	return numbers, otherFiles, err
}

// LatestIdeaNumber returns the number of a process's latest Idea; 0 if it has none.
func (s *Store) LatestIdeaNumber(ctx context.Context, processID string) (number int, err error) {
	defer wrapError(&err, "find the latest Idea of %s", processID)
	numbers, _, err := s.ideaNumbers(ctx, processID)
	if len(numbers) > 0 {
		number = numbers[len(numbers)-1]
	}
	return number, err
}

// undoFolder holds, by process, the names of the processes that undo it.
const undoFolder = "undo/"

// RecordUndoingProcess records that the process undoingProcessID undoes another process. Seal calls it for the first
// Idea of each such process.
func (s *Store) RecordUndoingProcess(ctx context.Context, undoneProcessID, undoingProcessID string) error {
	objectName := undoFolder + url.PathEscape(undoneProcessID) + "/" + url.PathEscape(undoingProcessID)
	return s.blobStore.Write(blobs.WithProcess(ctx, ""), objectName, []byte(undoingProcessID+"\n"))
}

// ListUndoingProcesses lists the processes that RecordUndoingProcess recorded for a process.
func (s *Store) ListUndoingProcesses(ctx context.Context,
	undoneProcessID string) (undoingProcessIDs []string, err error) {
	folder := undoFolder + url.PathEscape(undoneProcessID) + "/"
	items, err := s.blobStore.ListUnder(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("chain: find what takes %s back: %w", undoneProcessID, err)
	}
	for _, i := range items {
		if undoingProcessID, err := url.PathUnescape(strings.TrimPrefix(i.Name, folder)); err == nil {
			undoingProcessIDs = append(undoingProcessIDs, undoingProcessID)
		}
	}
	return undoingProcessIDs, nil
}
