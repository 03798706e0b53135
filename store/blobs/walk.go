package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// ObjectInfo is one object of the store.
type ObjectInfo struct {
	Name      string
	Size      int64 // bytes
	WrittenAt time.Time
}

// Name returns the name under which Put stores a value in this context.
func (s *Store) Name(ctx context.Context, digest string) string {
	return s.PossibleObjectNames(ctx, digest)[0]
}

// PossibleObjectNames returns all names that a value may have. Values of a forgotten process have no names of their
// own.
func (s *Store) PossibleObjectNames(ctx context.Context, digest string) []string {
	if !IsDigest(digest) {
		return []string{plainFolder + digest}
	}
	locations, err := s.possibleLocations(ctx, digest)
	if err != nil {
		locations, _ = s.possibleLocations(WithProcess(ctx, ""), digest)
	}
	var names []string
	for _, loc := range locations {
		names = append(names, loc.name)
	}
	return names
}

// HoldsValuesOrDataKeys reports whether a top-level folder of the store holds values, or the data keys that decrypt
// them.
func HoldsValuesOrDataKeys(folder string) bool {
	return folder == plainFolder || folder == encryptedFolder || folder == processFolder || folder == dataKeyFolder
}

// ListUnder lists what Write stored under names with a prefix, in no particular order.
func (s *Store) ListUnder(ctx context.Context, prefix string) ([]ObjectInfo, error) {
	return s.list(ctx, prefix, "")
}

// ListFolders lists the folders directly under a prefix, without their contents; each name ends with a slash.
func (s *Store) ListFolders(ctx context.Context, prefix string) (names []string, err error) {
	items, err := s.list(ctx, prefix, "/")
	for _, i := range items {
		if strings.HasSuffix(i.Name, "/") {
			names = append(names, i.Name)
		}
	}
	return names, err
}

// ListValues lists every value, except values encrypted with keys that this program lacks: their names are not
// recognizable.
func (s *Store) ListValues(ctx context.Context) (values []ObjectInfo, err error) {
	valueFolders := []string{plainFolder}
	for _, id := range s.keys.IDs() {
		valueFolders = append(valueFolders, encryptedFolder+id+"/")
	}
	if s.keys != nil {
		owners, err := s.ListFolders(ctx, processFolder)
		if err != nil {
			return nil, err
		}
		valueFolders = append(valueFolders, owners...)
	}
	for _, valueFolder := range valueFolders {
		// Folder by folder: listing a large folder on disk in pages would read all of it for each page.
		folders, err := s.ListFolders(ctx, valueFolder)
		if err != nil {
			return nil, err
		}
		for _, f := range folders {
			items, err := s.ListUnder(ctx, f)
			if err != nil {
				return nil, err
			}
			values = append(values,
				slices.DeleteFunc(items, func(i ObjectInfo) bool { return !IsDigest(path.Base(i.Name)) })...)
		}
	}
	return values, nil
}

// ListTemporaryFiles lists half-written files: those of programs that were killed, and those that are being written
// now.
func (s *Store) ListTemporaryFiles() (items []ObjectInfo, err error) {
	defer wrapError(&err, "list unfinished files")
	if s.folder == "" {
		return nil, nil
	}
	err = filepath.WalkDir(s.folder, func(filePath string, e fs.DirEntry, err error) error {
		if isReadable := err == nil; !isReadable || e.IsDir() || !temporaryFilePattern.MatchString(filePath) {
			return nil
		}
		relativePath, err := filepath.Rel(s.folder, filePath)
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil { // else it was just renamed
			items = append(items, ObjectInfo{filepath.ToSlash(relativePath), info.Size(), info.ModTime()})
		}
		return nil
	})
	return items, err
}

// maxListPageRereads is how often a page of a list is read again because a file was renamed or removed at that moment.
const maxListPageRereads = 100

// list returns the objects under a prefix, and with a delimiter also the folders whose names it ends. Half-written
// files are left out.
func (s *Store) list(ctx context.Context, prefix, delimiter string) (items []ObjectInfo, err error) {
	defer wrapError(&err, "list %s", prefix)
	if err := s.checkSameFolderStore(ctx); err != nil {
		return nil, err
	}
	objectIterator, rereadsLeft := s.bucket.List(&blob.ListOptions{Prefix: prefix, Delimiter: delimiter}),
		maxListPageRereads
	for {
		o, err := objectIterator.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return items, nil
		case gcerrors.Code(err) == gcerrors.NotFound && rereadsLeft > 0:
			rereadsLeft--
		case err != nil:
			return nil, err
		case o.IsDir || s.folder == "" || !temporaryFilePattern.MatchString(o.Key):
			items = append(items, ObjectInfo{o.Key, o.Size, o.ModTime})
		}
	}
}

// Remove removes an object. It is no error if the object does not exist.
func (s *Store) Remove(ctx context.Context, name string) error {
	err := s.bucket.Delete(ctx, name)
	if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("blobs: remove %s: %w", name, err)
	}
	s.verifiedAtByName.Remove(name)
	if !strings.HasPrefix(name, encryptedFolder) && !strings.HasPrefix(name, processFolder) {
		s.cache.Remove(path.Base(name))
		return nil
	}
	s.cache.Purge() // the digest is not known from the name
	return nil
}

// RemoveIfUnchanged removes an object that was listed earlier, unless it was written again since; isRemoved is then
// false.
func (s *Store) RemoveIfUnchanged(ctx context.Context, i ObjectInfo) (isRemoved bool, err error) {
	a, err := s.bucket.Attributes(ctx, i.Name)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("blobs: remove %s: %w", i.Name, err)
	case a.ModTime.After(i.WrittenAt):
		return false, nil
	}
	return true, s.Remove(ctx, i.Name)
}
