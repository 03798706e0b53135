package terminal

import (
	"io"
	"time"

	"processidea/client"
	"processidea/starter/internal/print"
)

// Progress writes the status of a process whenever it changes: on a terminal in place, elsewhere on a line of its own.
type Progress struct {
	out                 io.Writer
	processID           string
	widthFunc           func() int // columns of the terminal; nil elsewhere
	lastText            string
	lastFailure         string        // the failure that was last shown
	noAnswerSince       time.Time     // since when the process could not be queried; zero while it can
	noAnswerGracePeriod time.Duration // how long that may last before it is shown
}

// workerGracePeriod is what a worker may need before it answers.
const workerGracePeriod = 5 * time.Second

// NewProgress shows the progress of a process on a writer.
func NewProgress(out io.Writer, processID string) *Progress {
	return &Progress{out: out, processID: processID, widthFunc: terminalWidth(out),
		noAnswerGracePeriod: workerGracePeriod}
}

// terminalWidth returns a function that reads the terminal's width in characters; nil if the writer is not a terminal.
func terminalWidth(w io.Writer) func() int {
	if print.TerminalWidth(w) == 0 {
		return nil
	}
	return func() int { return print.TerminalWidth(w) }
}

// Show shows an event. It reports a process that cannot be queried only after some time.
func (p *Progress) Show(e client.Event) {
	if e.Kind == client.EventStatus {
		p.noAnswerSince = time.Time{}
		p.draw(p.statusText(e.Status))
		return
	}
	if p.noAnswerSince.IsZero() {
		p.noAnswerSince = time.Now()
	}
	if time.Since(p.noAnswerSince) >= p.noAnswerGracePeriod {
		p.draw(e.Err.Error())
	}
}

// statusText describes a process's status. Off a terminal, a failure appears once for as long as it stays the same.
func (p *Progress) statusText(v client.Status) string {
	text, failure := print.StatusText(v), print.MostFrequentFailureText(v)
	isAlreadyShown := failure == p.lastFailure && p.widthFunc == nil
	p.lastFailure = failure
	if failure == "" || isAlreadyShown {
		return text
	}
	return text + " · " + failure
}

func (p *Progress) draw(text string) {
	text = print.OneLine(p.processID + ": " + text)
	if text == p.lastText {
		return
	}
	p.lastText = text
	if p.widthFunc == nil {
		write(p.out, text+"\n")
		return
	}
	write(p.out, "\r\x1b[K"+print.FitWidth(text, p.widthFunc()-1))
}

// Clear erases the line, so that something else can be written.
func (p *Progress) Clear() {
	if p.widthFunc != nil && p.lastText != "" {
		write(p.out, "\r\x1b[K")
	}
	p.lastText = ""
}

// write writes to standard error. It ignores errors: if standard error is closed, nobody can be told.
func write(w io.Writer, text string) { _, _ = io.WriteString(w, text) }
