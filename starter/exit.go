package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.temporal.io/api/serviceerror"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
)

// The program's exit codes.
const (
	exitDone        = 0
	exitFailed      = 1   // the process failed or was cancelled
	exitUsage       = 2   // bad usage, or an invalid file
	exitPaused      = 3   // it is paused, or waits for a person
	exitUnreachable = 4   // the server or the LLM cannot be reached
	exitInterrupted = 130 // as shells have it for SIGINT
)

// exit is an error that says with which code the program ends. Without a cause everything has been said already.
type exit struct {
	code  int
	cause error
}

func (e *exit) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.cause.Error()
}

func (e *exit) Unwrap() error { return e.cause }

// misuse is an error in how the program was called, or in what it was given.
func misuse(format string, args ...any) error { return &exit{exitUsage, fmt.Errorf(format, args...)} }

// noServer is an error of a server that cannot be reached.
func noServer(format string, args ...any) error {
	return &exit{exitUnreachable, fmt.Errorf(format, args...)}
}

// invalid is all that is wrong with a file.
type invalid struct {
	file     string
	problems diag.Problems
}

func (i *invalid) Error() string { return fmt.Sprintf("check %s: %s", i.file, i.problems.Error()) }

// exitCode says on standard error what went wrong, a line for each thing, and gives the code for it.
func (a *app) exitCode(err error) int {
	var e *exit
	var bad *invalid
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled): // nothing but a signal cancels
		return exitInterrupted
	case errors.As(err, &bad):
		a.complain(bad.file, bad.problems)
		return exitUsage
	case errors.As(err, &e):
		if e.cause != nil {
			a.note("%s", err)
		}
		return e.code
	}
	a.note("%s", err)
	switch {
	case !a.began:
		return exitUsage
	case unreachable(err):
		return exitUnreachable
	}
	return exitFailed
}

// complain lists problems, warnings among them.
func (a *app) complain(file string, ps diag.Problems) {
	for _, p := range ps {
		kind := ""
		if p.Warning {
			kind = "warning: "
		}
		a.note("check %s: %s%s", file, kind, p)
	}
}

var (
	lineBreaks    = regexp.MustCompile(`\s*\n\s*`)
	packagePrefix = regexp.MustCompile(`^(activities|blobs|chain|codecserver|devserver|encryption|engine|model|rehearsal): `)
)

// note writes one line to standard error: the program's name stands for the package's, and no cause breaks the line.
func (a *app) note(format string, args ...any) {
	text := lineBreaks.ReplaceAllString(fmt.Sprintf(format, args...), " ")
	say(a.err, "starter: "+packagePrefix.ReplaceAllString(printable(text), "")+"\n")
}

// say writes to standard error. Where that is gone, nobody is left to be told.
func say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

// unreachable says whether an error is of a server that does not answer.
func unreachable(err error) bool {
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	return errors.As(err, &unavailable) || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded)
}

// codeOf is the exit code for a process that stands as r says.
func codeOf(r loop.Result) int {
	switch r.Status {
	case loop.StatusCompleted:
		return exitDone
	case loop.StatusPaused:
		if r.Error != nil && r.Error.Code == turn.CodeLLMUnreachable {
			return exitUnreachable
		}
		return exitPaused
	case loop.StatusRunning:
		for _, i := range r.Instances {
			if i.Status == ideafile.InstanceWaiting {
				return exitPaused
			}
		}
		return exitDone
	}
	return exitFailed
}
