package chain

import (
	"context"
	"errors"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"

	"processidea/store/blobs"
)

// Any text in the form of a digest, wherever it is, counts as a reference: so no value is lost that is referred to in a way
// that this file does not know.

// digestLength is that of SHA-256 in hex.
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

// need marks a value as needed.
func (c *collector) need(digest string) {
	found := false
	for _, name := range c.Store.values.Names(digest) {
		if v := c.values[name]; v != nil && !v.needed {
			v.needed, found = true, true
		}
	}
	if found {
		c.todo = append(c.todo, digest)
	}
}

// needs marks the values that some bytes refer to.
func (c *collector) needs(data []byte) {
	eachDigest(data, func(text []byte) { c.need(string(text)) })
}

// Opener decrypts a payload. One that is not encrypted it gives back as it is.
type Opener func(*commonpb.Payload) (*commonpb.Payload, error)

// inside returns the bytes, followed by what they hold decrypted if they are an encrypted payload.
func (o Opener) inside(data []byte) ([]byte, error) {
	p := &commonpb.Payload{}
	if isPayload := proto.Unmarshal(data, p) == nil; o == nil || !isPayload {
		return data, nil
	}
	p, err := o(p)
	return append(data[:len(data):len(data)], p.GetData()...), err
}

// follow marks what the needed values need.
func (c *collector) follow(ctx context.Context) error {
	for len(c.todo) > 0 {
		digest := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		data, err := c.Store.values.Check(ctx, digest)
		if errors.Is(err, blobs.ErrChanged) || errors.Is(err, blobs.ErrMissing) {
			continue
		}
		if err == nil {
			data, err = c.rules.Open.inside(data)
		}
		if err != nil {
			return err
		}
		c.needs(data)
		if err := c.needsOfPieces(ctx, data); err != nil {
			return err
		}
	}
	return nil
}

// needsOfPieces marks what a payload in pieces refers to: a digest in it may be cut between two pieces.
func (c *collector) needsOfPieces(ctx context.Context, data []byte) error {
	list := blobs.PiecesOf(data)
	whole, err := c.Store.values.Join(ctx, list, c.Store.values.Check)
	if errors.Is(err, blobs.ErrChanged) || errors.Is(err, blobs.ErrMissing) {
		return nil
	}
	c.needs(whole)
	return err
}

// readAll marks what things with names of their own refer to.
func (c *collector) readAll(ctx context.Context, items []blobs.Item) error {
	for _, i := range items {
		data, _, err := c.Store.values.Read(ctx, i.Name)
		if err != nil {
			return err
		}
		c.needs(data)
	}
	return nil
}

// others marks what is referred to from folders that this package does not know.
func (c *collector) others(ctx context.Context) error {
	folders, err := c.Store.values.Folders(ctx, "")
	if err != nil {
		return err
	}
	for _, f := range folders {
		if f == folder || blobs.HoldsValues(f) {
			continue
		}
		items, err := c.Store.values.Under(ctx, f)
		if err == nil {
			err = c.readAll(ctx, items)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
