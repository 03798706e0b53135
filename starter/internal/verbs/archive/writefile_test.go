package archive

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A device, a pipe or a link in place of a file stays what it is: a root user's /dev/null would be gone otherwise.
func TestWhatIsNoFileIsWrittenToAndStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // else nobody could open it for writing
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, name := range []string{link, pipe, os.DevNull} {
		before, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		err = writeFile(name, func(w io.Writer) error { _, err := io.WriteString(w, "all of it"); return err })
		after, gone := os.Lstat(name)
		if err != nil || gone != nil || after.Mode() != before.Mode() {
			t.Errorf("%s is %v, was %v: %v, %v", name, after.Mode(), before.Mode(), err, gone)
		}
	}
	written := make([]byte, len("all of it"))
	if _, err := io.ReadFull(reader, written); err != nil || string(written) != "all of it" {
		t.Errorf("the pipe has %q, %v", written, err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "all of it" {
		t.Errorf("the file of the link has %q, %v", text, err)
	}
	if err := writeFile(dir, func(io.Writer) error { return nil }); err == nil {
		t.Error("a folder was written to")
	}
}
