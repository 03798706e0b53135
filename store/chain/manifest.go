package chain

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// manifestFormat is the version of the manifest's format.
const manifestFormat = 1

// manifest is the file of one Idea: its digest, its meta as it is hashed, the source of its body, and its log. Sum is
// the digest of the whole manifest, so that a change is found even if it does not touch the Idea.
type manifest struct {
	Format int            `json:"format"`
	Digest string         `json:"digest"`
	Meta   jsonval.Object `json:"meta"`
	// BodyNode is the node of the whole body, or, if DeltaBaseNumber is set, of the delta from Idea DeltaBaseNumber.
	BodyNode        any `json:"body"`
	DeltaBaseNumber int `json:"on,omitempty"`
	lineage
	LogNode  any    `json:"log,omitempty"`
	Counts   Counts `json:"counts"`
	Checksum string `json:"sum,omitempty"`
	// Forgotten says who had the contents removed. The body, the log and most of the meta are then gone.
	Forgotten *ForgetRecord `json:"forgotten,omitempty"`
	// RedactedDigest is the digest of what is left of the Idea after an instance was removed; empty if none was.
	RedactedDigest string `json:"left,omitempty"`
}

// lineage says that an Idea is built from Idea Since, which is stored whole, by Steps deltas of Bytes bytes in total.
type lineage struct {
	FullIdeaNumber int `json:"since"`
	DeltaCount     int `json:"steps"`
	DeltaBytes     int `json:"bytes"`
}

// contentDigest is the digest of the Idea as it is stored now.
func (m *manifest) contentDigest() string { return cmp.Or(m.RedactedDigest, m.Digest) }

// Counts counts what an Idea holds: instances, Calls in its solution, and in its log the writes and the entries with a
// decision.
type Counts struct {
	Instances int `json:"instances"`
	Calls     int `json:"calls"`
	Writes    int `json:"writes"`
	Decisions int `json:"decisions"`
}

// encode returns the canonical bytes of a manifest, with its sum.
func (m manifest) encode() []byte {
	m.Checksum = ""
	m.Checksum = digestOf(jsonval.ToJSONValue(m))
	return jsonval.Encode(jsonval.ToJSONValue(m))
}

func digestOf(v any) string { return jsonval.Digest(jsonval.Encode(v)) }

// decodeManifest decodes a manifest and checks that its bytes are those that were written.
func decodeManifest(data []byte) (*manifest, error) {
	v, err := decodeStoredJSON(data)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(jsonval.Encode(v), data) {
		return nil, errors.New("these are not the bytes that were written: the JSON is not canonical")
	}
	m := &manifest{}
	if err := jsonval.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("this is no manifest: %w", err)
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf("this is no manifest of format %d", manifestFormat)
	}
	if digestOf(jsonval.WithoutKey(jsonval.AsObject(v), "sum")) != m.Checksum {
		return nil, errors.New("these are not the bytes that were written: the sum does not fit")
	}
	return m, nil
}

// manifest reads the manifest of an Idea. The error wraps ErrNoIdea if there is no such Idea.
func (s *Store) manifest(ctx context.Context, processID string, ideaNumber int) (*manifest, error) {
	name := ManifestName(processID, ideaNumber)
	data, ok, err := s.blobStore.Read(ctx, name)
	if isBroken(err) {
		return nil, &brokenObjectError{brokenObjectName(name, err), err}
	}
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &brokenObjectError{name, ErrNoIdea}
	}
	m, err := decodeManifest(data)
	if err != nil {
		return nil, &brokenObjectError{name, err}
	}
	if m.Meta["process"] != processID || m.metaNumber("at") != ideaNumber {
		return nil, brokenErrorf(name, "it is the manifest of Idea %d of %v", m.metaNumber("at"), m.Meta["process"])
	}
	return m, nil
}

// name returns the name of the manifest in the store.
func (m *manifest) name() string { return ManifestName(m.metaText("process"), m.metaNumber("at")) }

// brokenObjectName returns the broken part if something under a name cannot be read: the name, or that of the data key
// that opens it.
func brokenObjectName(name string, err error) string {
	if keyErr, isKeyError := errors.AsType[*blobs.DataKeyError](err); isKeyError {
		return keyErr.ObjectName
	}
	return name
}

// metaText returns a text of the meta; empty if it is absent.
func (m *manifest) metaText(key string) string {
	return jsonval.AsText(m.Meta[key])
}

// metaNumber returns a number of the meta; 0 if it is absent.
func (m *manifest) metaNumber(key string) int {
	n, _ := m.Meta[key].(json.Number)
	i, _ := n.Int64()
	return int(i)
}
