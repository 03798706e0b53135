package works

import (
	"context"
	"maps"
	"slices"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
)

// limits bounds what a work may keep, in MB: in the store and in Temporal's histories together, and in the histories. 0
// is no limit.
type limits struct{ all, history float64 }

// countBytes notes what the only work of a bed has kept: what countKept does, and the database file.
func countBytes(ctx context.Context, b *bed.Bed, r *report.Record, axis string, n int, limit limits) error {
	if err := countKept(ctx, b, r, axis, n, limit); err != nil {
		return err
	}
	database, err := b.DatabaseBytes()
	r.Figure("bytes: database file", "MB").On(axis, n).Add(database)
	return err
}

// countKept notes by how much the store and the histories have grown since they were last counted.
func countKept(ctx context.Context, b *bed.Bed, r *report.Record, axis string, n int, limit limits) error {
	histories, err := b.HistoryBytes(ctx)
	if err != nil {
		return err
	}
	stores, err := b.StoreBytes()
	if err != nil {
		return err
	}
	history := noteParts(r, "histories", axis, n, b.Grown("histories", histories))
	store := noteParts(r, "store folder", axis, n, b.Grown("store folder", stores))
	r.Figure("bytes: histories", "MB").On(axis, n).Add(history).AtMost(limit.history)
	r.Figure("bytes: store folder", "MB").On(axis, n).Add(store)
	r.Figure("bytes: store and histories", "MB").On(axis, n).Add(store + history).AtMost(limit.all)
	return nil
}

// noteParts notes what each kind takes of a place, and gives the sum. The table leaves out parts under a tenth of a
// megabyte.
func noteParts(r *report.Record, place, axis string, n int, kinds map[string]float64) (sum float64) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		r.Figure("bytes: "+place+": "+kind, "MB").On(axis, n).Add(kinds[kind])
		sum += kinds[kind]
	}
	return sum
}
