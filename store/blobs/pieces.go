package blobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc" // registers the algorithm

	"processidea/internal/safego"
)

// A workflow that continues as new carries over all that it knows, most of which it had carried before. So a large
// payload is cut into pieces at places that depend on its content, and pieces that several payloads share are stored
// once.

// Bounds of pieces, in bytes.
const (
	minCutBytes                 = 128 << 10 // payloads up to this stay whole
	minPieceBytes               = 8 << 10
	averagePieceBytes           = 32 << 10
	maxPieceBytes               = 128 << 10
	maxConcurrentPieceTransfers = 16
)

// putPieces stores bytes in pieces, and returns the digest of the list of their digests, one a line.
func (s *Store) putPieces(ctx context.Context, data []byte) (string, error) {
	pieces, err := cutPieces(data)
	if err != nil {
		return "", fmt.Errorf("blobs: cut into pieces: %w", err)
	}
	digests := make([]string, len(pieces))
	err = safego.ForEach(ctx, "blobs.put", len(digests), maxConcurrentPieceTransfers,
		func(ctx context.Context, n int) (err error) {
			digests[n], err = s.Put(ctx, pieces[n])
			return err
		})
	if err != nil {
		return "", err
	}
	return s.Put(ctx, []byte(strings.Join(digests, "\n")))
}

// getPieces reads bytes that putPieces stored.
func (s *Store) getPieces(ctx context.Context, digest string) ([]byte, error) {
	digestList, err := s.Get(ctx, digest)
	if err != nil {
		return nil, err
	}
	return s.JoinPieces(ctx, ParsePieceDigests(digestList), s.Get)
}

// ParsePieceDigests parses a list of pieces; nil if the bytes are not such a list.
func ParsePieceDigests(digestList []byte) []string {
	if len(digestList)%(2*sha256.Size+1) != 2*sha256.Size {
		return nil
	}
	digests := strings.Split(string(digestList), "\n")
	for _, digest := range digests {
		if !IsDigest(digest) {
			return nil
		}
	}
	return digests
}

// JoinPieces reads pieces with getPiece and concatenates them.
func (s *Store) JoinPieces(ctx context.Context, digests []string,
	getPiece func(context.Context, string) ([]byte, error)) ([]byte, error) {
	pieces := make([][]byte, len(digests))
	err := safego.ForEach(ctx, "blobs.join", len(digests), maxConcurrentPieceTransfers,
		func(ctx context.Context, n int) (err error) {
			pieces[n], err = getPiece(ctx, digests[n])
			return err
		})
	if err != nil {
		return nil, err
	}
	return bytes.Join(pieces, nil), nil
}

// cutPieces cuts bytes into pieces, in order.
func cutPieces(data []byte) (pieces [][]byte, err error) {
	c, err := chunkers.NewChunker("fastcdc", bytes.NewReader(data),
		&chunkers.ChunkerOpts{MinSize: minPieceBytes, NormalSize: averagePieceBytes, MaxSize: maxPieceBytes})
	if err != nil {
		return nil, err
	}
	for offset := 0; ; {
		piece, err := c.Next()
		if len(piece) > 0 {
			pieces = append(pieces, data[offset:offset+len(piece)])
			offset += len(piece)
		}
		if errors.Is(err, io.EOF) {
			return pieces, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
