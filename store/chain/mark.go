package chain

import (
	"context"
	"errors"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"

	"processidea/store/blobs"
)

// Any text in the form of a digest counts as a reference, wherever it is. So no value is lost because this file does
// not know the form of a reference.

// digestLength is the length of a SHA-256 digest in hex.
const digestLength = 64

// eachDigest calls give for every text in data that has the form of a digest. A longer run of hexadecimal digits
// contains several.
func eachDigest(data []byte, visit func(text []byte)) {
	hexRunLength := 0
	for i, b := range data {
		if (b >= '0' && b <= '9') || (b >= 'a' && b <= 'f') {
			hexRunLength++
			if hexRunLength >= digestLength {
				visit(data[i+1-digestLength : i+1])
			}
		} else {
			hexRunLength = 0
		}
	}
}

// digestReference is a value's digest, and the process whose data refers to it; empty if the data belongs to no
// process.
type digestReference struct{ rootProcessID, digest string }

// markValue marks a value as needed.
func (c *collector) markValue(r digestReference) {
	marked := false
	for _, name := range c.blobStore.PossibleObjectNames(blobs.WithProcess(c.ctx, r.rootProcessID), r.digest) {
		if v := c.valueByName[name]; v != nil && !v.isNeeded {
			v.isNeeded, marked = true, true
			c.neededValues = append(c.neededValues, v)
		}
	}
	if marked {
		c.pendingReferences = append(c.pendingReferences, r)
	}
}

// markValuesIn marks the values that some bytes refer to.
func (c *collector) markValuesIn(processID string, data []byte) {
	eachDigest(data, func(text []byte) { c.markValue(digestReference{processID, string(text)}) })
}

// DecryptFunc decrypts a payload. It returns an unencrypted payload unchanged.
type DecryptFunc func(*commonpb.Payload) (*commonpb.Payload, error)

// appendDecrypted returns data; if data is an encrypted payload, its decrypted data is appended.
func (o DecryptFunc) appendDecrypted(data []byte) ([]byte, error) {
	p := &commonpb.Payload{}
	if isPayload := proto.Unmarshal(data, p) == nil; o == nil || !isPayload {
		return data, nil
	}
	p, err := o(p)
	return append(data[:len(data):len(data)], p.GetData()...), err
}

// markNeeded marks the values that needed values refer to.
func (c *collector) markNeeded(ctx context.Context) error {
	for len(c.pendingReferences) > 0 {
		r := c.pendingReferences[len(c.pendingReferences)-1]
		c.pendingReferences = c.pendingReferences[:len(c.pendingReferences)-1]
		ctx := blobs.WithProcess(ctx, r.rootProcessID)
		data, err := c.blobStore.GetUncached(ctx, r.digest)
		if isLost(err) {
			continue
		}
		if err == nil && c.onNeededValue != nil {
			err = c.onNeededValue(r)
		}
		if err == nil {
			data, err = c.rules.Decrypt.appendDecrypted(data)
		}
		if err != nil {
			return err
		}
		c.markValuesIn(r.rootProcessID, data)
		if err := c.markPieces(ctx, r.rootProcessID, data); err != nil {
			return err
		}
	}
	return nil
}

// markPieces marks what a payload in pieces refers to. The pieces are joined first, since a digest may be cut between
// two.
func (c *collector) markPieces(ctx context.Context, processID string, data []byte) error {
	pieceDigests := blobs.ParsePieceDigests(data)
	value, err := c.blobStore.JoinPieces(ctx, pieceDigests, c.blobStore.GetUncached)
	if isLost(err) {
		return nil
	}
	c.markValuesIn(processID, value)
	return err
}

// isLost reports whether an error means that a value can no longer be read; then it refers to nothing.
func isLost(err error) bool {
	return errors.Is(err, blobs.ErrChanged) || errors.Is(err, blobs.ErrMissing) || errors.Is(err, blobs.ErrForgotten)
}

// markReferencesOf marks what named items refer to. They belong to a process, or to no process if it is empty.
func (c *collector) markReferencesOf(ctx context.Context, processID string, items []blobs.ObjectInfo) error {
	for _, i := range items {
		if strings.HasSuffix(i.Name, journalNameSuffix) {
			continue // a journal names the values to be removed
		}
		data, _, err := c.blobStore.Read(ctx, i.Name)
		if errors.Is(err, blobs.ErrForgotten) {
			continue
		}
		if err != nil {
			return err
		}
		c.markValuesIn(blobs.RootProcessID(processID), data)
	}
	return nil
}

// markOtherFolders marks what items in folders that this package does not know refer to.
func (c *collector) markOtherFolders(ctx context.Context) error {
	folders, err := c.blobStore.ListFolders(ctx, "")
	if err != nil {
		return err
	}
	for _, f := range folders {
		if f == manifestFolder || blobs.HoldsValuesOrDataKeys(f) {
			continue
		}
		items, err := c.blobStore.ListUnder(ctx, f)
		if err == nil {
			err = c.markReferencesOf(ctx, "", items)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
