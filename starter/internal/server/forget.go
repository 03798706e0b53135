package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"

	"processidea/gateway/access"
	"processidea/store/blobs"
)

// ScrubForgottenProcess removes a process's deleted data from the files of the embedded server, and the lines of its
// log that name the process. areFilesReached is false for a server that does not use this folder: its files cannot be
// reached.
func (s *Session) ScrubForgottenProcess(ctx context.Context, processID string) (areFilesReached bool, err error) {
	if !s.IsEmbedded && !s.Place.isFolderServerAt(s.Place.RemoteTemporal.HostPort) {
		return false, nil
	}
	for _, name := range []string{logFileName, logFileName + ".old"} {
		if err := blankLogLines(filepath.Join(s.Place.DataFolder, name), processID); err != nil {
			return false, fmt.Errorf("remove %s from the log: %w", processID, err)
		}
	}
	return true, s.Place.TemporalHost.Scrub(ctx, s.Place.DataFolder, func(workflow string) bool {
		return blobs.RootProcessID(workflow) == processID
	})
}

// isFolderServerAt reports whether the server that runs on the folder answers at an address.
func (p Place) isFolderServerAt(address string) bool {
	info, ok := p.RunningServer()
	return ok && (info.Address == address || localPort(address) != "" && localPort(info.Address) == localPort(address))
}

// localPort returns the port of an address on this machine, or "" for an address elsewhere.
func localPort(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || !access.IsLoopback(host) {
		return ""
	}
	return port
}

// blankLogLines overwrites with spaces the lines of a log that name a process. The log keeps its length, because others
// are writing at its end.
func blankLogLines(logPath, processID string) error {
	data, err := os.ReadFile(logPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(logPath, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	pattern := regexp.MustCompile(`(^|[^A-Za-z0-9._-])` + regexp.QuoteMeta(processID) + `($|[^A-Za-z0-9._-])`)
	offset := int64(0)
	for line := range bytes.Lines(data) {
		if lineText := bytes.TrimSuffix(line, []byte("\n")); pattern.Match(lineText) && err == nil {
			_, err = f.WriteAt(bytes.Repeat([]byte(" "), len(lineText)), offset)
		}
		offset += int64(len(line))
	}
	return errors.Join(err, f.Sync(), f.Close())
}
