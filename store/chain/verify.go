package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/proofs"
)

// Verify checks a whole chain in the store: the Ideas are numbered without a gap, each names the one before, and every
// manifest, part, value, log and Idea has its digest. The error is for a store that does not answer; it wraps ErrNoIdea
// if there is no chain.
func (s *Store) Verify(ctx context.Context, processID string) (*Report, error) {
	return s.VerifyWitnessed(ctx, processID, nil, func(int, int) {})
}

// WitnessedDigests maps the number of an Idea to the digests by which it is known elsewhere.
type WitnessedDigests map[int][]string

// Add records a digest by which an Idea is known elsewhere.
func (d WitnessedDigests) Add(ideaNumber int, digest string) {
	d[ideaNumber] = jsonval.AppendNew(d[ideaNumber], digest)
}

// VerifyWitnessed is Verify, and also compares each Idea with digests known from elsewhere, since anybody who can write
// to the store can write a whole new chain. It calls progress before each Idea with the number checked and the total.
func (s *Store) VerifyWitnessed(ctx context.Context, processID string, witnessedDigests WitnessedDigests,
	progress func(checked, total int)) (r *Report, err error) {
	defer wrapError(&err, "verify %s", processID)
	ctx = blobs.WithProcess(ctx, processID)
	numbers, otherFiles, err := s.ideaNumbers(ctx, processID)
	if err == nil && len(numbers)+len(otherFiles) == 0 {
		err = ErrNoIdea
	}
	if err != nil {
		return nil, err
	}
	v := &verifier{Store: s, process: processID, report: newReport(processID), witnessedDigests: witnessedDigests,
		audit: proofs.New(s.deciderKeys), errorByDigest: map[string]error{}, deepErrorByDigest: map[string]error{}}
	v.report.IdeaCount = len(numbers)
	for _, name := range otherFiles {
		v.report.add(0, name, "this is no Idea of the chain")
	}
	if err := v.readForgotten(ctx, numbers); err != nil {
		return nil, err
	}
	previousNumber := 0
	for n, number := range numbers {
		progress(n, len(numbers))
		if number > previousNumber+1 {
			v.report.add(previousNumber+1, ManifestName(processID, previousNumber+1), "%s",
				gapText(previousNumber+1, number-1))
			v.previousManifest = nil
		}
		if err := v.checkNext(ctx, number); err != nil {
			return nil, err
		}
		previousNumber = number
	}
	for number, value := range jsonval.Sorted(witnessedDigests) {
		if number > previousNumber {
			v.report.add(number, ManifestName(processID, number),
				"Idea %d is missing: Temporal's history has its digest %s", number, strings.Join(value, " and "))
		}
	}
	v.report.Decisions = v.audit.Counts
	v.checkForgottenDigests()
	v.redactions.reportMismatches(v.report, ideasFolder(processID))
	if v.previousManifest != nil {
		v.report.Digest, v.report.Created = v.previousManifest.Digest, v.previousManifest.link().Created
	}
	return v.report.finish(), nil
}

func gapText(firstMissing, lastMissing int) string {
	if firstMissing == lastMissing {
		return fmt.Sprintf("Idea %d is missing", firstMissing)
	}
	return fmt.Sprintf("Ideas %d to %d are missing", firstMissing, lastMissing)
}

// verifier checks one chain, Idea by Idea.
type verifier struct {
	*Store
	process string
	report  *Report
	// witnessedDigests are the digests that the Ideas must have.
	witnessedDigests  WitnessedDigests
	audit             *proofs.Audit
	errorByDigest     map[string]error // the outcome of the check, by digest
	deepErrorByDigest map[string]error // the outcome for a value and the values that it holds, by digest
	previousManifest  *manifest        // the previous Idea; nil if it could not be read
	forgottenDigests  []string         // digests of the Ideas whose contents were forgotten
	redactions        redactionCheck
	lastIdea          *loadedIdea // the last Idea that could be read
}

// checkNext checks the next Idea. The error is for a store that does not answer.
func (v *verifier) checkNext(ctx context.Context, ideaNumber int) error {
	m, err := v.manifest(ctx, v.process, ideaNumber)
	if err != nil {
		v.previousManifest = nil
		return v.noteBroken(ideaNumber, err)
	}
	v.checkMeta(m)
	if err := v.checkForkOrigin(ctx, m); err != nil {
		return err
	}
	v.previousManifest = m
	v.redactions.addIdea(v.report, m)
	if v.report.Forgotten != nil && m.Meta[forgottenKey] == nil {
		v.forgottenDigests = append(v.forgottenDigests, m.Digest)
		return nil
	}
	isIntact, err := v.checkStoredParts(ctx, m)
	if err != nil || !isIntact {
		v.report.UnreadableIdeas = append(v.report.UnreadableIdeas, ideaNumber)
		return err
	}
	if err := v.checkIdea(ctx, m); err != nil {
		return v.noteBroken(ideaNumber, err)
	}
	return nil
}

// noteBroken records an Idea that cannot be read. The broken part may belong to an earlier Idea, for which it is
// already recorded.
func (v *verifier) noteBroken(ideaNumber int, err error) error {
	if !isBroken(err) {
		return err
	}
	v.report.UnreadableIdeas = append(v.report.UnreadableIdeas, ideaNumber)
	item := ManifestName(v.process, ideaNumber)
	if b, isPartErr := errors.AsType[*brokenPartError](err); isPartErr {
		item = b.part
	}
	v.report.add(ideaNumber, item, "%s", withoutPartName(err))
	v.report.addUnloadable(item, ideaNumber)
	return nil
}

// checkMeta checks the meta of an Idea.
func (v *verifier) checkMeta(m *manifest) {
	ideaNumber := m.metaNumber("at")
	v.report.noteSimulated(m.Meta)
	place := ManifestName(v.process, ideaNumber)
	switch parentDigest := m.metaText("parent"); {
	case ideaNumber == 1 && parentDigest != "":
		v.report.add(ideaNumber, place, "the first Idea names a parent")
	case v.previousManifest != nil && parentDigest != v.previousManifest.Digest:
		v.report.add(ideaNumber, place, "its parent is not the Idea before it")
	}
	if _, err := time.Parse(time.RFC3339Nano, m.metaText(createdAtKey)); err != nil {
		v.report.add(ideaNumber, place, "meta.createdAt is no time")
	}
	if digests := v.witnessedDigests[ideaNumber]; len(digests) > 0 {
		v.report.WitnessedCount++
		if !slices.Contains(digests, m.Digest) {
			v.report.add(ideaNumber, place, "it has the digest %s, and Temporal's history has %s", m.Digest,
				strings.Join(digests, " and "))
		}
	}
}

// checkForkOrigin checks that a forked process names the right digest of its origin, if the store has that chain.
func (v *verifier) checkForkOrigin(ctx context.Context, m *manifest) error {
	ideaNumber := m.metaNumber("at")
	if ideaNumber != 1 || m.Meta[originKey] == nil {
		return nil
	}
	v.report.Origin, v.report.Undoes = m.Meta[originKey], m.Meta[protocol.UndoesMetaKey]
	claimedOrigin := &manifest{Meta: jsonval.AsObject(m.Meta[originKey])}
	originManifest, err := v.manifest(ctx, claimedOrigin.metaText("process"), claimedOrigin.metaNumber("at"))
	switch {
	case isBroken(err):
		return nil // that chain is gone, or has a broken place of its own
	case err != nil:
		return err
	case originManifest.Digest != claimedOrigin.metaText("digest"):
		v.report.add(ideaNumber, ManifestName(v.process, ideaNumber),
			"it says that it comes from Idea %d of %s, which has another digest",
			claimedOrigin.metaNumber("at"), claimedOrigin.metaText("process"))
	}
	return nil
}

// checkIdea checks the Idea that a manifest leads to against the manifest.
func (v *verifier) checkIdea(ctx context.Context, m *manifest) error {
	ideaNumber := m.metaNumber("at")
	d, st, err := v.draft(ctx, m, v.lastIdea)
	v.lastIdea = st
	if err != nil {
		return err
	}
	if err := v.checkStoredValues(ctx, ideaNumber, []any{d.meta, d.body, d.log}); err != nil {
		return err
	}
	wholeIdea, err := restoreIdea(ctx, v.blobStore, d.meta, d.body)
	if err != nil {
		return err
	}
	place := ManifestName(v.process, ideaNumber)
	v.report.addProblems(ideaNumber, place, v.audit.CheckLog(v.process, d.log))
	if ideaNumber == 1 {
		v.report.addProblems(ideaNumber, place, v.audit.CheckInheritedProofs(wholeIdea))
	}
	switch counts := d.counts(); {
	case digestOf(wholeIdea) != m.contentDigest():
		v.report.add(ideaNumber, place, "the Idea has another digest than it says")
	case counts != m.Counts:
		v.report.add(ideaNumber, place, "it holds %+v and says %+v", counts, m.Counts)
	case !m.hasLineageOf(st):
		v.report.add(ideaNumber, place, "it names the wrong Ideas as those it comes from")
	}
	return nil
}

// hasLineageOf reports whether the lineage in a manifest is right.
func (m *manifest) hasLineageOf(st *loadedIdea) bool {
	if st.base == nil {
		return m.lineage == lineage{RootIdeaNumber: st.number}
	}
	return m.RootIdeaNumber == st.base.RootIdeaNumber && m.DeltaCount == st.base.DeltaCount+1 &&
		m.DeltaBytes > st.base.DeltaBytes
}
