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

// GrowthSince returns by how much each kind of data in a place has grown since the last call for that place, in MB.
// Kinds that have not grown are left out.
func (b *TestBed) GrowthSince(place string, sizeByKind map[string]float64) map[string]float64 {
	growthByKind := map[string]float64{}
	for kind, size := range sizeByKind {
		key := [2]string{place, kind}
		if growth := size - b.lastMeasuredMB[key]; growth > 0 {
			growthByKind[kind] = growth
		}
		b.lastMeasuredMB[key] = size
	}
	return growthByKind
}

// HistoryBytes returns the size of all events of all runs, in MB, by type of event.
func (b *TestBed) HistoryBytes(ctx context.Context) (sizeByKind map[string]float64, err error) {
	sizeByKind = map[string]float64{}
	err = b.eachEvent(ctx, func(_ string, event *history.HistoryEvent) {
		sizeByKind[event.GetEventType().String()] += float64(proto.Size(event)) / bytesPerMB
	})
	return sizeByKind, err
}

// StoreBytes returns the size of the store's folder, in MB, by kind of file: its part of the store, and its extension.
func (b *TestBed) StoreBytes() (map[string]float64, error) {
	return folderBytes(b.dir+"/store", func(name string) string {
		part, _, _ := strings.Cut(name, "/")
		return part + path.Ext(name)
	})
}

// DatabaseBytes returns the size of the server's database file, in MB. It holds the histories and Temporal's other
// data. The file grows in steps that are larger than the data added.
func (b *TestBed) DatabaseBytes() (float64, error) {
	sizeByKind, err := folderBytes(b.dir, func(name string) string {
		file, _, _ := strings.Cut(path.Base(name), "-") // SQLite's logs are called temporal.db-wal and the like
		return file
	})
	return sizeByKind["temporal.db"], err
}

// folderBytes adds up the sizes of the files in a folder, in MB, by kind.
func folderBytes(root string, kindOf func(name string) string) (sizeByKind map[string]float64, err error) {
	sizeByKind = map[string]float64{}
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sizeByKind[kindOf(name)] += float64(info.Size()) / bytesPerMB
		}
		return err
	})
	return sizeByKind, err
}
