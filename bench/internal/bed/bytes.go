package bed

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"

	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
)

const bytesPerMB = 1 << 20

// GrowthSince gives by how much each kind of what a place holds has grown since the last call for that place, in MB.
// What has not grown is left out.
func (b *Bed) GrowthSince(place string, kinds map[string]float64) map[string]float64 {
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
		kinds[event.GetEventType().String()] += float64(proto.Size(event)) / bytesPerMB
	})
	return kinds, err
}

// StoreBytes gives the size of the store's folder, in MB, by kind of file: the part of the store that it lies in, and
// how its name ends.
func (b *Bed) StoreBytes() (map[string]float64, error) {
	return folderBytes(b.dir+"/store", func(name string) string {
		part, _, _ := strings.Cut(name, "/")
		return part + path.Ext(name)
	})
}

// DatabaseBytes gives the size of the server's database file, in MB. It holds the histories and what Temporal keeps
// beside them, and grows by more than is put into it at a time.
func (b *Bed) DatabaseBytes() (float64, error) {
	kinds, err := folderBytes(b.dir, func(name string) string {
		file, _, _ := strings.Cut(path.Base(name), "-") // SQLite's logs have its name, a hyphen and what they are
		return file
	})
	return kinds["temporal.db"], err
}

// folderBytes adds up the sizes of the files in a folder, in MB, by kind.
func folderBytes(root string, kind func(name string) string) (kinds map[string]float64, err error) {
	kinds = map[string]float64{}
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			kinds[kind(name)] += float64(info.Size()) / bytesPerMB
		}
		return err
	})
	return kinds, err
}
