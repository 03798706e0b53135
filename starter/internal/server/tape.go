package server

import (
	"fmt"
	"os"
	"sync"

	"processidea/client/ideafiles"
	"processidea/internal/rehearsal"
	"processidea/starter/internal/exit"
)

// Tape records what the LLM says to one process as a replies file. Its RecordReply goes into Hosting.ReplyRecorder.
type Tape struct {
	Path        string
	mu          sync.Mutex
	process     string
	recorder    *rehearsal.Recorder
	file        *os.File
	beforeStart []func() // replies that came before Start said which process is recorded
	err         error
}

// RecordReply takes the end of a Request. It is called by the worker, for every process that it serves.
func (t *Tape) RecordReply(process, content, finishReason, refusal string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	write := func() {
		if t.err == nil && process == t.process {
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
func (t *Tape) Start(process string, goesOn bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if goesOn {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	var err error
	if t.file, err = os.OpenFile(t.Path, mode, 0o600); err != nil {
		return exit.Usagef("record %s: %w", t.Path, ideafiles.WithoutPath(err))
	}
	t.process, t.recorder = process, rehearsal.NewRecorder(t.file)
	for _, write := range t.beforeStart {
		write()
	}
	t.beforeStart = nil
	return nil
}

// Stop ends the recording, where there is one.
func (t *Tape) Stop() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	if t.err != nil {
		err = t.err
	}
	if err != nil {
		return fmt.Errorf("record %s: %w", t.Path, err)
	}
	return nil
}
