package client

import (
	"context"

	"processidea/client/internal/kind"
	"processidea/store/blobs"
	"processidea/store/chain"
	"processidea/store/encryption"
	"processidea/store/signing"
)

// Archive reads the chains of Ideas in a store. It needs neither a server nor a worker, and also reads processes that
// Temporal has forgotten. It is safe for concurrent use.
type Archive struct {
	blobStore  *blobs.Store
	chainStore *chain.Store
}

// OpenArchive opens a store: a folder, which is created if it is missing, or a bucket's URL. keys decrypt its contents;
// nil if nothing is encrypted. The error wraps ErrKeys if the keys do not fit the store.
func OpenArchive(ctx context.Context, storePlace string, keys *encryption.Keys) (*Archive, error) {
	blobStore, err := blobs.Open(ctx, storePlace, blobs.WithKeys(keys))
	if encryption.IsKeyError(err) {
		return nil, kind.WithKind(ErrKeys, err)
	}
	if err != nil {
		return nil, err
	}
	return newArchive(blobStore), nil
}

func newArchive(blobStore *blobs.Store) *Archive { return &Archive{blobStore, chain.New(blobStore)} }

// WithDeciderKeys returns the same archive, except that Chain.Verify also checks the signatures of decisions with these
// keys. Closing either closes both.
func (a *Archive) WithDeciderKeys(deciderKeys *signing.Keys) *Archive {
	if deciderKeys == nil {
		return a
	}
	return &Archive{a.blobStore, a.chainStore.WithProofVerifier(deciderKeys)}
}

// Close closes the store.
func (a *Archive) Close() { _ = a.blobStore.Close() }

// Store returns the store itself.
func (a *Archive) Store() *blobs.Store { return a.blobStore }

// Chain returns the chain of a process.
func (a *Archive) Chain(processID string) *Chain { return &Chain{a.chainStore, processID} }

// ProcessIDs lists the processes that have Ideas in the store, sorted by name.
func (a *Archive) ProcessIDs(ctx context.Context) ([]string, error) {
	return a.chainStore.ListProcessIDs(ctx)
}

// Collect removes old chains and unused values, or only counts them. It sets Rules.Open.
func (a *Archive) Collect(ctx context.Context, rules chain.CollectRules) (*chain.CollectResult, error) {
	rules.Decrypt = a.blobStore.Keys().OpenPayload
	return a.chainStore.Collect(ctx, rules)
}

// ReadReferencedStoreValues asks the server which values of the store its histories still need, for Collect. It reads
// every history of the namespace.
func (c *Client) ReadReferencedStoreValues(ctx context.Context) (*chain.NamespaceContents, error) {
	return chain.ReadTemporal(ctx, c.temporal.WorkflowService(), c.namespace, c.archive.blobStore.Keys().OpenPayload)
}
