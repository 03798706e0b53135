package bed

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
)

const mb = 1 << 20

// Grown gives by how much each kind of what a place holds has grown since the last call for that place, in MB. What has
// not grown is left out.
func (b *Bed) Grown(place string, kinds map[string]float64) map[string]float64 {
	grown := map[string]float64{}
	for kind, now := range kinds {
		key := [2]string{place, kind}
		if more := now - b.counted[key]; more > 0 {
			grown[kind] = more
		}
		b.counted[key] = now
	}
	return grown
}

// HistoryBytes gives the size of all events of all runs, in MB, by type of event.
func (b *Bed) HistoryBytes(ctx context.Context) (kinds map[string]float64, err error) {
	kinds = map[string]float64{}
	err = b.eachEvent(ctx, func(_ string, event *history.HistoryEvent) {
		kinds[event.GetEventType().String()] += float64(proto.Size(event)) / mb
	})
	return kinds, err
}

// StoreBytes gives the size of the store's folder, in MB, by kind of file.
func (b *Bed) StoreBytes() (kinds map[string]float64, err error) {
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

// DatabaseBytes gives the size of the server's database file, in MB. It holds the histories and what Temporal keeps
// beside them, and grows by more than is put into it at a time.
func (b *Bed) DatabaseBytes() (float64, error) {
	size, err := folderBytes(b.dir, func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), "temporal.db")
	})
	return size / mb, err
}

// kindOf names the part of the store that a file lies in.
func kindOf(root, path string) string {
	name, _ := filepath.Rel(root, path)
	first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	return first + filepath.Ext(name)
}

// folderBytes adds up the sizes of the files in a folder that count.
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
