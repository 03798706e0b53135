package chain

import (
	"context"
	"slices"
	"time"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// Rules say what Collect may remove.
type Rules struct {
	// Before is the cutoff: Collect removes only what was written earlier. It should be some hours ago, because writers
	// rely on values that the store has had for less than blobs.Freshness.
	Before time.Time
	// Temporal is what Temporal still has; nil if Temporal was not asked.
	Temporal *NamespaceContents
	// Open decrypts payloads in the store; nil if none is encrypted.
	Open Opener
	// Remove makes Collect remove; if false, Collect only counts what it would remove.
	Remove bool
}

// Collected is what Collect removed, or would remove.
type Collected struct {
	Removed bool `json:"removed"` // false: it was only counted
	// Chains are the processes whose chains are removed.
	Chains     []string `json:"chains"`
	Ideas      int      `json:"ideas"`
	IdeaBytes  int64    `json:"ideaBytes"`
	Values     int      `json:"values"`
	ValueBytes int64    `json:"valueBytes"`
	// Unfinished counts the half-written files of programs that were killed.
	Unfinished      int   `json:"unfinished"`
	UnfinishedBytes int64 `json:"unfinishedBytes"`
	Kept            Kept  `json:"kept"`
}

// Kept is what stays.
type Kept struct {
	Chains     int   `json:"chains"`
	Values     int   `json:"values"`
	ValueBytes int64 `json:"valueBytes"`
}

// Collect removes old chains and old values. A chain is removed if its latest Idea is old and its process has nothing
// open in Temporal; a value, if neither a remaining chain nor a history in Temporal needs it.
func (s *Store) Collect(ctx context.Context, r Rules) (done *Collected, err error) {
	defer wrapError(&err, "collect")
	c := s.collector(ctx, r)
	return &c.result, c.collect(ctx)
}

func (s *Store) collector(ctx context.Context, r Rules) *collector {
	return &collector{Store: s, rules: r, ctx: ctx, listed: map[string]*collectableValue{},
		result: Collected{Removed: r.Remove, Chains: []string{}}}
}

// collector is one collection.
type collector struct {
	*Store
	rules            Rules
	listed           map[string]*collectableValue // all values, by name
	ctx              context.Context              // of the whole collection
	todo             []reference                  // needed values whose own references are not yet marked
	found            []*collectableValue          // needed values, each after something that refers to it
	removedManifests []blobs.Item                 // manifests to remove, in the order of removal
	onNeeded         func(reference) error        // called for each needed value, if not nil
	result           Collected
}

type collectableValue struct {
	blobs.Item
	needed bool
}

func (c *collector) collect(ctx context.Context) error {
	if err := c.mark(ctx, c.rules.Temporal, c.keepChain, true); err != nil {
		return err
	}
	if err := c.sweep(ctx); err != nil {
		return err
	}
	if err := c.sweepDataKeys(ctx); err != nil {
		return err
	}
	return c.sweepUnfinished(ctx)
}

// mark lists all values, and marks the values that the histories in held need, and those that the chains need for which
// of returns true. With elsewhere, it also marks what items outside of chains need.
func (c *collector) mark(ctx context.Context, held *NamespaceContents,
	of func(ctx context.Context, process string, items []blobs.Item) (bool, error), elsewhere bool) error {
	values, err := c.values.Values(ctx)
	if err != nil {
		return err
	}
	for _, i := range values {
		c.listed[i.Name] = &collectableValue{Item: i}
	}
	processes, err := c.Processes(ctx)
	if err != nil {
		return err
	}
	for _, process := range processes {
		items, err := c.values.ListUnder(ctx, placeOf(process))
		counts := false
		if err == nil {
			counts, err = of(ctx, process, items)
		}
		if err == nil && counts {
			err = c.readAll(ctx, process, items)
		}
		if err != nil {
			return err
		}
	}
	if elsewhere {
		if err := c.markOthers(ctx); err != nil {
			return err
		}
	}
	for r := range held.references() {
		c.markValue(r)
	}
	return c.markNeeded(ctx)
}

// keepChain reports whether a chain stays, and schedules the removal of a chain that does not.
func (c *collector) keepChain(ctx context.Context, process string, items []blobs.Item) (bool, error) {
	old, err := c.isOld(ctx, process)
	if err != nil {
		return false, err
	}
	if old && !c.rules.Temporal.isOpen(process) {
		c.drop(process, items)
		return false, nil
	}
	c.result.Kept.Chains++
	return true, nil
}

// isOld reports whether the latest Idea of a process is older than the rules say. An unreadable Idea never counts as
// old.
func (c *collector) isOld(ctx context.Context, process string) (bool, error) {
	at, err := c.Latest(ctx, process)
	if err != nil || at == 0 {
		return false, err
	}
	m, err := c.manifest(ctx, process, at)
	if isBroken(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	created, err := time.Parse(time.RFC3339Nano, m.metaText(createdAt))
	return err == nil && created.Before(c.rules.Before), nil
}

// drop schedules the removal of a chain, the latest Idea first, so that an interrupted collection leaves a chain
// without gaps.
func (c *collector) drop(process string, items []blobs.Item) {
	slices.SortFunc(items, func(a, b blobs.Item) int {
		n, _ := numberAt(process, a.Name)
		m, _ := numberAt(process, b.Name)
		return m - n
	})
	c.result.Chains = append(c.result.Chains, process)
	for _, i := range items {
		c.result.Ideas++
		c.result.IdeaBytes += i.Size
		c.removedManifests = append(c.removedManifests, i)
	}
}

// sweep removes the values that nothing needs, or counts them.
func (c *collector) sweep(ctx context.Context) error {
	if c.rules.Remove {
		for _, i := range c.removedManifests {
			if err := c.values.Remove(ctx, i.Name); err != nil {
				return err
			}
		}
	}
	for _, v := range jsonval.Sorted(c.listed) {
		goes := false
		if !v.needed {
			var err error
			if goes, err = c.remove(ctx, v.Item); err != nil {
				return err
			}
		}
		if goes {
			c.result.Values++
			c.result.ValueBytes += v.Size
		} else {
			c.result.Kept.Values++
			c.result.Kept.ValueBytes += v.Size
		}
	}
	return nil
}

// remove removes an item that is old; without Rules.Remove it only reports whether the item would go.
func (c *collector) remove(ctx context.Context, i blobs.Item) (goes bool, err error) {
	goes = i.Written.Before(c.rules.Before)
	if goes && c.rules.Remove {
		return c.values.RemoveUntouched(ctx, i)
	}
	return goes, nil
}

// sweepDataKeys removes the old data keys of processes that neither the store nor Temporal knows any more. A key stays
// while a value that it encrypts is left.
func (c *collector) sweepDataKeys(ctx context.Context) error {
	if !c.rules.Remove {
		return nil
	}
	processes, err := c.Processes(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, process := range processes {
		known[blobs.RootOf(process)] = true
	}
	owners, err := c.values.Owners(ctx)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		root := blobs.RootOf(owner.Name)
		if known[root] || c.rules.Temporal.hasProcess(root) || !owner.Written.Before(c.rules.Before) {
			continue
		}
		left, err := c.values.OwnedValues(ctx, owner.Name)
		if err == nil && len(left) == 0 {
			err = c.values.RemoveDataKey(ctx, owner.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepUnfinished removes half-written files, or counts them.
func (c *collector) sweepUnfinished(ctx context.Context) error {
	items, err := c.values.Unfinished()
	if err != nil {
		return err
	}
	for _, i := range items {
		goes, err := c.remove(ctx, i)
		if err != nil {
			return err
		}
		if goes {
			c.result.Unfinished++
			c.result.UnfinishedBytes += i.Size
		}
	}
	return nil
}
