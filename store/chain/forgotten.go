package chain

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// ForgetRecord says when and by whom the contents of a process were removed.
type ForgetRecord struct {
	ForgottenAt time.Time `json:"at"`
	By          string    `json:"by,omitempty"`
	Reason      string    `json:"reason,omitempty"`
}

// String describes the removal for people.
func (f ForgetRecord) String() string {
	text := "forgotten on " + f.ForgottenAt.UTC().Format("2006-01-02 15:04:05 UTC")
	if f.By != "" {
		text += " by " + f.By
	}
	if f.Reason != "" {
		text += ": " + f.Reason
	}
	return text
}

// ForgottenError says that something cannot be read because the contents of the process were forgotten. It wraps
// blobs.ErrForgotten.
type ForgottenError struct {
	ProcessID string
	Record    ForgetRecord
}

// Error says when the contents were forgotten, and by whom.
func (e *ForgottenError) Error() string {
	return fmt.Sprintf("what %s worked on was %s", e.ProcessID, e.Record)
}

// Unwrap returns blobs.ErrForgotten.
func (e *ForgottenError) Unwrap() error { return blobs.ErrForgotten }

// forgottenMetaKey is the key of meta in the last Idea of a process which records that the contents were forgotten:
// Forgotten, and under forgottenDigestsKey the digests of all Ideas before it.
const (
	forgottenMetaKey    = "forgotten"
	forgottenDigestsKey = "digests"
)

// forgotten returns who had contents removed: those of this Idea, or, from the last Idea's record, those of the chain;
// nil if nothing was forgotten.
func (m *manifest) forgotten() *ForgetRecord {
	if m.Forgotten != nil || m.Meta[forgottenMetaKey] == nil {
		return m.Forgotten
	}
	f := &ForgetRecord{}
	if !decodeInto(m.Meta[forgottenMetaKey], f) {
		return nil
	}
	return f
}

// decodeInto decodes a JSON value into to; it reports whether the value fits.
func decodeInto(v, target any) bool { return json.Unmarshal(jsonval.Encode(v), target) == nil }

// checkNotForgotten returns a *ForgottenError if the contents of the Idea were forgotten.
func (m *manifest) checkNotForgotten() error {
	if m.Forgotten == nil {
		return nil
	}
	return &ForgottenError{m.metaText("process"), *m.Forgotten}
}

// readForgetRecord finds out whether the last Idea says that the contents of the process were forgotten.
func (v *verifier) readForgetRecord(ctx context.Context, ideaNumbers []int) error {
	if len(ideaNumbers) == 0 {
		return nil
	}
	lastManifest, err := v.manifest(ctx, v.processID, ideaNumbers[len(ideaNumbers)-1])
	if isBroken(err) {
		return nil // checkNextIdea reports it in its turn
	}
	if err == nil {
		v.report.Forgotten = lastManifest.forgotten()
	}
	return err
}

// checkForgottenDigests checks that the Ideas whose contents are gone are exactly those that the last Idea names by
// digest.
func (v *verifier) checkForgottenDigests() {
	if v.report.Forgotten == nil || v.previousManifest == nil {
		return
	}
	digests, _ := jsonval.AsStringList(jsonval.AsObject(v.previousManifest.Meta[forgottenMetaKey])[forgottenDigestsKey])
	if ideaNumber := v.previousManifest.metaNumber("at"); !slices.Equal(digests, v.forgottenDigests) {
		v.report.addBrokenItem(ideaNumber, ManifestName(v.processID, ideaNumber),
			"it says that other Ideas were forgotten than those before it")
	}
}

// Forks lists the processes that were forked from a process, or from one of its parts or delegates, and whose contents
// were not forgotten. They still hold what the process had worked on by then.
func (s *Store) Forks(ctx context.Context, processID string) (forkProcessIDs []string, err error) {
	defer wrapError(&err, "look for forks of %s", processID)
	processIDs, err := s.ListProcessIDs(ctx)
	if err != nil {
		return nil, err
	}
	forkProcessIDs = []string{}
	for _, id := range processIDs {
		rootProcessID := blobs.RootProcessID(id)
		if rootProcessID == processID || slices.Contains(forkProcessIDs, rootProcessID) {
			continue
		}
		firstLink, err := s.LinkAt(ctx, id, 1)
		if isBroken(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		originProcessID := jsonval.AsText(jsonval.AsObject(firstLink.ForkOrigin)["process"])
		if firstLink.Forgotten == nil && blobs.RootProcessID(originProcessID) == processID {
			forkProcessIDs = append(forkProcessIDs, rootProcessID)
		}
	}
	return forkProcessIDs, nil
}
