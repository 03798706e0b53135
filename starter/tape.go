package main

import (
	"fmt"
	"os"
	"sync"

	"processidea/rehearsal"
)

// tape records what the LLM said to one process as a replies file.
type tape struct {
	path     string
	mu       sync.Mutex
	process  string
	recorder *rehearsal.Recorder
	file     *os.File
	early    []func() // what was said before it was known to which process the tape belongs
	err      error
}

// heard takes the end of a Request. It is called by the worker, for every process that it serves.
func (t *tape) heard(process, content, finishReason, refusal string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	write := func() {
		if t.err == nil && process == t.process {
			t.err = t.recorder.Record(content, finishReason, refusal)
		}
	}
	if t.recorder == nil {
		t.early = append(t.early, write)
		return
	}
	write()
}

// start begins the recording of a process: a new file for a new process, a longer one for one that goes on.
func (t *tape) start(process string, goesOn bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if goesOn {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	var err error
	if t.file, err = os.OpenFile(t.path, mode, 0o600); err != nil {
		return misuse("record %s: %w", t.path, cause(err))
	}
	t.process, t.recorder = process, rehearsal.NewRecorder(t.file)
	for _, write := range t.early {
		write()
	}
	t.early = nil
	return nil
}

// stop ends the recording, where there is one.
func (t *tape) stop() error {
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
		return fmt.Errorf("record %s: %w", t.path, err)
	}
	return nil
}
