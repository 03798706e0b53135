package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

// progress says on standard error where a process stands, when that has changed: on one line in place at a terminal, on
// a line each elsewhere.
type progress struct {
	out    io.Writer
	id     string
	width  func() int // columns of the terminal; nil elsewhere
	last   string
	unseen time.Time     // since when nothing could be seen; zero while something can
	grace  time.Duration // how long that may last before it is said
}

// workersGrace is what a worker may need before it answers.
const workersGrace = 5 * time.Second

func (a *app) newProgress(id string) *progress {
	return &progress{out: a.err, id: id, width: terminalWidth(a.err), grace: workersGrace}
}

// terminalWidth gives what asks for a terminal's width; nil where the writer is none.
func terminalWidth(w io.Writer) func() int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width < 20 {
			return 80
		}
		return width
	}
}

func (p *progress) show(v sight) {
	if v.err == nil {
		p.unseen = time.Time{}
		p.draw(describe(v.view))
		return
	}
	if p.unseen.IsZero() {
		p.unseen = time.Now()
	}
	if time.Since(p.unseen) < p.grace {
		return
	}
	if v.down != nil {
		p.draw("the server does not answer: " + v.down.Error())
		return
	}
	p.draw("no worker answers on task queue " + protocol.TaskQueue + ": " + v.err.Error())
}

func (p *progress) draw(text string) {
	text = printable(p.id + ": " + lineBreaks.ReplaceAllString(text, " "))
	if text == p.last {
		return
	}
	p.last = text
	if p.width == nil {
		say(p.out, text+"\n")
		return
	}
	say(p.out, "\r\x1b[K"+clip(text, p.width()-1))
}

// clear takes the line away, so that something else can be written.
func (p *progress) clear() {
	if p.width != nil && p.last != "" {
		say(p.out, "\r\x1b[K")
	}
	p.last = ""
}

// describe puts a view into one line.
func describe(v protocol.ProcessView) string {
	parts := []string{string(v.Status)}
	for _, w := range v.Waiting {
		if !strings.HasPrefix(w, protocol.WaitingForPerson) {
			parts = append(parts, w)
		}
	}
	if v.Awaiting > 0 {
		parts = append(parts, "waits for "+plural(v.Awaiting, "decision")+" (starter approvals "+quote(v.Process)+")")
	}
	if len(v.Instances) > 1 {
		parts = append(parts, tally(v.Result))
	}
	if calls := counts(v.Calls); calls != "" {
		parts = append(parts, "calls: "+calls)
	}
	return strings.Join(parts, " · ")
}

// tally counts the instances by status.
func tally(r loop.Result) string {
	n := map[ideafile.InstanceStatus]int{}
	for _, i := range r.Instances {
		n[i.Status]++
	}
	var parts []string
	for _, s := range []ideafile.InstanceStatus{ideafile.InstanceWorking, ideafile.InstanceWaiting, ideafile.InstanceSettled, ideafile.InstanceFailed} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

// counts lists what became of Calls; what there is none of is left out.
func counts(c turn.CallCounts) string {
	var parts []string
	for _, e := range []struct {
		n    int
		what string
	}{{c.Done, "done"}, {c.Failed, "failed"}, {c.Rejected, "rejected"}, {c.Skipped, "skipped"}, {c.Blocked, "blocked"}} {
		if e.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", e.n, e.what))
		}
	}
	return strings.Join(parts, ", ")
}
