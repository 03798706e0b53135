package blobs

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"syscall"

	"gocloud.dev/blob"
)

// probeObjectName is the object that is written to check whether the store can be written. It is larger than
// InlineThreshold, like the payloads that are stored.
const probeObjectName = "health/worker"

var probeData = bytes.Repeat([]byte("who wanted to know whether the store can be written wrote this\n"), 1<<10)

// maxProbeBytes bounds what CheckWritableAtFailedSize writes.
const maxProbeBytes = 16 << 20

// CheckWritable returns an error if the store cannot be written now: it writes a meaningless object.
func (s *Store) CheckWritable(ctx context.Context) error {
	return s.Write(WithProcess(ctx, ""), probeObjectName, probeData)
}

// CheckWritableAtFailedSize is CheckWritable with an object at least as large as the last failed write, since a small
// object may find room where a large one does not.
func (s *Store) CheckWritableAtFailedSize(ctx context.Context) error {
	repetitionCount := 1 + int(s.lastFailedWriteBytes.Load())/len(probeData)
	err := s.Write(WithProcess(ctx, ""), probeObjectName, bytes.Repeat(probeData, repetitionCount))
	if err == nil { // there is room for as much again
		s.lastFailedWriteBytes.Store(0)
	}
	return err
}

// CheckWritableAfterFailure is CheckWritable if the last write failed; otherwise it costs next to nothing.
func (s *Store) CheckWritableAfterFailure(ctx context.Context) error {
	if s.hasLastWriteFailed.Load() {
		return s.CheckWritable(ctx)
	}
	return s.checkSameFolderStore(ctx)
}

// writeNotingFailure writes a complete object, or leaves the previous one. In a folder it returns once the object is on
// the disk.
//
// blob.Bucket.WriteAll does not do that: if the disk runs full, it gives the object's name to a partial file.
func (s *Store) writeNotingFailure(ctx context.Context, name string, data []byte) error {
	err := s.writeObject(ctx, name, data)
	if ctx.Err() == nil {
		if s.hasLastWriteFailed.Store(err != nil); err != nil {
			s.lastFailedWriteBytes.Store(int64(min(len(data), maxProbeBytes)))
		}
	}
	return err
}

func (s *Store) writeObject(ctx context.Context, name string, data []byte) error {
	if err := s.ensureIDFile(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var file *os.File // nil in a bucket
	sum := md5.Sum(data)
	w, err := s.bucket.NewWriter(ctx, name, &blob.WriterOptions{
		// With a content type the file is created now, and is removed on any error.
		ContentType: "application/octet-stream",
		ContentMD5:  sum[:],
		BeforeWrite: func(as func(any) bool) error { _ = as(&file); return nil },
	})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	if err == nil && file != nil && !s.skipFsync {
		err = file.Sync()
	}
	if err != nil {
		cancel() // then Close drops what was written
		_ = w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if s.folder == "" {
		return nil
	}
	if err := s.syncFolders(path.Dir(name)); err != nil {
		return err
	}
	return s.checkSameFolderStore(ctx) // otherwise the write went to another folder
}

// syncFolders makes the name of an object durable, and the name of its folder too if this program has not used it
// before.
func (s *Store) syncFolders(folder string) error {
	if s.skipFsync {
		return nil
	}
	err := syncFolder(filepath.Join(s.folder, filepath.FromSlash(folder)))
	if s.syncedFolders.Contains(folder) || err != nil {
		return err
	}
	for parent := folder; parent != "."; {
		parent = path.Dir(parent)
		if err := syncFolder(filepath.Join(s.folder, filepath.FromSlash(parent))); err != nil {
			return err
		}
	}
	s.syncedFolders.Add(folder, struct{}{})
	return nil
}

func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil // a file system that keeps names by itself
	}
	return err
}

// temporaryFilePattern matches the name that a file has until it is complete; a program that was killed leaves such a
// file.
var temporaryFilePattern = regexp.MustCompile(`\.[0-9a-f]{1,16}\.tmp$`)
