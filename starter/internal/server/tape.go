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

// RepliesRecording records the LLM's replies to one process as a replies file, in the order in which the LLM was asked.
// Its RecordReply goes into HostOptions.ReplyRecorder.
type RepliesRecording struct {
	Path          string
	mu            sync.Mutex
	processID     string
	recorder      *rehearsal.Recorder
	file          *recordingFile
	pendingWrites []func() // called by Start: each writes a reply that came before Start
	recordErr     error
}

// RecordReply records the reply to a Request. The worker calls it for every process that it serves.
func (t *RepliesRecording) RecordReply(processID string, requestPosition int, content, finishReason, refusal string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	writeReply := func() {
		if t.recordErr == nil && processID == t.processID {
			t.file.nextRequestPosition = requestPosition
			t.recordErr = t.recorder.Record(content, finishReason, refusal)
		}
	}
	if t.recorder == nil {
		t.pendingWrites = append(t.pendingWrites, writeReply)
		return
	}
	writeReply()
}

// Start begins the recording of a process. If appends is set, it appends to the file; otherwise it truncates the file.
func (t *RepliesRecording) Start(processID string, shouldAppend bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	openFlags := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if shouldAppend {
		openFlags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	file, err := os.OpenFile(t.Path, openFlags, 0o600)
	if err != nil {
		return exit.Usagef("record %s: %w", t.Path, ideafiles.WithoutPath(err))
	}
	t.file = &recordingFile{File: file}
	if info, err := file.Stat(); err == nil {
		t.file.startOffset = info.Size()
	}
	t.processID, t.recorder = processID, rehearsal.NewRecorder(t.file)
	for _, write := range t.pendingWrites {
		write()
	}
	t.pendingWrites = nil
	return nil
}

// Stop ends the recording. It does nothing on nil.
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
	if t.recordErr != nil {
		err = t.recordErr
	}
	if err != nil {
		return fmt.Errorf("record %s: %w", t.Path, err)
	}
	return nil
}

// recordingFile is the file of a recording. Each Write is one line, which is written at once. Closing the file puts the
// lines into the order in which the LLM was asked.
type recordingFile struct {
	*os.File
	startOffset         int64 // the offset in the file at which the recording begins
	nextRequestPosition int   // the place in that order of the next line
	lines               []recordedLine
}

type recordedLine struct {
	requestPosition int
	text            []byte
}

func (f *recordingFile) Write(line []byte) (int, error) {
	f.lines = append(f.lines, recordedLine{f.nextRequestPosition, bytes.Clone(line)})
	return f.File.Write(line)
}

func (f *recordingFile) closeInOrder() (err error) {
	byRequestPosition := func(a, b recordedLine) int { return cmp.Compare(a.requestPosition, b.requestPosition) }
	if !slices.IsSortedFunc(f.lines, byRequestPosition) {
		slices.SortStableFunc(f.lines, byRequestPosition)
		if err = f.Truncate(f.startOffset); err == nil {
			_, err = f.Seek(f.startOffset, io.SeekStart)
		}
		for _, l := range f.lines {
			if err == nil {
				_, err = f.File.Write(l.text)
			}
		}
	}
	return errors.Join(err, f.Close())
}
