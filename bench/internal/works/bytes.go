package works

import (
	"context"

	"processidea/model/jsonval"
)

// storageLimits bounds what a work may store, in MB: in the store and in histories together, and in histories alone. 0
// is no limit.
type storageLimits struct{ total, history float64 }

// countBytes records what the only work of a bed has stored: the figures of countStorageGrowth, and the database file.
func (r Round) countBytes(ctx context.Context, limit storageLimits) error {
	if err := r.countStorageGrowth(ctx, limit); err != nil {
		return err
	}
	database, err := r.DatabaseBytes()
	r.Figure("bytes: database file", "MB").Add(database)
	return err
}

// countStorageGrowth records the growth of the store and the histories since they were last counted.
func (r Round) countStorageGrowth(ctx context.Context, limit storageLimits) error {
	histories, err := r.HistoryBytes(ctx)
	if err != nil {
		return err
	}
	stores, err := r.StoreBytes()
	if err != nil {
		return err
	}
	history := r.recordGrowth("histories", histories)
	store := r.recordGrowth("store folder", stores)
	r.Figure("bytes: histories", "MB").Add(history).WithLimit(limit.history)
	r.Figure("bytes: store folder", "MB").Add(store)
	r.Figure("bytes: store and histories", "MB").Add(store + history).WithLimit(limit.total)
	return nil
}

// recordGrowth records the growth of each kind of data in a place, and returns the sum. The table leaves out parts
// below a tenth of a megabyte.
func (r Round) recordGrowth(place string, kinds map[string]float64) (sum float64) {
	grown := r.GrowthSince(place, kinds)
	for kind, n := range jsonval.Sorted(grown) {
		r.Figure("bytes: "+place+": "+kind, "MB").Add(n)
		sum += n
	}
	return sum
}
