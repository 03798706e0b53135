package works

import (
	"context"

	"processidea/model/jsonval"
)

// storageLimits bounds what a work may store, in MB: in the store and in histories together, and in histories alone. 0
// is no limit.
type storageLimits struct{ totalMB, historyMB float64 }

// recordStorage records what the only work of a bed has stored: the figures of recordStorageGrowth, and the database file.
func (r Round) recordStorage(ctx context.Context, limit storageLimits) error {
	if err := r.recordStorageGrowth(ctx, limit); err != nil {
		return err
	}
	database, err := r.DatabaseMB()
	r.Figure("bytes: database file", "MB").Add(database)
	return err
}

// recordStorageGrowth records the growth of the store and the histories since they were last counted.
func (r Round) recordStorageGrowth(ctx context.Context, limit storageLimits) error {
	histories, err := r.HistoryMB(ctx)
	if err != nil {
		return err
	}
	stores, err := r.StoreMB()
	if err != nil {
		return err
	}
	historyMB := r.recordGrowth("histories", histories)
	storeMB := r.recordGrowth("store folder", stores)
	r.Figure("bytes: histories", "MB").Add(historyMB).WithLimit(limit.historyMB)
	r.Figure("bytes: store folder", "MB").Add(storeMB)
	r.Figure("bytes: store and histories", "MB").Add(storeMB + historyMB).WithLimit(limit.totalMB)
	return nil
}

// recordGrowth records the growth of each kind of data in a place, and returns the sum. The table leaves out parts
// below a tenth of a megabyte.
func (r Round) recordGrowth(place string, mbByKind map[string]float64) (sum float64) {
	growthByKind := r.GrowthSinceLastCall(place, mbByKind)
	for kind, n := range jsonval.Sorted(growthByKind) {
		r.Figure("bytes: "+place+": "+kind, "MB").Add(n)
		sum += n
	}
	return sum
}
