package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"processidea/client/ideafiles"
	"processidea/internal/rehearsal"
	"processidea/starter/internal/exit"
)

// RepliesRecording records what the LLM says to one process as a replies file, in the order in which it was asked. Its
// RecordReply goes into Hosting.ReplyRecorder.
type RepliesRecording struct {
	Path        string
	mu          sync.Mutex
	process     string
	recorder    *rehearsal.Recorder
	file        *tapeFile
	beforeStart []func() // replies that came before Start said which process is recorded
	err         error
}

// RecordReply takes the end of a Request. It is called by the worker, for every process that it serves.
func (t *RepliesRecording) RecordReply(process string, asked int, content, finishReason, refusal string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	write := func() {
		if t.err == nil && process == t.process {
			t.file.asked = asked
			t.err = t.recorder.Record(content, finishReason, refusal)
		}
	}
	if t.recorder == nil {
		t.beforeStart = append(t.beforeStart, write)
		return
	}
	write()
}

// Start begins the recording of a process. goesOn appends to the file; else it is made anew.
func (t *RepliesRecording) Start(process string, goesOn bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if goesOn {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	file, err := os.OpenFile(t.Path, mode, 0o600)
	if err != nil {
		return exit.Usagef("record %s: %w", t.Path, ideafiles.WithoutPath(err))
	}
	t.file = &tapeFile{File: file}
	if info, err := file.Stat(); err == nil {
		t.file.begin = info.Size()
	}
	t.process, t.recorder = process, rehearsal.NewRecorder(t.file)
	for _, write := range t.beforeStart {
		write()
	}
	t.beforeStart = nil
	return nil
}

// Stop ends the recording, where there is one.
func (t *RepliesRecording) Stop() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return nil
	}
	err := t.file.closeInOrder()
	if t.err != nil {
		err = t.err
	}
	if err != nil {
		return fmt.Errorf("record %s: %w", t.Path, err)
	}
	return nil
}

// tapeFile is the file of a recording. Each Write is a line, which is there at once, and stands in its place once the
// file is closed.
type tapeFile struct {
	*os.File
	begin int64 // where the recording begins in it
	asked int   // of the line that is written
	lines []tapeLine
}

type tapeLine struct {
	asked int
	text  []byte
}

func (f *tapeFile) Write(line []byte) (int, error) {
	f.lines = append(f.lines, tapeLine{f.asked, bytes.Clone(line)})
	return f.File.Write(line)
}

func (f *tapeFile) closeInOrder() (err error) {
	byAsked := func(a, b tapeLine) int { return cmp.Compare(a.asked, b.asked) }
	if !slices.IsSortedFunc(f.lines, byAsked) {
		slices.SortStableFunc(f.lines, byAsked)
		if err = f.Truncate(f.begin); err == nil {
			_, err = f.Seek(f.begin, io.SeekStart)
		}
		for _, l := range f.lines {
			if err == nil {
				_, err = f.File.Write(l.text)
			}
		}
	}
	return errors.Join(err, f.Close())
}
