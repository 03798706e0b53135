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
func (s *Store) Verify(ctx context.Context, process string) (*Report, error) {
	return s.VerifyWitnessed(ctx, process, nil, func(int, int) {})
}

// Digests maps the number of an Idea to the digests by which it is known elsewhere.
type Digests map[int][]string

// Add records a digest by which an Idea is known elsewhere.
func (d Digests) Add(at int, digest string) {
	d[at] = jsonval.AppendNew(d[at], digest)
}

// VerifyWitnessed is Verify, and also compares each Idea with digests known from elsewhere, since anybody who can write
// to the store can write a whole new chain. It calls progress before each Idea with the number checked and the total.
func (s *Store) VerifyWitnessed(ctx context.Context, process string, witnessed Digests,
	progress func(checked, of int)) (r *Report, err error) {
	defer wrapError(&err, "verify %s", process)
	ctx = blobs.ForProcess(ctx, process)
	numbers, strange, err := s.ideaNumbers(ctx, process)
	if err == nil && len(numbers)+len(strange) == 0 {
		err = ErrNoIdea
	}
	if err != nil {
		return nil, err
	}
	v := &verifier{Store: s, process: process, report: newReport(process), witnessed: witnessed,
		audit: proofs.New(s.deciders), checked: map[string]error{}, inside: map[string]error{}}
	v.report.Ideas = len(numbers)
	for _, name := range strange {
		v.report.add(0, name, "this is no Idea of the chain")
	}
	if err := v.checkWhetherForgotten(ctx, numbers); err != nil {
		return nil, err
	}
	before := 0
	for n, at := range numbers {
		progress(n, len(numbers))
		if at > before+1 {
			v.report.add(before+1, Place(process, before+1), "%s", gapText(before+1, at-1))
			v.previous = nil
		}
		if err := v.checkNext(ctx, at); err != nil {
			return nil, err
		}
		before = at
	}
	for at, value := range jsonval.Sorted(witnessed) {
		if at > before {
			v.report.add(at, Place(process, at), "Idea %d is missing: Temporal's history has its digest %s", at,
				strings.Join(value, " and "))
		}
	}
	v.report.Decisions = v.audit.Counts
	v.compareForgotten()
	v.redactions.compare(v.report, placeOf(process))
	if v.previous != nil {
		v.report.Digest, v.report.Created = v.previous.Digest, v.previous.link().Created
	}
	return v.report.finish(), nil
}

func gapText(from, to int) string {
	if from == to {
		return fmt.Sprintf("Idea %d is missing", from)
	}
	return fmt.Sprintf("Ideas %d to %d are missing", from, to)
}

// verifier checks one chain, Idea by Idea.
type verifier struct {
	*Store
	process string
	report  *Report
	// witnessed are the digests that the Ideas must have.
	witnessed  Digests
	audit      *proofs.Audit
	checked    map[string]error // the outcome of the check, by digest
	inside     map[string]error // the outcome for a value and the values that it holds, by digest
	previous   *manifest        // the previous Idea; nil if it could not be read
	forgotten  []string         // digests of the Ideas whose contents were forgotten
	redactions redactionCheck
	lastRead   *state // the last Idea that could be read
}

// checkNext checks the next Idea. The error is for a store that does not answer.
func (v *verifier) checkNext(ctx context.Context, at int) error {
	m, err := v.manifest(ctx, v.process, at)
	if err != nil {
		v.previous = nil
		return v.noteBroken(at, err)
	}
	v.checkMeta(m)
	if err := v.checkOrigin(ctx, m); err != nil {
		return err
	}
	v.previous = m
	v.redactions.addIdea(v.report, m)
	if v.report.Forgotten != nil && m.Meta[forgottenKey] == nil {
		v.forgotten = append(v.forgotten, m.Digest)
		return nil
	}
	whole, err := v.checkParts(ctx, m)
	if err != nil || !whole {
		v.report.Unreadable = append(v.report.Unreadable, at)
		return err
	}
	if err := v.checkIdea(ctx, m); err != nil {
		return v.noteBroken(at, err)
	}
	return nil
}

// noteBroken records an Idea that cannot be read. The broken part may belong to an earlier Idea, for which it is
// already recorded.
func (v *verifier) noteBroken(at int, err error) error {
	if !isBroken(err) {
		return err
	}
	v.report.Unreadable = append(v.report.Unreadable, at)
	part := Place(v.process, at)
	if b, is := errors.AsType[*broken](err); is {
		part = b.part
	}
	v.report.add(at, part, "%s", withoutPartName(err))
	v.report.addHarm(part, at)
	return nil
}

// checkMeta checks the meta of an Idea.
func (v *verifier) checkMeta(m *manifest) {
	at := m.metaNumber("at")
	v.report.noteSimulated(m.Meta)
	place := Place(v.process, at)
	switch parent := m.metaText("parent"); {
	case at == 1 && parent != "":
		v.report.add(at, place, "the first Idea names a parent")
	case v.previous != nil && parent != v.previous.Digest:
		v.report.add(at, place, "its parent is not the Idea before it")
	}
	if _, err := time.Parse(time.RFC3339Nano, m.metaText(createdAt)); err != nil {
		v.report.add(at, place, "meta.createdAt is no time")
	}
	if digests := v.witnessed[at]; len(digests) > 0 {
		v.report.Witnessed++
		if !slices.Contains(digests, m.Digest) {
			v.report.add(at, place, "it has the digest %s, and Temporal's history has %s", m.Digest,
				strings.Join(digests, " and "))
		}
	}
}

// checkOrigin checks that a forked process names the right digest of its origin, if the store has that chain.
func (v *verifier) checkOrigin(ctx context.Context, m *manifest) error {
	at := m.metaNumber("at")
	if at != 1 || m.Meta[originKey] == nil {
		return nil
	}
	v.report.Origin, v.report.Undoes = m.Meta[originKey], m.Meta[protocol.UndoesMeta]
	from := &manifest{Meta: jsonval.AsObject(m.Meta[originKey])}
	there, err := v.manifest(ctx, from.metaText("process"), from.metaNumber("at"))
	switch {
	case isBroken(err):
		return nil // that chain is gone, or has a broken place of its own
	case err != nil:
		return err
	case there.Digest != from.metaText("digest"):
		v.report.add(at, Place(v.process, at), "it says that it comes from Idea %d of %s, which has another digest",
			from.metaNumber("at"), from.metaText("process"))
	}
	return nil
}

// checkIdea checks the Idea that a manifest leads to against the manifest.
func (v *verifier) checkIdea(ctx context.Context, m *manifest) error {
	at := m.metaNumber("at")
	d, st, err := v.draft(ctx, m, v.lastRead)
	v.lastRead = st
	if err != nil {
		return err
	}
	if err := v.checkStoredValues(ctx, at, []any{d.meta, d.body, d.log}); err != nil {
		return err
	}
	whole, err := restoreIdea(ctx, v.values, d.meta, d.body)
	if err != nil {
		return err
	}
	place := Place(v.process, at)
	v.report.addProblems(at, place, v.audit.CheckLog(v.process, d.log))
	if at == 1 {
		v.report.addProblems(at, place, v.audit.VerifyInherited(whole))
	}
	switch counts := d.counts(); {
	case digestOf(whole) != m.contentDigest():
		v.report.add(at, place, "the Idea has another digest than it says")
	case counts != m.Counts:
		v.report.add(at, place, "it holds %+v and says %+v", counts, m.Counts)
	case !m.comesFrom(st):
		v.report.add(at, place, "it names the wrong Ideas as those it comes from")
	}
	return nil
}

// comesFrom reports whether the lineage in a manifest is right.
func (m *manifest) comesFrom(st *state) bool {
	if st.base == nil {
		return m.lineage == lineage{Since: st.at}
	}
	return m.Since == st.base.Since && m.Steps == st.base.Steps+1 && m.Bytes > st.base.Bytes
}
