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
	Process   string
	Forgotten ForgetRecord
}

// Error says when the contents were forgotten, and by whom.
func (e *ForgottenError) Error() string {
	return fmt.Sprintf("what %s worked on was %s", e.Process, e.Forgotten)
}

// Unwrap returns blobs.ErrForgotten.
func (e *ForgottenError) Unwrap() error { return blobs.ErrForgotten }

// forgottenKey is the key of meta in the last Idea of a process which records that the contents were forgotten:
// Forgotten, and under forgottenDigestsKey the digests of all Ideas before it.
const (
	forgottenKey        = "forgotten"
	forgottenDigestsKey = "digests"
)

// forgotten returns who had contents removed: those of this Idea, or, from the last Idea's record, those of the chain;
// nil if nothing was forgotten.
func (m *manifest) forgotten() *ForgetRecord {
	if m.Forgotten != nil || m.Meta[forgottenKey] == nil {
		return m.Forgotten
	}
	f := &ForgetRecord{}
	if !decodeInto(m.Meta[forgottenKey], f) {
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

// readForgotten finds out whether the last Idea says that the contents of the process were forgotten.
func (v *verifier) readForgotten(ctx context.Context, numbers []int) error {
	if len(numbers) == 0 {
		return nil
	}
	lastManifest, err := v.manifest(ctx, v.process, numbers[len(numbers)-1])
	if isBroken(err) {
		return nil // checkNext reports it in its turn
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
	digests, _ := jsonval.AsStringList(jsonval.AsObject(v.previousManifest.Meta[forgottenKey])[forgottenDigestsKey])
	if ideaNumber := v.previousManifest.metaNumber("at"); !slices.Equal(digests, v.forgottenDigests) {
		v.report.add(ideaNumber, ManifestName(v.process, ideaNumber),
			"it says that other Ideas were forgotten than those before it")
	}
}

// Forks lists the processes that were forked from a process, or from one of its parts or delegates, and whose contents
// were not forgotten. They still hold what the process had worked on by then.
func (s *Store) Forks(ctx context.Context, processID string) (forks []string, err error) {
	defer wrapError(&err, "look for forks of %s", processID)
	processIDs, err := s.Processes(ctx)
	if err != nil {
		return nil, err
	}
	forks = []string{}
	for _, id := range processIDs {
		rootProcess := blobs.RootProcessID(id)
		if rootProcess == processID || slices.Contains(forks, rootProcess) {
			continue
		}
		firstLink, err := s.LinkAt(ctx, id, 1)
		if isBroken(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		originProcess := jsonval.AsText(jsonval.AsObject(firstLink.Origin)["process"])
		if firstLink.Forgotten == nil && blobs.RootProcessID(originProcess) == processID {
			forks = append(forks, rootProcess)
		}
	}
	return forks, nil
}
