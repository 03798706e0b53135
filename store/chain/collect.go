package chain

import (
	"context"
	"slices"
	"time"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// CollectRules say what Collect may remove.
type CollectRules struct {
	// Cutoff is the cutoff: Collect removes only what was written earlier. It should be some hours ago, because writers
	// rely on values that the store has had for less than blobs.MaxPutValueAge.
	Cutoff time.Time
	// TemporalContents is what Temporal still has; nil if Temporal was not asked.
	TemporalContents *NamespaceContents
	// Decrypt decrypts payloads in the store; nil if none is encrypted.
	Decrypt DecryptFunc
	// ShouldRemove makes Collect remove; if false, Collect only counts what it would remove.
	ShouldRemove bool
}

// CollectResult is what Collect removed, or would remove.
type CollectResult struct {
	WasRemoved bool `json:"removed"` // false: it was only counted
	// CollectedProcessIDs are the processes whose chains are removed.
	CollectedProcessIDs []string `json:"chains"`
	CollectedIdeaCount  int      `json:"ideas"`
	CollectedIdeaBytes  int64    `json:"ideaBytes"`
	CollectedValueCount int      `json:"values"`
	CollectedValueBytes int64    `json:"valueBytes"`
	// UnfinishedFileCount counts the half-written files of programs that were killed.
	UnfinishedFileCount int            `json:"unfinished"`
	UnfinishedBytes     int64          `json:"unfinishedBytes"`
	Retained            RetainedCounts `json:"kept"`
}

// RetainedCounts is what stays.
type RetainedCounts struct {
	ChainCount int   `json:"chains"`
	ValueCount int   `json:"values"`
	ValueBytes int64 `json:"valueBytes"`
}

// Collect removes old chains and old values. A chain is removed if its latest Idea is old and its process has nothing
// open in Temporal; a value, if neither a remaining chain nor a history in Temporal needs it.
func (s *Store) Collect(ctx context.Context, r CollectRules) (result *CollectResult, err error) {
	defer wrapError(&err, "collect")
	c := s.newCollector(ctx, r)
	return &c.result, c.collect(ctx)
}

func (s *Store) newCollector(ctx context.Context, r CollectRules) *collector {
	return &collector{Store: s, rules: r, ctx: ctx, valueByName: map[string]*collectableValue{},
		result: CollectResult{WasRemoved: r.ShouldRemove, CollectedProcessIDs: []string{}}}
}

// collector is one collection.
type collector struct {
	*Store
	rules             CollectRules
	valueByName       map[string]*collectableValue // all values, by name
	ctx               context.Context              // of the whole collection
	pendingReferences []digestReference            // needed values whose own references are not yet marked
	neededValues      []*collectableValue          // needed values, each after something that refers to it
	manifestsToRemove []blobs.ObjectInfo           // manifests to remove, in the order of removal
	onNeededValue     func(digestReference) error  // called for each needed value, if not nil
	result            CollectResult
}

type collectableValue struct {
	blobs.ObjectInfo
	isNeeded bool
}

func (c *collector) collect(ctx context.Context) error {
	if err := c.mark(ctx, c.rules.TemporalContents, c.keepOrDropChain, true); err != nil {
		return err
	}
	if err := c.sweep(ctx); err != nil {
		return err
	}
	if err := c.sweepDataKeys(ctx); err != nil {
		return err
	}
	return c.sweepUnfinishedFiles(ctx)
}

// mark lists all values, and marks the values that the histories in held need, and those that the chains need for which
// of returns true. With elsewhere, it also marks what items outside of chains need.
func (c *collector) mark(ctx context.Context, contents *NamespaceContents,
	shouldMarkChain func(ctx context.Context, processID string, items []blobs.ObjectInfo) (bool, error),
	includeOtherFolders bool) error {
	values, err := c.blobStore.ListValues(ctx)
	if err != nil {
		return err
	}
	for _, i := range values {
		c.valueByName[i.Name] = &collectableValue{ObjectInfo: i}
	}
	processIDs, err := c.ListProcessIDs(ctx)
	if err != nil {
		return err
	}
	for _, processID := range processIDs {
		items, err := c.blobStore.ListUnder(ctx, ideasFolder(processID))
		mustMark := false
		if err == nil {
			mustMark, err = shouldMarkChain(ctx, processID, items)
		}
		if err == nil && mustMark {
			err = c.markReferencesOf(ctx, processID, items)
		}
		if err != nil {
			return err
		}
	}
	if includeOtherFolders {
		if err := c.markOtherFolders(ctx); err != nil {
			return err
		}
	}
	for r := range contents.references() {
		c.markValue(r)
	}
	return c.markNeeded(ctx)
}

// keepOrDropChain reports whether a chain stays, and schedules the removal of a chain that does not.
func (c *collector) keepOrDropChain(ctx context.Context, processID string, items []blobs.ObjectInfo) (bool, error) {
	isOldChain, err := c.isChainOld(ctx, processID)
	if err != nil {
		return false, err
	}
	if isOldChain && !c.rules.TemporalContents.isOpen(processID) {
		c.scheduleChainRemoval(processID, items)
		return false, nil
	}
	c.result.Retained.ChainCount++
	return true, nil
}

// isChainOld reports whether the latest Idea of a process is older than the rules say. An unreadable Idea never counts
// as old.
func (c *collector) isChainOld(ctx context.Context, processID string) (bool, error) {
	ideaNumber, err := c.LatestIdeaNumber(ctx, processID)
	if err != nil || ideaNumber == 0 {
		return false, err
	}
	m, err := c.manifest(ctx, processID, ideaNumber)
	if isBroken(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	created, err := time.Parse(time.RFC3339Nano, m.metaText(createdAtMetaKey))
	return err == nil && created.Before(c.rules.Cutoff), nil
}

// scheduleChainRemoval schedules the removal of a chain, the latest Idea first, so that an interrupted collection
// leaves a chain without gaps.
func (c *collector) scheduleChainRemoval(processID string, items []blobs.ObjectInfo) {
	slices.SortFunc(items, func(a, b blobs.ObjectInfo) int {
		n, _ := parseIdeaNumber(processID, a.Name)
		m, _ := parseIdeaNumber(processID, b.Name)
		return m - n
	})
	c.result.CollectedProcessIDs = append(c.result.CollectedProcessIDs, processID)
	for _, i := range items {
		c.result.CollectedIdeaCount++
		c.result.CollectedIdeaBytes += i.Size
		c.manifestsToRemove = append(c.manifestsToRemove, i)
	}
}

// sweep removes the values that nothing needs, or counts them.
func (c *collector) sweep(ctx context.Context) error {
	if c.rules.ShouldRemove {
		for _, i := range c.manifestsToRemove {
			if err := c.blobStore.Remove(ctx, i.Name); err != nil {
				return err
			}
		}
	}
	for _, v := range jsonval.Sorted(c.valueByName) {
		isRemovable := false
		if !v.isNeeded {
			var err error
			if isRemovable, err = c.removeIfOld(ctx, v.ObjectInfo); err != nil {
				return err
			}
		}
		if isRemovable {
			c.result.CollectedValueCount++
			c.result.CollectedValueBytes += v.Size
		} else {
			c.result.Retained.ValueCount++
			c.result.Retained.ValueBytes += v.Size
		}
	}
	return nil
}

// removeIfOld removes an item that is old; without CollectRules.Remove it only reports whether the item would go.
func (c *collector) removeIfOld(ctx context.Context, i blobs.ObjectInfo) (isRemovable bool, err error) {
	isRemovable = i.WrittenAt.Before(c.rules.Cutoff)
	if isRemovable && c.rules.ShouldRemove {
		return c.blobStore.RemoveIfUnchanged(ctx, i)
	}
	return isRemovable, nil
}

// sweepDataKeys removes the old data keys of processes that neither the store nor Temporal knows any more. A key stays
// while a value that it encrypts is left.
func (c *collector) sweepDataKeys(ctx context.Context) error {
	if !c.rules.ShouldRemove {
		return nil
	}
	processIDs, err := c.ListProcessIDs(ctx)
	if err != nil {
		return err
	}
	knownRootProcessIDs := map[string]bool{}
	for _, processID := range processIDs {
		knownRootProcessIDs[blobs.RootProcessID(processID)] = true
	}
	owners, err := c.blobStore.ListDataKeyOwners(ctx)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		rootProcessID := blobs.RootProcessID(owner.Name)
		if knownRootProcessIDs[rootProcessID] || c.rules.TemporalContents.hasProcess(rootProcessID) ||
			!owner.WrittenAt.Before(c.rules.Cutoff) {
			continue
		}
		remainingValues, err := c.blobStore.ListOwnedValues(ctx, owner.Name)
		if err == nil && len(remainingValues) == 0 {
			err = c.blobStore.RemoveDataKey(ctx, owner.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepUnfinishedFiles removes half-written files, or counts them.
func (c *collector) sweepUnfinishedFiles(ctx context.Context) error {
	items, err := c.blobStore.ListTemporaryFiles()
	if err != nil {
		return err
	}
	for _, i := range items {
		isRemovable, err := c.removeIfOld(ctx, i)
		if err != nil {
			return err
		}
		if isRemovable {
			c.result.UnfinishedFileCount++
			c.result.UnfinishedBytes += i.Size
		}
	}
	return nil
}
