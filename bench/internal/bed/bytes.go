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

// GrowthSinceLastCall returns by how much each kind of data in a place has grown since the last call for that place, in
// MB. Kinds that have not grown are left out.
func (b *TestBed) GrowthSinceLastCall(place string, mbByKind map[string]float64) map[string]float64 {
	growthByKind := map[string]float64{}
	for kind, size := range mbByKind {
		key := [2]string{place, kind}
		if growth := size - b.lastMBByPlaceAndKind[key]; growth > 0 {
			growthByKind[kind] = growth
		}
		b.lastMBByPlaceAndKind[key] = size
	}
	return growthByKind
}

// HistoryMBByEventType returns the size of all events of all runs, in MB, by type of event.
func (b *TestBed) HistoryMBByEventType(ctx context.Context) (mbByKind map[string]float64, err error) {
	mbByKind = map[string]float64{}
	err = b.eachEvent(ctx, func(_ string, event *history.HistoryEvent) {
		mbByKind[event.GetEventType().String()] += float64(proto.Size(event)) / bytesPerMB
	})
	return mbByKind, err
}

// StoreMBByFolder returns the size of the store's folder, in MB, by kind of file: its part of the store, and its
// extension.
func (b *TestBed) StoreMBByFolder() (map[string]float64, error) {
	return folderMBByKind(b.dir+"/store", func(name string) string {
		topFolder, _, _ := strings.Cut(name, "/")
		return topFolder + path.Ext(name)
	})
}

// DatabaseMB returns the size of the server's database file, in MB. It holds the histories and Temporal's other
// data. The file grows in steps that are larger than the data added.
func (b *TestBed) DatabaseMB() (float64, error) {
	mbByFile, err := folderMBByKind(b.dir, func(name string) string {
		file, _, _ := strings.Cut(path.Base(name), "-") // SQLite's logs are called temporal.db-wal and the like
		return file
	})
	return mbByFile["temporal.db"], err
}

// folderMBByKind adds up the sizes of the files in a folder, in MB, by kind.
func folderMBByKind(root string, kindOf func(name string) string) (mbByKind map[string]float64, err error) {
	mbByKind = map[string]float64{}
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			mbByKind[kindOf(name)] += float64(info.Size()) / bytesPerMB
		}
		return err
	})
	return mbByKind, err
}
