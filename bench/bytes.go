package main

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
)

// kept is what may be kept at most, in MB: in the store and Temporal's histories together, and in the histories. 0: no
// limit.
type kept struct{ all, history float64 }

const mb = 1 << 20

// countBytes notes what the only work of a bed leaves on disk, each store by its name: as countKept does, and the database
// file, which holds the histories and what Temporal keeps beside them. It grows by more than is put into it at a time.
func (b *bed) countBytes(ctx context.Context, r *record, axis string, n int, limit kept) error {
	if err := b.countKept(ctx, r, axis, n, limit); err != nil {
		return err
	}
	database, err := folderBytes(b.dir, func(path string) bool { return strings.HasPrefix(filepath.Base(path), "temporal.db") })
	r.of("bytes: database file", "MB").on(axis, n).add(database / mb)
	return err
}

// countKept notes what has come to the folder of values and Ideas and to the histories, as events, since they were last
// counted.
func (b *bed) countKept(ctx context.Context, r *record, axis string, n int, limit kept) error {
	histories, err := b.historyBytes(ctx)
	if err != nil {
		return err
	}
	stores, err := b.storeBytes()
	if err != nil {
		return err
	}
	history, store := b.since(r, "histories", axis, n, histories), b.since(r, "store folder", axis, n, stores)
	r.of("bytes: histories", "MB").on(axis, n).add(history).atMost(limit.history)
	r.of("bytes: store folder", "MB").on(axis, n).add(store)
	r.of("bytes: store and histories", "MB").on(axis, n).add(store + history).atMost(limit.all)
	return nil
}

// since gives by how much a place has grown since it was last counted, in MB, and notes it by kind.
func (b *bed) since(r *record, place, axis string, n int, kinds map[string]float64) (sum float64) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		key := [2]string{place, kind}
		more := kinds[kind] - b.counted[key]
		b.counted[key] = kinds[kind]
		if more > 0 {
			r.part(place, kind, axis, n, more)
			sum += more
		}
	}
	return sum
}

// historyBytes sums up every event of every run, in MB, by kind of event.
func (b *bed) historyBytes(ctx context.Context) (kinds map[string]float64, err error) {
	kinds = map[string]float64{}
	err = b.eachEvent(ctx, func(_ string, event *history.HistoryEvent) {
		kinds[event.GetEventType().String()] += float64(proto.Size(event)) / mb
	})
	return kinds, err
}

// storeBytes sums up the folder of the store, in MB, by what lies in it.
func (b *bed) storeBytes() (kinds map[string]float64, err error) {
	root := filepath.Join(b.dir, "store")
	kinds = map[string]float64{}
	_, err = folderBytes(root, func(path string) bool {
		info, err := os.Stat(path)
		if err != nil {
			return false
		}
		kinds[kindOf(root, path)] += float64(info.Size()) / mb
		return true
	})
	return kinds, err
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
