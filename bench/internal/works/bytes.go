package works

import (
	"context"

	"processidea/model/jsonval"
)

// storageLimits bounds what a work may store, in MB: in the store and in histories together, and in histories alone. 0
// is no limit.
type storageLimits struct{ totalMB, historyMB float64 }

// recordStorage records what the only work of a bed has stored: the figures of recordStorageGrowth, and the database
// file.
func (r Round) recordStorage(ctx context.Context, limits storageLimits) error {
	if err := r.recordStorageGrowth(ctx, limits); err != nil {
		return err
	}
	databaseMB, err := r.DatabaseMB()
	r.FindOrAddFigure("bytes: database file", "MB").Add(databaseMB)
	return err
}

// recordStorageGrowth records the growth of the store and the histories since they were last counted.
func (r Round) recordStorageGrowth(ctx context.Context, limits storageLimits) error {
	historyMBByKind, err := r.HistoryMBByEventType(ctx)
	if err != nil {
		return err
	}
	storeMBByKind, err := r.StoreMBByFolder()
	if err != nil {
		return err
	}
	historyMB := r.recordGrowth("histories", historyMBByKind)
	storeMB := r.recordGrowth("store folder", storeMBByKind)
	r.FindOrAddFigure("bytes: histories", "MB").Add(historyMB).WithLimit(limits.historyMB)
	r.FindOrAddFigure("bytes: store folder", "MB").Add(storeMB)
	r.FindOrAddFigure("bytes: store and histories", "MB").Add(storeMB + historyMB).WithLimit(limits.totalMB)
	return nil
}

// recordGrowth records the growth of each kind of data in a place, and returns the sum. The table leaves out parts
// below a tenth of a megabyte.
func (r Round) recordGrowth(place string, mbByKind map[string]float64) (sum float64) {
	growthByKind := r.GrowthSinceLastCall(place, mbByKind)
	for kind, n := range jsonval.Sorted(growthByKind) {
		r.FindOrAddFigure("bytes: "+place+": "+kind, "MB").Add(n)
		sum += n
	}
	return sum
}
