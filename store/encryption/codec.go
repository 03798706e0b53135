package encryption

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"processidea/protocol"
)

// The readable metadata of an encrypted payload. The names follow Temporal's own examples.
const (
	EncodingEncrypted = "binary/encrypted"  // the payload's encoding
	MetadataKeyID     = "encryption-key-id" // metadata: the id of the key
	MetadataInline    = "inline"            // metadata: the payload stays inline (protocol.IsKeptInline)
)

// aadPayload binds encrypted bytes to being a payload. They are not bound to their workflow, because equal payloads
// are stored once, and the Temporal UI requests payloads without naming their workflow.
const aadPayload = "processidea payload 1"

// Codec encrypts whole payloads including metadata. Metadata named in readable is repeated in the clear. Unencrypted
// payloads are decoded unchanged: signals may come from clients without keys, and old histories are unencrypted.
func (k *Keys) Codec(readableMetadataKeys ...string) converter.PayloadCodec {
	return &codec{k, readableMetadataKeys}
}

type codec struct {
	keys                 *Keys
	readableMetadataKeys []string
}

// Encode encrypts payloads with the primary key. Without keys they stay as they are.
func (c *codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if c.keys == nil {
		return payloads, nil
	}
	return mapPayloads(payloads, c.encrypt)
}

// Decode decrypts payloads that were encrypted. It returns the errors of Keys.Open.
func (c *codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return mapPayloads(payloads, c.keys.OpenPayload)
}

func mapPayloads(payloads []*commonpb.Payload,
	transform func(*commonpb.Payload) (*commonpb.Payload, error)) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for n, p := range payloads {
		transformed, err := transform(p)
		if err != nil {
			return nil, err
		}
		out[n] = transformed
	}
	return out, nil
}

func (c *codec) encrypt(p *commonpb.Payload) (*commonpb.Payload, error) {
	// Deterministic, so that equal payloads have equal bytes.
	plaintext, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encryption: encrypt payload: %w", err)
	}
	ciphertext, err := c.keys.Seal(plaintext, aadPayload)
	if err != nil {
		return nil, err
	}
	metadata := map[string][]byte{
		converter.MetadataEncoding: []byte(EncodingEncrypted), MetadataKeyID: []byte(c.keys.PrimaryID()),
	}
	for _, name := range c.readableMetadataKeys {
		if v, ok := p.GetMetadata()[name]; ok {
			metadata[name] = v
		}
	}
	if protocol.IsKeptInline(p) {
		metadata[MetadataInline] = []byte("true")
	}
	return &commonpb.Payload{Metadata: metadata, Data: ciphertext}, nil
}

// KeyIDOf returns the id of the key that encrypts a payload; ok is false if the payload is not encrypted.
func KeyIDOf(p *commonpb.Payload) (id string, ok bool) {
	m := p.GetMetadata()
	return string(m[MetadataKeyID]), string(m[converter.MetadataEncoding]) == EncodingEncrypted
}

// OpenPayload decrypts one payload, and returns an unencrypted one unchanged. It returns the errors of Open.
func (k *Keys) OpenPayload(p *commonpb.Payload) (*commonpb.Payload, error) {
	id, ok := KeyIDOf(p)
	if !ok {
		return p, nil
	}
	plaintext, err := k.Open(id, p.GetData(), aadPayload)
	if err != nil {
		return nil, fmt.Errorf("encryption: decrypt payload: %w", err)
	}
	openedPayload := &commonpb.Payload{}
	if err := proto.Unmarshal(plaintext, openedPayload); err != nil {
		return nil, fmt.Errorf("encryption: decrypt payload: %w", err)
	}
	return openedPayload, nil
}
