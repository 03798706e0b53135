package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"processidea/store/encryption"
)

// With keys, the data of a process is encrypted with a data key of its own, which the store's keys wrap. Destroying the
// data key makes all of it unreadable, including copies. The context of a read or write says which process the data
// belongs to (WithProcess). Instances, parts and delegates belong to their root process. Without keys, the data of all
// processes is stored together, and equal values are stored once.

// Folders of what belongs to processes: values and wrapped data keys.
const (
	processFolder = "processes/"
	dataKeyFolder = "datakeys/"
)

// destroyedKeyText replaces a destroyed data key, so that no new one is made.
const destroyedKeyText = "processidea data key destroyed\n"

// movedKeyPrefix replaces a data key that was superseded; the owner of the new key and a line end follow.
const movedKeyPrefix = "processidea data key moved "

// ErrForgotten means that the contents of a process were forgotten: nothing of it can be read or written any more.
var ErrForgotten = errors.New("what the process worked on was forgotten")

// DataKeyError says that something cannot be read or written because the data key of its process cannot be used. It
// wraps ErrForgotten if the key was destroyed, and ErrMissing or ErrChanged if the key is lost.
type DataKeyError struct {
	Owner      string
	ObjectName string // of the data key in the store
	Cause      error
}

// Error names the process.
func (e *DataKeyError) Error() string { return fmt.Sprintf("data key of %s: %s", e.Owner, e.Cause) }

// Unwrap returns the cause.
func (e *DataKeyError) Unwrap() error { return e.Cause }

type ownerContextKey struct{}

// WithProcess returns a context whose reads and writes belong to a process. The id may be that of an instance, a part
// or a delegate of the process. With an empty id they belong to no process, and are encrypted with the store's own key.
func WithProcess(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, ownerContextKey{}, RootProcessID(id))
}

// RootProcessID returns the root process of an instance, a part or a delegate.
func RootProcessID(id string) string {
	root, _, _ := strings.Cut(id, "/")
	return root
}

func ownerFromContext(ctx context.Context) string {
	owner, _ := ctx.Value(ownerContextKey{}).(string)
	return owner
}

// dataKey returns the data key of the context's process; nil if there is no such key, or no process.
func (s *Store) dataKey(ctx context.Context) (*encryption.Key, error) {
	return s.dataKeyOf(ctx, ownerFromContext(ctx))
}

func (s *Store) dataKeyOf(ctx context.Context, owner string) (*encryption.Key, error) {
	if s.keys == nil || owner == "" {
		return nil, nil
	}
	if cachedKey, ok := s.dataKeys.Get(owner); ok {
		return cachedKey, nil
	}
	wrappedKey, err := s.bucket.ReadAll(ctx, dataKeyName(owner))
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	if err == nil && string(wrappedKey) == destroyedKeyText {
		err = ErrForgotten
	}
	var openedKey *encryption.Key
	if newOwnerLine, isMoved := bytes.CutPrefix(wrappedKey, []byte(movedKeyPrefix)); isMoved && err == nil {
		openedKey, err = s.dataKeyOf(ctx, string(bytes.TrimSuffix(newOwnerLine, []byte("\n"))))
	} else if err == nil {
		openedKey, err = s.keys.OpenDataKey(owner, wrappedKey)
	}
	if errors.Is(err, encryption.ErrAltered) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	if err == nil && openedKey == nil {
		err = ErrMissing // the key that replaced it is gone
	}
	if err != nil {
		return nil, &DataKeyError{owner, dataKeyName(owner), err}
	}
	s.dataKeys.Add(owner, openedKey)
	return openedKey, nil
}

// ensureDataKey returns the data key of the context's process, and creates it if there is none. If several programs
// create one at the same time, all use the key of the program that succeeds.
func (s *Store) ensureDataKey(ctx context.Context) (*encryption.Key, error) {
	owner := ownerFromContext(ctx)
	existingKey, err := s.dataKeyOf(ctx, owner)
	if existingKey != nil || err != nil || s.keys == nil || owner == "" {
		return existingKey, err
	}
	wrappedKey, err := s.keys.NewDataKey(owner)
	if err == nil {
		err = s.createObjectIfAbsent(ctx, dataKeyName(owner), wrappedKey)
	}
	if err != nil {
		return nil, fmt.Errorf("make data key of %s: %w", owner, err)
	}
	return s.dataKeyOf(ctx, owner)
}

// createObjectIfAbsent writes an object unless it exists.
func (s *Store) createObjectIfAbsent(ctx context.Context, name string, data []byte) error {
	if err := s.ensureIDFile(ctx); err != nil {
		return err
	}
	return s.createIfAbsentUnchecked(ctx, name, data)
}

// createIfAbsentUnchecked is createObjectIfAbsent without the check that the store is there.
func (s *Store) createIfAbsentUnchecked(ctx context.Context, name string, data []byte) error {
	if s.folder != "" {
		return createFileIfAbsent(filepath.Join(s.folder, filepath.FromSlash(name)), data)
	}
	err := s.bucket.WriteAll(ctx, name, data, &blob.WriterOptions{IfNotExist: true})
	if err == nil || gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return nil
	}
	return s.bucket.WriteAll(ctx, name, data, nil) // some servers know no conditions
}

func dataKeyName(owner string) string { return dataKeyFolder + url.PathEscape(owner) }

func valuesFolder(owner string) string { return processFolder + url.PathEscape(owner) + "/" }

// ListDataKeyOwners lists the processes that have a data key, or had one that was destroyed.
func (s *Store) ListDataKeyOwners(ctx context.Context) (owners []ObjectInfo, err error) {
	return s.dataKeyOwnersWithPrefix(ctx, "")
}

func (s *Store) dataKeyOwnersWithPrefix(ctx context.Context, prefix string) (owners []ObjectInfo, err error) {
	items, err := s.ListUnder(ctx, dataKeyFolder+prefix)
	for _, i := range items {
		if owner, err := url.PathUnescape(strings.TrimPrefix(i.Name, dataKeyFolder)); err == nil {
			i.Name = owner
			owners = append(owners, i)
		}
	}
	return owners, err
}

// ListOwnedValues lists the values of a process that are encrypted with its data key.
func (s *Store) ListOwnedValues(ctx context.Context, owner string) ([]ObjectInfo, error) {
	return s.ListUnder(ctx, valuesFolder(owner))
}

// Forget destroys the data key of a process, and removes what was encrypted with it. Nothing can be written for the
// process any more. After an interruption, calling Forget again completes it.
func (s *Store) Forget(ctx context.Context, processID string) error {
	owners, err := s.dataKeyOwnersOf(ctx, processID)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if err := s.retireKeyAndValues(ctx, owner, destroyedKeyText); err != nil {
			return err
		}
	}
	return nil
}

// retireKeyAndValues destroys a data key, and removes what was encrypted with it.
func (s *Store) retireKeyAndValues(ctx context.Context, owner, replacementText string) error {
	if s.keys != nil {
		if err := s.overwriteObject(ctx, dataKeyName(owner), replacementText); err != nil {
			return fmt.Errorf("blobs: destroy the data key of %s: %w", owner, err)
		}
	}
	s.dataKeys.Remove(owner)
	items, err := s.ListOwnedValues(ctx, owner)
	for _, i := range items {
		if err == nil {
			err = s.Remove(ctx, i.Name)
		}
	}
	return err
}

// RemoveDataKey removes the data key, or what replaced it, of a process of which nothing else is left.
func (s *Store) RemoveDataKey(ctx context.Context, owner string) error {
	s.dataKeys.Remove(owner)
	return s.Remove(ctx, dataKeyName(owner))
}

// overwriteObject replaces an object by a text. In a folder it first zeroes the bytes of the file.
func (s *Store) overwriteObject(ctx context.Context, name, text string) error {
	if s.folder != "" {
		if err := overwriteWithZeros(filepath.Join(s.folder, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return s.writeNotingFailure(ctx, name, []byte(text))
}

// overwriteWithZeros zeroes the bytes of a file, if there is one.
func overwriteWithZeros(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(bytes.Repeat([]byte{0}, int(info.Size())))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// IsOwnedByProcess reports whether the name is that of a value that a process's data key encrypts.
func IsOwnedByProcess(name string) bool { return strings.HasPrefix(name, processFolder) }
