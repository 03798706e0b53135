package chain

import (
	"context"
	"errors"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"

	"processidea/store/blobs"
)

// Any text in the form of a digest, wherever it is, counts as a reference: so no value is lost that is referred to in a
// way that this file does not know.

// digestLength is the length of a SHA-256 digest in hex.
const digestLength = 64

// eachDigest calls a function for every text in the form of a digest within some bytes; a longer run of digits contains
// several.
func eachDigest(data []byte, give func(text []byte)) {
	run := 0
	for i, b := range data {
		if (b >= '0' && b <= '9') || (b >= 'a' && b <= 'f') {
			run++
			if run >= digestLength {
				give(data[i+1-digestLength : i+1])
			}
		} else {
			run = 0
		}
	}
}

// reference is a value that is referred to from what belongs to a process; from what is nobody's where that is empty.
type reference struct{ process, digest string }

// markValue marks a value as needed.
func (c *collector) markValue(r reference) {
	found := false
	for _, name := range c.values.Names(blobs.ForProcess(c.ctx, r.process), r.digest) {
		if v := c.listed[name]; v != nil && !v.needed {
			v.needed, found = true, true
			c.found = append(c.found, v)
		}
	}
	if found {
		c.todo = append(c.todo, r)
	}
}

// markValuesIn marks the values that some bytes refer to.
func (c *collector) markValuesIn(process string, data []byte) {
	eachDigest(data, func(text []byte) { c.markValue(reference{process, string(text)}) })
}

// Opener decrypts a payload. One that is not encrypted it gives back as it is.
type Opener func(*commonpb.Payload) (*commonpb.Payload, error)

// withDecrypted returns the bytes, followed by what they hold decrypted if they are an encrypted payload.
func (o Opener) withDecrypted(data []byte) ([]byte, error) {
	p := &commonpb.Payload{}
	if isPayload := proto.Unmarshal(data, p) == nil; o == nil || !isPayload {
		return data, nil
	}
	p, err := o(p)
	return append(data[:len(data):len(data)], p.GetData()...), err
}

// markNeeded marks what the needed values need.
func (c *collector) markNeeded(ctx context.Context) error {
	for len(c.todo) > 0 {
		r := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		ctx := blobs.ForProcess(ctx, r.process)
		data, err := c.values.GetUncached(ctx, r.digest)
		if isLost(err) {
			continue
		}
		if err == nil && c.onNeeded != nil {
			err = c.onNeeded(r)
		}
		if err == nil {
			data, err = c.rules.Open.withDecrypted(data)
		}
		if err != nil {
			return err
		}
		c.markValuesIn(r.process, data)
		if err := c.markPieces(ctx, r.process, data); err != nil {
			return err
		}
	}
	return nil
}

// markPieces marks what a payload in pieces refers to: a digest in it may be cut between two pieces.
func (c *collector) markPieces(ctx context.Context, process string, data []byte) error {
	list := blobs.PiecesOf(data)
	whole, err := c.values.Join(ctx, list, c.values.GetUncached)
	if isLost(err) {
		return nil
	}
	c.markValuesIn(process, whole)
	return err
}

// isLost reports whether a value cannot be read any more, and refers to nothing.
func isLost(err error) bool {
	return errors.Is(err, blobs.ErrChanged) || errors.Is(err, blobs.ErrMissing) || errors.Is(err, blobs.ErrForgotten)
}

// readAll marks what things with names of their own refer to, which belong to a process, or to nobody.
func (c *collector) readAll(ctx context.Context, process string, items []blobs.Item) error {
	for _, i := range items {
		if strings.HasSuffix(i.Name, journalName) {
			continue // it names what is to go
		}
		data, _, err := c.values.Read(ctx, i.Name)
		if errors.Is(err, blobs.ErrForgotten) {
			continue
		}
		if err != nil {
			return err
		}
		c.markValuesIn(blobs.RootOf(process), data)
	}
	return nil
}

// markOthers marks what is referred to from folders that this package does not know.
func (c *collector) markOthers(ctx context.Context) error {
	folders, err := c.values.Folders(ctx, "")
	if err != nil {
		return err
	}
	for _, f := range folders {
		if f == manifestFolder || blobs.HoldsValues(f) {
			continue
		}
		items, err := c.values.ListUnder(ctx, f)
		if err == nil {
			err = c.readAll(ctx, "", items)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
