package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
)

// kept is what may be kept at most, in MB: in the store and Temporal's histories together, and in the histories. 0: no
// limit.
type kept struct{ all, history float64 }

const mb = 1 << 20

// countBytes notes what the work leaves on disk, each store by its name: the folder of values and Ideas, the histories as
// events, and the database file, which holds the histories and what Temporal keeps beside them.
func (b *bed) countBytes(ctx context.Context, r *record, axis string, n int, limit kept) error {
	history, err := b.historyBytes(ctx, r, axis, n)
	if err != nil {
		return err
	}
	store, err := b.storeBytes(r, axis, n)
	if err != nil {
		return err
	}
	r.of("bytes: histories", "MB").on(axis, n).add(history).atMost(limit.history)
	r.of("bytes: store folder", "MB").on(axis, n).add(store)
	r.of("bytes: store and histories", "MB").on(axis, n).add(store + history).atMost(limit.all)
	database, err := folderBytes(b.dir, func(path string) bool { return strings.HasPrefix(filepath.Base(path), "temporal.db") })
	r.of("bytes: database file", "MB").on(axis, n).add(database / mb)
	return err
}

// historyBytes sums up every event of every run, in MB, and notes the sum by kind of event.
func (b *bed) historyBytes(ctx context.Context, r *record, axis string, n int) (float64, error) {
	kinds, sum := map[string]float64{}, 0.0
	err := b.eachEvent(ctx, func(_ string, event *history.HistoryEvent) {
		size := float64(proto.Size(event)) / mb
		kinds[event.GetEventType().String()] += size
		sum += size
	})
	if err != nil {
		return 0, err
	}
	for kind, size := range kinds {
		r.part("histories", kind, axis, n, size)
	}
	return sum, nil
}

// storeBytes sums up the folder of the store, in MB, and notes the sum by what lies in it.
func (b *bed) storeBytes(r *record, axis string, n int) (float64, error) {
	root := filepath.Join(b.dir, "store")
	kinds, sum := map[string]float64{}, 0.0
	_, err := folderBytes(root, func(path string) bool {
		info, err := os.Stat(path)
		if err != nil {
			return false
		}
		kinds[kindOf(root, path)] += float64(info.Size()) / mb
		sum += float64(info.Size()) / mb
		return true
	})
	for kind, size := range kinds {
		r.part("store folder", kind, axis, n, size)
	}
	return sum, err
}

// kindOf names the part of the store that a file lies in.
func kindOf(root, path string) string {
	name, _ := filepath.Rel(root, path)
	first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	return first + filepath.Ext(name)
}

// folderBytes adds up the files that count.
func folderBytes(root string, counts func(path string) bool) (sum float64, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !counts(path) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += float64(info.Size())
		}
		return err
	})
	return sum, err
}
