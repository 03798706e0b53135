package blobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/gcerrors"
)

// A folder may vanish under a program that works with it, because a disk is not mounted, or is unmounted. The mount
// point is then an empty folder, which looks like a new store. So a store has a mark, an object with an id of its own,
// which is written before anything else. A program that has seen the mark waits while it is missing.

// idFileName is the object that holds the id. It is not a hidden file, so that a copy of the store's files includes it.
const idFileName = "process-idea-store"

const idFileText = "This is the id of this store of Process Idea, made when it was first written to. Who works with " +
	"the store waits while\n" +
	"this file is missing or names another id, as if the store were not there. Copy it along with the rest.\n"

// ErrUnavailable means that the opened store is not at its place now. The error goes away once the store is back.
var ErrUnavailable = errors.New("the store is not there")

// ID returns the id of the store, by which programs tell whether they use the same one; empty if the store has never
// been written to.
func (s *Store) ID() string {
	id, _ := s.id.Load().(string)
	return id
}

// EnsureID makes an id of the store if it has none.
func (s *Store) EnsureID(ctx context.Context) (err error) {
	defer wrapError(&err, "mark %s", s.pathOrURL)
	previouslyKnownID := s.ID()
	err = s.ensureIDFile(ctx)
	if err == nil && previouslyKnownID == "" {
		err = s.checkKeysInUse(ctx) // the store may have been missing when it was opened
	}
	return err
}

// ensureIDFile makes sure, before a write, that the store exists and has its mark.
func (s *Store) ensureIDFile(ctx context.Context) error {
	if s.ID() != "" {
		return s.checkSameFolderStore(ctx)
	}
	s.idFileMu.Lock()
	defer s.idFileMu.Unlock()
	if s.ID() != "" {
		return nil
	}
	id, err := s.readIDFile(ctx)
	if err == nil && id == "" {
		if err = s.createIDFile(ctx); err == nil {
			id, err = s.readIDFile(ctx) // another program may have been faster
		}
	}
	if err == nil && id == "" {
		err = errors.New("its mark cannot be read back")
	}
	if err == nil {
		s.id.Store(id)
	}
	return err
}

// checkSameFolderStore returns an error if the folder is no longer the store that was opened. A bucket does not vanish
// silently.
func (s *Store) checkSameFolderStore(ctx context.Context) error {
	if s.folder == "" {
		return nil
	}
	return s.checkIDFile(ctx)
}

// checkIDFile compares the mark with the id that was seen before.
func (s *Store) checkIDFile(ctx context.Context) error {
	expectedID := s.ID()
	if expectedID == "" {
		return nil
	}
	id, err := s.readIDFile(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read the mark of the store: %w", err)
	case id == "":
		return fmt.Errorf(
			"%w: at %s the file %s is missing (is a disk not mounted?); whatever needs the store waits for it",
			ErrUnavailable,
			s.pathOrURL, idFileName)
	case id != expectedID:
		return fmt.Errorf("%w: at %s is now another store, %s in place of %s; whatever needs the store waits for it",
			ErrUnavailable, s.pathOrURL, id, expectedID)
	}
	return nil
}

// readIDFile reads the store's id; empty if the store has no mark.
func (s *Store) readIDFile(ctx context.Context) (string, error) {
	var data []byte
	var err error
	if s.folder != "" {
		data, err = os.ReadFile(filepath.Join(s.folder, idFileName))
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
	} else {
		data, err = s.bucket.ReadAll(ctx, idFileName)
		if gcerrors.Code(err) == gcerrors.NotFound {
			return "", nil
		}
	}
	id, _, _ := strings.Cut(string(data), "\n")
	return id, err
}

// createIDFile writes an id for the store, unless it has one. An empty file does not count as an id.
func (s *Store) createIDFile(ctx context.Context) error {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	data := []byte(hex.EncodeToString(id) + "\n" + idFileText)
	if s.folder != "" {
		path := filepath.Join(s.folder, idFileName)
		if info, err := os.Stat(path); err == nil && info.Size() == 0 {
			return placeFile(path, data, func(draft string) error { return os.Rename(draft, path) })
		}
	}
	return s.createIfAbsentUnchecked(ctx, idFileName, data)
}

// IsUnused reports whether the store is an empty folder: a new one, or one where a disk is not mounted. An empty file
// in place of the mark allows a new store to begin there.
func (s *Store) IsUnused() (bool, error) {
	if s.folder == "" || s.ID() != "" {
		return false, nil
	}
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return false, fmt.Errorf("blobs: look into %s: %w", s.pathOrURL, err)
	}
	return len(entries) == 0, nil
}

// createFileIfAbsent creates a complete file atomically, unless the file exists: of several programs that try, one
// succeeds.
func createFileIfAbsent(path string, data []byte) error {
	return placeFile(path, data, func(draft string) error {
		err := os.Link(draft, path)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return nil
		}
		return os.Rename(draft, path) // a file system without links
	})
}

// placeFile writes a temporary file in the same folder, and calls place to give it its final name.
func placeFile(path string, data []byte, moveIntoPlace func(draft string) error) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(data)
	err = cmp.Or(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return cmp.Or(moveIntoPlace(f.Name()), syncFolder(folder))
}
