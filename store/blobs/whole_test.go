package blobs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// full lets no file grow beyond so many bytes until the test calls the function that it gives: to the program that is a
// disk which runs full in the middle of a write.
func full(t *testing.T, bytes uint64) (room func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	room = sync.OnceFunc(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(room)
	return room
}

// all lists every file of a store but its mark.
func all(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != idFileName {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestWhatAFullDiskCutsOffIsNotThereAndIsWrittenOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	const child = "PROCESSIDEA_TEST_FULL_DISK"
	if os.Getenv(child) == "" { // in a program of its own: this one has a log that it could not write either
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), child+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	big, small := bytes.Repeat([]byte("0123456789"), 30_000), []byte(strings.Repeat("z", 400))
	for _, entries := range [][]string{nil, {fresh(t, "k1")}} {
		dir := t.TempDir()
		s := mustKeyed(t, dir, entries...)
		if err := s.EnsureID(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.RecordPrimaryKeyInUse(t.Context()); err != nil {
			t.Fatal(err)
		}
		ofP := WithProcess(t.Context(), "p/main")
		if _, err := s.Put(ofP, []byte("what makes the data key of p")); err != nil {
			t.Fatal(err)
		}
		before, failed := len(all(t, dir)), 0
		s.OnFailure = func(process string, err error) {
			if process == "p" && errors.Is(err, syscall.EFBIG) {
				failed++
			}
		}
		for _, c := range []struct {
			data []byte
			room uint64
		}{{big, 100_000}, {small, 100}} {
			room := full(t, c.room)
			_, put := s.Put(ofP, c.data)
			written := s.Write(ofP, "ideas/p/1.json", c.data)
			unfit, tried := s.CheckWritableAfterFailure(t.Context()), s.CheckWritableAtFailedSize(t.Context())
			room()
			if !errors.Is(tried, syscall.EFBIG) || s.CheckWritableAtFailedSize(t.Context()) != nil {
				t.Errorf("there is no room for as much as was refused: %v", tried)
			}
			if err := s.CheckWritableAfterFailure(t.Context()); err != nil ||
				errors.Is(unfit, syscall.EFBIG) != (c.room < uint64(len(probeData))) {
				t.Errorf("with room for %d bytes: %v; then: %v", c.room, unfit, err)
			}
			_ = s.Remove(t.Context(), probeObjectName)
			if !errors.Is(put, syscall.EFBIG) || !errors.Is(written, syscall.EFBIG) {
				t.Errorf("%v, %v", put, written)
			}
			if left := all(t, dir); len(left) != before {
				t.Errorf("it left %q", left)
			}
		}
		if failed != 4 {
			t.Errorf("it told %d times of what was not written", failed)
		}
		digest, err := s.Put(t.Context(), big)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := s.GetUncached(t.Context(), digest); err != nil || !bytes.Equal(data, big) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	}
}

// Older stores may hold what a full disk cut off, and any disk may spoil a file.
func TestAValueThatDoesNotStandThereWholeIsWrittenAnew(t *testing.T) {
	t.Parallel()
	for _, entries := range [][]string{nil, {fresh(t, "k1")}} {
		for name, spoil := range map[string]func([]byte) []byte{
			"cut off": func(b []byte) []byte { return b[:len(b)/2] },
			"empty":   func([]byte) []byte { return nil },
			"changed": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		} {
			dir := t.TempDir()
			at := func() *Store { return mustKeyed(t, dir, entries...) }
			text := strings.Repeat("value ", 1000)
			digest := put(t, at(), text)
			for _, file := range all(t, dir) {
				if strings.Contains(file, "/keys/") {
					continue
				}
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, spoil(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := at().GetUncached(t.Context(), digest); !errors.Is(err, ErrChanged) {
				t.Errorf("%s: %v", name, err)
			}
			put(t, at(), text)
			if data, err := at().GetUncached(t.Context(), digest); err != nil || string(data) != text {
				t.Errorf("%s, %d keys: %v", name, len(entries), err)
			}
		}
	}
}

func TestAStoreWhoseFolderVanishesIsWaitedForAndNotBegunAnew(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	digest := put(t, s, "one")
	write(t, s, "ideas/p/1.json", "{}")
	away := dir + ".away"
	for name, empty := range map[string]func() error{
		"the folder is gone":           func() error { return nil },
		"an empty one is in its place": func() error { return os.Mkdir(dir, 0o700) },
		"another store is there": func() error {
			o, err := Open(t.Context(), dir)
			put(t, o, "two")
			return err
		},
		"a folder that no program may enter": func() error { return os.WriteFile(dir, nil, 0o600) },
	} {
		if err := os.Rename(dir, away); err != nil {
			t.Fatal(err)
		}
		if err := empty(); err != nil {
			t.Fatal(err)
		}
		_, putErr := s.Put(t.Context(), []byte(name))
		_, getErr := s.GetUncached(t.Context(), digest)
		_, _, readErr := s.Read(t.Context(), "ideas/p/1.json")
		_, listErr := s.ListUnder(t.Context(), "ideas/")
		for _, err := range []error{putErr, getErr, readErr, listErr, s.Write(t.Context(), "ideas/p/2.json", nil)} {
			if err == nil || errors.Is(err, ErrMissing) ||
				(!strings.HasSuffix(name, "enter") && !errors.Is(err, ErrUnavailable)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "ideas")); err == nil {
			t.Errorf("%s: something was written there", name)
		}
		_ = os.RemoveAll(dir)
		if err := os.Rename(away, dir); err != nil {
			t.Fatal(err)
		}
		put(t, s, name)
		if _, err := s.GetUncached(t.Context(), digest); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAStoreHasOneIDForAllAndKeepsIt(t *testing.T) {
	t.Parallel()
	for _, place := range []string{t.TempDir(), "file://" + t.TempDir()} {
		ids := make([]string, 8)
		stores := make([]*Store, len(ids))
		for n := range stores {
			var err error
			if stores[n], err = Open(t.Context(), place); err != nil {
				t.Fatal(err)
			}
			if id := stores[n].ID(); id != "" {
				t.Errorf("a store that nobody has written to has the id %s", id)
			}
		}
		var g sync.WaitGroup
		for n, s := range stores {
			g.Go(func() {
				if err := s.EnsureID(t.Context()); err != nil {
					t.Error(err)
				}
				ids[n] = s.ID()
			})
		}
		g.Wait()
		s, err := Open(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if id != s.ID() || len(id) != 32 {
				t.Errorf("%q and %q", id, s.ID())
			}
		}
	}
}

func TestWhatIsOnlyBeingWrittenIsInNoListAndIsFoundAsUnfinished(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	write(t, s, "ideas/p/1.json", "{}")
	digest := put(t, s, "one")
	half := []string{"ideas/p/2.json.18a0b1c2d3e4f506.tmp", "sha256/" + digest[:2] + "/" + digest +
		".18a0b1c2d3e4f506.tmp"}
	for _, name := range half {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	items, err := s.ListUnder(t.Context(), "ideas/p/")
	if err != nil || len(items) != 1 || items[0].Name != "ideas/p/1.json" {
		t.Errorf("%+v, %v", items, err)
	}
	found, err := s.ListTemporaryFiles()
	if err != nil || len(found) != 2 || found[0].Name != half[0] || found[1].Name != half[1] ||
		time.Since(found[0].WrittenAt) > time.Hour {
		t.Errorf("%+v, %v", found, err)
	}
}

// A file may be renamed while a folder is read; that is no error of the store.
func TestAListIsReadWhileOthersWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, WithoutFsync())
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					write(t, s, "ideas/p/1.json", "{}")
				}
			}
		})
	}
	for range 300 {
		if _, err := s.ListUnder(t.Context(), "ideas/p/"); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	g.Wait()
}
