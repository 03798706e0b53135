package mcptool_test

import (
	"context"
	"os"
	"testing"
	"time"

	"processidea/internal/safego/safegotest"
	"processidea/model/ideafile"
	"processidea/tools/mcptool"
	"processidea/tools/mcptool/mcptest"
)

// These tests are not parallel: every goroutine of the program sees the fault.

func TestAPanicWhileAServerAsksFailsTheCallAlone(t *testing.T) {
	safegotest.Panic(t, "mcp.receive")
	old, host := served(t, mcptest.Handler(mcptest.New("Adds.", nil))) // it asks in the middle of a call
	h := hub(t, os.Args[0]+" *", host, nil)
	if _, err := callOf(t, h, old, "book", `{}`); err == nil || err.Code == ideafile.CodeMCPInputRequired {
		t.Errorf("%v", err)
	}
	if v, err := callOf(t, h, program(), "add", `{"a": 1, "b": 2}`); err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

func TestAPanicWhileAServerIsHungUpOnIsLoggedAndTheCallEndsInItsTime(t *testing.T) {
	panicked := safegotest.Panic(t, "mcp.broken")
	s, host := served(t, endless("initialize"))
	h := hub(t, os.Args[0]+" *", host, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-panicked
		cancel()
	}()
	if _, err := h.ListTools(ctx, s); err == nil {
		t.Error("it answers")
	}
	if v, err := callOf(t, h, program(), "add", `{"a": 1, "b": 2}`); err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

func TestAPanicWhileAnIdleSessionIsClosedIsLogged(t *testing.T) {
	panicked := safegotest.Panic(t, "mcp.idle")
	h := mcptool.New(mcptool.Options{AllowedCommands: os.Args[0] + " *", IdleTimeout: time.Millisecond})
	t.Cleanup(h.Close)
	for range 2 {
		if _, err := callOf(t, h, program(), "add", `{"a": 1, "b": 2}`); err != nil {
			t.Error(err)
		}
		<-panicked
	}
}

func TestAPanicWhileAProgramWritesOnStandardErrorIsLoggedAndTheProgramAnswers(t *testing.T) {
	panicked := safegotest.Panic(t, "mcp.stderr")
	h := hub(t, os.Args[0]+" *", "", nil)
	if v, err := callOf(t, h, program(), "add", `{"a": 1, "b": 2}`); err != nil {
		t.Errorf("%v, %v", v, err)
	}
	<-panicked
}
