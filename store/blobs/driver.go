package blobs

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/proxy"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"processidea/protocol"
	"processidea/store/encryption"
)

// InlineThreshold is the size in bytes up to which a payload stays in Temporal's history, where an operator reads it.
// It is low because commands add up: two hundred Calls started at once must stay far below the 4 MB that end a
// workflow.
const InlineThreshold = 8 << 10

// The members of every claim in a history; these names never change. A claim names the driver and the digest of the
// payload, or of the list of its pieces. For an encrypted payload it also names the id of the key and, if a data key
// encrypts the payload once more, the process that this data key belongs to.
const (
	driverName           = "processidea-blobs"
	claimFieldDigest     = "sha256"
	claimFieldIsInPieces = "pieces"
	claimFieldKeyID      = "key"
	claimFieldOwner      = "process"
)

// ExternalStorage lets a Temporal client or worker keep payloads over the threshold in the store.
func (s *Store) ExternalStorage() converter.ExternalStorage {
	d := storageDriver{s}
	return converter.ExternalStorage{
		Drivers: []converter.StorageDriver{d}, DriverSelector: d, PayloadSizeThreshold: InlineThreshold,
	}
}

type storageDriver struct{ store *Store }

// Name is persisted with every claim.
func (storageDriver) Name() string { return driverName }

// Type names the kind of driver.
func (storageDriver) Type() string { return driverName }

// SelectDriver keeps answers to queries inline: this project's, which are marked even when they are encrypted, and
// those of workflows to the Temporal UI, such as current details.
func (d storageDriver) SelectDriver(_ converter.StorageDriverSelectContext,
	p *commonpb.Payload) (converter.StorageDriver, error) {
	m := p.GetMetadata()
	if protocol.IsKeptInline(p) || len(m[encryption.MetadataInline]) > 0 ||
		string(m[converter.MetadataMessageType]) == workflowMetadataMessageType {
		return nil, nil
	}
	return d, nil
}

// workflowMetadataMessageType is the message type of the answer to the query __temporal_workflow_metadata.
const workflowMetadataMessageType = "temporal.api.sdk.v1.WorkflowMetadata"

// Store puts payloads into the store.
func (d storageDriver) Store(c converter.StorageDriverStoreContext,
	payloads []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	claims := make([]converter.StorageDriverClaim, len(payloads))
	ctx := c.Context
	if info, ok := c.Target.(converter.StorageDriverWorkflowInfo); ok {
		ctx = WithProcess(ctx, info.WorkflowID)
	}
	for i, p := range payloads {
		err := c.GetLimiter().Permit(c.Context, p, func() error { return d.put(ctx, p, &claims[i]) })
		if err != nil {
			return nil, err
		}
	}
	return claims, nil
}

func (d storageDriver) put(ctx context.Context, p *commonpb.Payload, claim *converter.StorageDriverClaim) error {
	// Deterministic, so that equal payloads have the same digest.
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		return fmt.Errorf("blobs: encode payload: %w", err)
	}
	claim.ClaimData = map[string]string{claimFieldDigest: ""}
	put := d.store.Put
	isOwned := d.store.keys != nil && ownerFromContext(ctx) != ""
	if isOwned {
		claim.ClaimData[claimFieldOwner] = ownerFromContext(ctx)
	}
	if id, ok := encryption.KeyIDOf(p); ok { // encrypted payloads share no pieces
		claim.ClaimData[claimFieldKeyID] = id
		if !isOwned {
			put = d.store.putEncrypted
		}
	} else if len(data) > minCutBytes {
		claim.ClaimData[claimFieldIsInPieces] = "true"
		put = d.store.putPieces
	}
	claim.ClaimData[claimFieldDigest], err = put(ctx, data)
	return err
}

// CheckStorable checks that a payload can be stored: it puts the payload into the store as the Temporal client is about
// to, because the client tries only once and then fails the task. An encrypted payload has different bytes each time,
// so it is removed again.
func (s *Store) CheckStorable(ctx context.Context, p *commonpb.Payload) error {
	if proto.Size(p) < InlineThreshold {
		return nil
	}
	if s.keys == nil {
		return storageDriver{s}.put(ctx, p, &converter.StorageDriverClaim{})
	}
	encryptedPayloads, err := s.keys.Codec().Encode([]*commonpb.Payload{p})
	if err != nil {
		return fmt.Errorf("blobs: encrypt payload: %w", err)
	}
	var claim converter.StorageDriverClaim
	if err := (storageDriver{s}).put(ctx, encryptedPayloads[0], &claim); err != nil {
		return err
	}
	digest := claim.ClaimData[claimFieldDigest]
	if claim.ClaimData[claimFieldOwner] != "" {
		return s.Remove(ctx, s.Name(ctx, digest))
	}
	return s.Remove(ctx, plainLocation(digest).name)
}

// Retrieve returns the payloads that Store put.
func (d storageDriver) Retrieve(c converter.StorageDriverRetrieveContext,
	claims []converter.StorageDriverClaim) ([]*commonpb.Payload, error) {
	payloads := make([]*commonpb.Payload, len(claims))
	for i, claim := range claims {
		err := c.GetLimiter().Permit(c.Context, claim, func() error {
			get := d.store.Get
			owner := claim.ClaimData[claimFieldOwner]
			switch {
			case claim.ClaimData[claimFieldKeyID] != "" && owner == "":
				get = d.store.getEncrypted
			case claim.ClaimData[claimFieldIsInPieces] != "":
				get = d.store.getPieces
			}
			data, err := get(WithProcess(c.Context, owner), claim.ClaimData[claimFieldDigest])
			if err != nil {
				return err
			}
			payloads[i] = &commonpb.Payload{}
			return proto.Unmarshal(data, payloads[i])
		})
		if err != nil {
			return nil, err
		}
	}
	return payloads, nil
}

// claimMessageType is the message type of a payload that refers to one in the store.
var claimMessageType = string((*sdkpb.ExternalStorageReference)(nil).ProtoReflect().Descriptor().FullName())

// EachPayload visits every payload of a message.
func EachPayload(ctx context.Context, m proto.Message, visit func(*commonpb.Payload) error) error {
	return proxy.VisitPayloads(ctx, m, proxy.VisitPayloadsOptions{
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			for _, p := range payloads {
				if err := visit(p); err != nil {
					return nil, err
				}
			}
			return payloads, nil
		},
	})
}

// KeyIDOfClaim returns the id of the key that encrypts a stored payload, from the payload's claim; empty if p is no
// such claim.
func KeyIDOfClaim(p *commonpb.Payload) string { return claimDataOf(p)[claimFieldKeyID] }

// OwnerOfClaim returns the process whose data key encrypts a stored payload; empty if no data key does.
func OwnerOfClaim(p *commonpb.Payload) string { return claimDataOf(p)[claimFieldOwner] }

// Resolve returns the payload that a claim refers to, and any other payload unchanged. Temporal's SDK does so for
// workflows and activities, but not for what a schedule starts.
func (s *Store) Resolve(ctx context.Context, p *commonpb.Payload) (*commonpb.Payload, error) {
	claim := claimDataOf(p)
	if claim == nil {
		return p, nil
	}
	payloads, err := storageDriver{s}.Retrieve(converter.StorageDriverRetrieveContext{Context: ctx},
		[]converter.StorageDriverClaim{{ClaimData: claim}})
	if err != nil {
		return nil, err
	}
	return payloads[0], nil
}

func claimDataOf(p *commonpb.Payload) map[string]string {
	if string(p.GetMetadata()[converter.MetadataMessageType]) != claimMessageType {
		return nil
	}
	var ref sdkpb.ExternalStorageReference
	if protojson.Unmarshal(p.GetData(), &ref) != nil || ref.GetDriverName() != driverName {
		return nil
	}
	return ref.GetClaimData()
}
