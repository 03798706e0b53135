package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
)

// person is whoever sits at the terminal: asked about each Call that waits, one after the other, while the process goes
// on.
type person struct {
	*session
	id      string
	out     io.Writer
	lines   <-chan string
	taken   chan<- struct{} // says that a line is dealt with: until then the terminal is the editor's
	current *protocol.Approval
	over    map[occasion]bool                            // what was skipped, or decided on: the process may not know it yet
	then    func(ctx context.Context, line string) error // what the next line answers; nil: the question itself
}

// occasion is one asking for a decision. Parameters that are amended to what they were make another one.
type occasion struct {
	digest string
	since  int64 // nanoseconds of the epoch
}

func occasionOf(w protocol.Approval) occasion { return occasion{w.Digest, w.Since.UnixNano()} }

// newPerson gives nil where nobody sits at a terminal.
func (a *app) newPerson(s *session, id string) *person {
	in, isFile := a.in.(*os.File)
	if !isFile || !term.IsTerminal(int(in.Fd())) || terminalWidth(a.err) == nil {
		return nil
	}
	lines, taken := make(chan string), make(chan struct{}, 1)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); <-taken {
			lines <- scanner.Text()
		}
	}()
	return &person{session: s, id: id, out: a.err, lines: lines, taken: taken, over: map[occasion]bool{}}
}

// heard is the channel of what is typed; nil, from which nothing ever comes, where nobody sits there.
func (p *person) heard() <-chan string {
	if p == nil {
		return nil
	}
	return p.lines
}

// busy says whether a question stands on the terminal, so that nothing else may be drawn.
func (p *person) busy() bool { return p != nil && p.current != nil }

const question = "  run it? [y]es, [n]o, [e]dit, [s]kip: "

// offer puts the next question, where something waits, and takes one back that somebody else has answered.
func (p *person) offer(ctx context.Context, view protocol.ProcessView, clear func()) {
	if p == nil || view.Awaiting == 0 && p.current == nil {
		return
	}
	waiting, err := p.pending(ctx, p.id)
	if err != nil {
		return // the follower says what is wrong
	}
	if p.current != nil {
		for _, w := range waiting {
			if occasionOf(w) == occasionOf(*p.current) {
				return
			}
		}
		say(p.out, "\n  it was decided on elsewhere\n")
		p.current, p.then = nil, nil
	}
	for _, w := range waiting {
		if !p.over[occasionOf(w)] {
			p.current = &w
			clear()
			say(p.out, approvalText(w)+question)
			return
		}
	}
}

// answer takes a line that was typed.
func (p *person) answer(ctx context.Context, line string) error {
	defer func() { p.taken <- struct{}{} }()
	if p.current == nil {
		return nil
	}
	if then := p.then; then != nil {
		p.then = nil
		return then(ctx, line)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return p.decideNow(ctx, ideafile.Approve, nil)
	case "n", "no":
		say(p.out, "  why not? ")
		p.then = func(ctx context.Context, reason string) error {
			return p.decideNow(ctx, ideafile.Reject, map[string]any{"reason": reason})
		}
	case "e", "edit":
		return p.edit(ctx)
	case "s", "skip":
		p.leave()
	default:
		say(p.out, question)
	}
	return nil
}

// edit has the parameters changed: in the editor that the environment names, else on a line.
func (p *person) edit(ctx context.Context) error {
	before := indent(p.current.Params)
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		say(p.out, "  the parameters to run with, as JSON on a line: ")
		p.then = p.amend
		return nil
	}
	text, err := runEditor(ctx, editor, before)
	if err != nil {
		return p.complain(err.Error())
	}
	return p.amend(ctx, text)
}

func (p *person) amend(ctx context.Context, text string) error {
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		return p.complain(err.Error())
	}
	return p.decideNow(ctx, ideafile.Amend, map[string]any{"params": v})
}

func runEditor(ctx context.Context, editor, text string) (string, error) {
	f, err := os.CreateTemp("", "params-*.json")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text + "\n")
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", f.Name())
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return "", err
	}
	changed, err := os.ReadFile(f.Name())
	return string(changed), err
}

// complain says what is wrong and asks again.
func (p *person) complain(what string) error {
	say(p.out, "  "+printable(what)+"\n"+question)
	return nil
}

// leave is done with the question that stands.
func (p *person) leave() {
	p.over[occasionOf(*p.current)] = true
	p.current = nil
}

// decideNow sends the decision on what was shown, and on nothing else.
func (p *person) decideNow(ctx context.Context, kind string, more map[string]any) error {
	payload := map[string]any{"call": p.current.Call, "digest": p.current.Digest, "by": whoami()}
	for k, v := range more {
		payload[k] = v
	}
	if _, err := turn.ReadDecision(kind, payload); err != nil {
		return p.complain(err.Error())
	}
	why, err := p.decide(ctx, p.id, kind, payload)
	if err != nil {
		return err
	}
	if why != "" {
		return p.complain("refused: " + why)
	}
	p.leave()
	return nil
}
