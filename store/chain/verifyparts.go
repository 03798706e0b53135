package chain

import (
	"context"
	"errors"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// checkStoredParts checks every part that a manifest names.
func (v *verifier) checkStoredParts(ctx context.Context, m *manifest) (isIntact bool, err error) {
	ideaNumber, parts := m.metaNumber("at"), storedParts(m.BodyNode, "")
	if m.LogNode != nil {
		parts = append(parts, storedParts(m.LogNode, "log")...)
	}
	isIntact = true
	for _, p := range parts {
		err := v.checkValue(ctx, p.digest)
		if err != nil && !isBroken(err) {
			return false, err
		}
		if err != nil {
			item := v.blobStore.Name(ctx, p.digest)
			v.report.add(ideaNumber, item, "%s%s", p.path, withoutPartName(err))
			v.report.addUnloadable(item, ideaNumber)
			isIntact = false
		}
	}
	return isIntact, nil
}

// withoutPartName returns the fault of a value without the name of its part.
func withoutPartName(err error) error {
	for _, known := range []error{blobs.ErrMissing, blobs.ErrChanged} {
		if errors.Is(err, known) {
			return known
		}
	}
	if b, isPart := errors.AsType[*brokenPartError](err); isPart {
		return b.cause
	}
	return err
}

// checkValue reads a value from the store once, bypassing the cache.
func (v *verifier) checkValue(ctx context.Context, digest string) error {
	if err, done := v.errorByDigest[digest]; done {
		return err
	}
	_, err := v.blobStore.GetUncached(ctx, digest)
	if err != nil {
		err = v.storedPartError(ctx, digest, err)
	}
	v.errorByDigest[digest] = err
	return err
}

// checkStoredValues checks the stored values that a value holds, and those that they hold in turn. The error is for a
// store that does not answer, or for a lost value.
func (v *verifier) checkStoredValues(ctx context.Context, ideaNumber int, value any) (err error) {
	for _, digest := range digestsOfHandles(value) {
		err = mostSevere(err, v.checkHandle(ctx, ideaNumber, digest))
	}
	return err
}

// checkHandle checks a value and the values that it holds, once.
func (v *verifier) checkHandle(ctx context.Context, ideaNumber int, digest string) error {
	if err, done := v.deepErrorByDigest[digest]; done {
		return err
	}
	err := v.checkValue(ctx, digest)
	if isBroken(err) {
		v.report.add(ideaNumber, v.blobStore.Name(ctx, digest), "a value: %s", withoutPartName(err))
	}
	if err == nil {
		var value any
		value, err = v.readStoredPart(ctx, digest)
		if err == nil {
			err = v.checkStoredValues(ctx, ideaNumber, value)
		}
	}
	v.deepErrorByDigest[digest] = err
	return err
}

// mostSevere returns the more severe error: a store that does not answer ends the check.
func mostSevere(a, b error) error {
	if a == nil || (b != nil && !isBroken(b)) {
		return b
	}
	return a
}

// storedPart is a part that a manifest names, and its place in the Idea.
type storedPart struct{ path, digest string }

// storedParts lists the parts of a node.
func storedParts(node any, path string) []storedPart {
	m := jsonval.AsObject(node)
	if digest, ok := m[nodeDigestKey].(string); ok && len(m) == 1 {
		if path != "" {
			path += ": "
		}
		return []storedPart{{path, digest}}
	}
	var all []storedPart
	members := jsonval.AsObject(m[nodeObjectKey])
	for k, v := range jsonval.Sorted(members) {
		all = append(all, storedParts(v, joinPath(path, k))...)
	}
	for _, n := range jsonval.AsList(m[nodeRunsKey]) {
		all = append(all, storedParts(n, path)...)
	}
	return all
}
