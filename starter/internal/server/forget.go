package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Forget removes from the files of the embedded server what was deleted there of a process, and the lines of its log that name it.
func (s *Session) Forget(ctx context.Context, process string) error {
	if !s.Embedded {
		return nil
	}
	for _, name := range []string{logFile, logFile + ".old"} {
		if err := blank(filepath.Join(s.Place.Data, name), process); err != nil {
			return fmt.Errorf("remove %s from the log: %w", process, err)
		}
	}
	return s.Place.Temporal.Scrub(ctx, s.Place.Data)
}

// blank writes over the lines of a log that name a process. The log stays as long as it is: others are writing at its end.
func blank(path, process string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	names := regexp.MustCompile(`(^|[^A-Za-z0-9._-])` + regexp.QuoteMeta(process) + `($|[^A-Za-z0-9._-])`)
	at := int64(0)
	for line := range bytes.Lines(data) {
		if text := bytes.TrimSuffix(line, []byte("\n")); names.Match(text) && err == nil {
			_, err = f.WriteAt(bytes.Repeat([]byte(" "), len(text)), at)
		}
		at += int64(len(line))
	}
	return errors.Join(err, f.Sync(), f.Close())
}
