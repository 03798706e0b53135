package chain

import (
	"context"
	"errors"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// checkParts checks every part that a manifest names.
func (v *verifier) checkParts(ctx context.Context, m *manifest) (whole bool, err error) {
	at, named := m.metaNumber("at"), partsOf(m.Body, "")
	if m.Log != nil {
		named = append(named, partsOf(m.Log, "log")...)
	}
	whole = true
	for _, p := range named {
		err := v.checkValue(ctx, p.digest)
		if err != nil && !isBroken(err) {
			return false, err
		}
		if err != nil {
			part := v.values.Name(ctx, p.digest)
			v.report.add(at, part, "%s%s", p.at, withoutPartName(err))
			v.report.addHarm(part, at)
			whole = false
		}
	}
	return whole, nil
}

// withoutPartName returns the fault of a value without the name of its part.
func withoutPartName(err error) error {
	for _, known := range []error{blobs.ErrMissing, blobs.ErrChanged} {
		if errors.Is(err, known) {
			return known
		}
	}
	if b, is := errors.AsType[*broken](err); is {
		return b.cause
	}
	return err
}

// checkValue reads a value from the store once, bypassing the cache.
func (v *verifier) checkValue(ctx context.Context, digest string) error {
	if err, done := v.checked[digest]; done {
		return err
	}
	_, err := v.values.GetUncached(ctx, digest)
	if err != nil {
		err = v.partError(ctx, digest, err)
	}
	v.checked[digest] = err
	return err
}

// checkStoredValues checks the stored values that a value holds, and those that they hold in turn. The error is for a
// store that does not answer, or for a lost value.
func (v *verifier) checkStoredValues(ctx context.Context, at int, value any) (err error) {
	for _, digest := range handlesIn(value) {
		err = mostSevere(err, v.checkHandle(ctx, at, digest))
	}
	return err
}

// checkHandle checks a value and the values that it holds, once.
func (v *verifier) checkHandle(ctx context.Context, at int, digest string) error {
	if err, done := v.inside[digest]; done {
		return err
	}
	err := v.checkValue(ctx, digest)
	if isBroken(err) {
		v.report.add(at, v.values.Name(ctx, digest), "a value: %s", withoutPartName(err))
	}
	if err == nil {
		var inside any
		inside, err = v.readPart(ctx, digest)
		if err == nil {
			err = v.checkStoredValues(ctx, at, inside)
		}
	}
	v.inside[digest] = err
	return err
}

// mostSevere returns the more severe error: a store that does not answer ends the check.
func mostSevere(a, b error) error {
	if a == nil || (b != nil && !isBroken(b)) {
		return b
	}
	return a
}

// namedPart is a part that a manifest names, and its place in the Idea.
type namedPart struct{ at, digest string }

// partsOf lists the parts of a node.
func partsOf(node any, at string) []namedPart {
	m := jsonval.AsObject(node)
	if digest, ok := m[nodeByDigest].(string); ok && len(m) == 1 {
		if at != "" {
			at += ": "
		}
		return []namedPart{{at, digest}}
	}
	var all []namedPart
	each := jsonval.AsObject(m[nodeObject])
	for k, v := range jsonval.Sorted(each) {
		all = append(all, partsOf(v, joinPath(at, k))...)
	}
	for _, n := range jsonval.AsList(m[nodeRuns]) {
		all = append(all, partsOf(n, at)...)
	}
	return all
}
