package chain

import (
	"context"
	"errors"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// checkValueNodes checks every part that a manifest names.
func (v *verifier) checkValueNodes(ctx context.Context, m *manifest) (isIntact bool, err error) {
	ideaNumber, valueNodes := m.metaNumber("at"), valueNodesIn(m.BodyNode, "")
	if m.LogNode != nil {
		valueNodes = append(valueNodes, valueNodesIn(m.LogNode, "log")...)
	}
	isIntact = true
	for _, p := range valueNodes {
		err := v.checkValue(ctx, p.digest)
		if err != nil && !isBroken(err) {
			return false, err
		}
		if err != nil {
			item := v.blobStore.Name(ctx, p.digest)
			v.report.addBrokenItem(ideaNumber, item, "%s%s", p.path, withoutObjectName(err))
			v.report.addUnloadable(item, ideaNumber)
			isIntact = false
		}
	}
	return isIntact, nil
}

// withoutObjectName returns the fault of a value without the name of its part.
func withoutObjectName(err error) error {
	for _, known := range []error{blobs.ErrMissing, blobs.ErrChanged} {
		if errors.Is(err, known) {
			return known
		}
	}
	if b, isBrokenObject := errors.AsType[*brokenObjectError](err); isBrokenObject {
		return b.cause
	}
	return err
}

// checkValue reads a value from the store once, bypassing the cache.
func (v *verifier) checkValue(ctx context.Context, digest string) error {
	if err, isChecked := v.errorByDigest[digest]; isChecked {
		return err
	}
	_, err := v.blobStore.GetUncached(ctx, digest)
	if err != nil {
		err = v.storedValueError(ctx, digest, err)
	}
	v.errorByDigest[digest] = err
	return err
}

// checkStoredValues checks the stored values that a value holds, and those that they hold in turn. The error is for a
// store that does not answer, or for a lost value.
func (v *verifier) checkStoredValues(ctx context.Context, ideaNumber int, value any) (err error) {
	for _, digest := range digestsOfHandles(value) {
		err = mostSevere(err, v.checkValueDeep(ctx, ideaNumber, digest))
	}
	return err
}

// checkValueDeep checks a value and the values that it holds, once.
func (v *verifier) checkValueDeep(ctx context.Context, ideaNumber int, digest string) error {
	if err, isChecked := v.deepErrorByDigest[digest]; isChecked {
		return err
	}
	err := v.checkValue(ctx, digest)
	if isBroken(err) {
		v.report.addBrokenItem(ideaNumber, v.blobStore.Name(ctx, digest), "a value: %s", withoutObjectName(err))
	}
	if err == nil {
		var value any
		value, err = v.readStoredValue(ctx, digest)
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

// storedValueNode is a part that a manifest names, and its place in the Idea.
type storedValueNode struct{ path, digest string }

// valueNodesIn lists the parts of a node.
func valueNodesIn(node any, path string) []storedValueNode {
	m := jsonval.AsObject(node)
	if digest, ok := m[nodeDigestKey].(string); ok && len(m) == 1 {
		if path != "" {
			path += ": "
		}
		return []storedValueNode{{path, digest}}
	}
	var all []storedValueNode
	members := jsonval.AsObject(m[nodeObjectKey])
	for k, v := range jsonval.Sorted(members) {
		all = append(all, valueNodesIn(v, joinPath(path, k))...)
	}
	for _, n := range jsonval.AsList(m[nodeMessageRunsKey]) {
		all = append(all, valueNodesIn(n, path)...)
	}
	return all
}
