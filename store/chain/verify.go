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
	onProgress func(checked, total int)) (r *Report, err error) {
	defer wrapError(&err, "verify %s", processID)
	ctx = blobs.WithProcess(ctx, processID)
	ideaNumbers, otherFiles, err := s.ideaNumbers(ctx, processID)
	if err == nil && len(ideaNumbers)+len(otherFiles) == 0 {
		err = ErrNoIdea
	}
	if err != nil {
		return nil, err
	}
	v := &verifier{Store: s, processID: processID, report: newReport(processID), witnessedDigests: witnessedDigests,
		audit: proofs.New(s.proofVerifier), errorByDigest: map[string]error{}, deepErrorByDigest: map[string]error{}}
	v.report.IdeaCount = len(ideaNumbers)
	for _, name := range otherFiles {
		v.report.addBrokenItem(0, name, "this is no Idea of the chain")
	}
	if err := v.readForgetRecord(ctx, ideaNumbers); err != nil {
		return nil, err
	}
	previousIdeaNumber := 0
	for n, ideaNumber := range ideaNumbers {
		onProgress(n, len(ideaNumbers))
		if ideaNumber > previousIdeaNumber+1 {
			v.report.addBrokenItem(previousIdeaNumber+1, ManifestName(processID, previousIdeaNumber+1), "%s",
				gapText(previousIdeaNumber+1, ideaNumber-1))
			v.previousManifest = nil
		}
		if err := v.checkNextIdea(ctx, ideaNumber); err != nil {
			return v.report.finish(), err
		}
		previousIdeaNumber = ideaNumber
	}
	for ideaNumber, digests := range jsonval.Sorted(witnessedDigests) {
		if ideaNumber > previousIdeaNumber {
			v.report.addBrokenItem(ideaNumber, ManifestName(processID, ideaNumber),
				"Idea %d is missing: Temporal's history has its digest %s", ideaNumber, strings.Join(digests, " and "))
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
	processID string
	report    *Report
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

// checkNextIdea checks the next Idea. The error is for a store that does not answer.
func (v *verifier) checkNextIdea(ctx context.Context, ideaNumber int) error {
	m, err := v.manifest(ctx, v.processID, ideaNumber)
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
	if v.report.Forgotten != nil && m.Meta[forgottenMetaKey] == nil {
		v.forgottenDigests = append(v.forgottenDigests, m.Digest)
		return nil
	}
	isIntact, err := v.checkValueNodes(ctx, m)
	if err != nil || !isIntact {
		v.report.UnreadableIdeaNumbers = append(v.report.UnreadableIdeaNumbers, ideaNumber)
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
	v.report.UnreadableIdeaNumbers = append(v.report.UnreadableIdeaNumbers, ideaNumber)
	item := ManifestName(v.processID, ideaNumber)
	if b, isBrokenObjectErr := errors.AsType[*brokenObjectError](err); isBrokenObjectErr {
		item = b.objectName
	}
	v.report.addBrokenItem(ideaNumber, item, "%s", withoutObjectName(err))
	v.report.addUnloadable(item, ideaNumber)
	return nil
}

// checkMeta checks the meta of an Idea.
func (v *verifier) checkMeta(m *manifest) {
	ideaNumber := m.metaNumber("at")
	v.report.noteSimulated(m.Meta)
	item := ManifestName(v.processID, ideaNumber)
	switch parentDigest := m.metaText("parent"); {
	case ideaNumber == 1 && parentDigest != "":
		v.report.addBrokenItem(ideaNumber, item, "the first Idea names a parent")
	case v.previousManifest != nil && parentDigest != v.previousManifest.Digest:
		v.report.addBrokenItem(ideaNumber, item, "its parent is not the Idea before it")
	}
	if _, err := time.Parse(time.RFC3339Nano, m.metaText(createdAtMetaKey)); err != nil {
		v.report.addBrokenItem(ideaNumber, item, "meta.createdAt is no time")
	}
	if digests := v.witnessedDigests[ideaNumber]; len(digests) > 0 {
		v.report.WitnessedIdeaCount++
		if !slices.Contains(digests, m.Digest) {
			v.report.addBrokenItem(ideaNumber, item, "it has the digest %s, and Temporal's history has %s", m.Digest,
				strings.Join(digests, " and "))
		}
	}
}

// checkForkOrigin checks that a forked process names the right digest of its origin, if the store has that chain.
func (v *verifier) checkForkOrigin(ctx context.Context, m *manifest) error {
	ideaNumber := m.metaNumber("at")
	if ideaNumber != 1 || m.Meta[forkOriginMetaKey] == nil {
		return nil
	}
	v.report.ForkOrigin, v.report.Undoes = m.Meta[forkOriginMetaKey], m.Meta[protocol.UndoesMetaKey]
	claimedForkOrigin := &manifest{Meta: jsonval.AsObject(m.Meta[forkOriginMetaKey])}
	originManifest, err := v.manifest(ctx, claimedForkOrigin.metaText("process"), claimedForkOrigin.metaNumber("at"))
	switch {
	case isBroken(err):
		return nil // that chain is gone, or has a broken place of its own
	case err != nil:
		return err
	case originManifest.Digest != claimedForkOrigin.metaText("digest"):
		v.report.addBrokenItem(ideaNumber, ManifestName(v.processID, ideaNumber),
			"it says that it comes from Idea %d of %s, which has another digest",
			claimedForkOrigin.metaNumber("at"), claimedForkOrigin.metaText("process"))
	}
	return nil
}

// checkIdea checks the Idea that a manifest leads to against the manifest.
func (v *verifier) checkIdea(ctx context.Context, m *manifest) error {
	ideaNumber := m.metaNumber("at")
	d, st, err := v.readContent(ctx, m, v.lastIdea)
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
	item := ManifestName(v.processID, ideaNumber)
	v.report.addDecisionProblems(ideaNumber, item, v.audit.CheckDecisionsOfIdea(v.processID, d.log))
	if ideaNumber == 1 {
		v.report.addDecisionProblems(ideaNumber, item, v.audit.CheckInheritedProofs(wholeIdea))
	}
	switch counts := d.counts(); {
	case digestOf(wholeIdea) != m.contentDigest():
		v.report.addBrokenItem(ideaNumber, item, "the Idea has another digest than it says")
	case counts != m.Counts:
		v.report.addBrokenItem(ideaNumber, item, "it holds %+v and says %+v", counts, m.Counts)
	case !m.hasLineageOf(st):
		v.report.addBrokenItem(ideaNumber, item, "it names the wrong Ideas as those it comes from")
	}
	return nil
}

// hasLineageOf reports whether the lineage in a manifest is right.
func (m *manifest) hasLineageOf(loaded *loadedIdea) bool {
	if loaded.base == nil {
		return m.lineage == lineage{FullIdeaNumber: loaded.number}
	}
	return m.FullIdeaNumber == loaded.base.FullIdeaNumber && m.DeltaCount == loaded.base.DeltaCount+1 &&
		m.DeltaBytes > loaded.base.DeltaBytes
}
