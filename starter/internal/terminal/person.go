package terminal

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"

	"processidea/client"
	"processidea/internal/safego"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/starter/internal/print"
)

// Person is the user at the terminal. While the process runs, the user is asked about each waiting Call, one after the
// other.
type Person struct {
	Process *client.Process // at the server in use
	Name    string          // the name under which decisions are sent
	Key     client.Signer   // signs the decisions; nil: they are only declared, under By
	Groups  []string        // the groups declared with By

	out          io.Writer
	inputLines   <-chan string
	inputError   error            // why nothing more is read, once inputLines is closed; nil: nothing more is typed
	lineHandled  chan<- struct{}  // frees the reader after a line; until then an editor may have the terminal
	openApproval *client.Approval // the open question, or nil
	isHandled    map[approvalKey]bool
	onNextLine   func(ctx context.Context, line string) error // handles the next line; nil: it answers the question
}

// approvalKey identifies one request for a decision that was skipped or decided here; the process may not know that
// yet. The time is part of the key: amending parameters back to an earlier value makes a new request with the same
// digest.
type approvalKey struct {
	digest        string
	sinceUnixNano int64 // nanoseconds of the epoch
}

func approvalKeyOf(w client.Approval) approvalKey { return approvalKey{w.Digest, w.Since.UnixNano()} }

// NewPerson makes a Person of the user who types at in and reads out. It returns nil if they are not terminals.
func NewPerson(in io.Reader, out io.Writer, p *client.Process, name string, groups []string) *Person {
	stdin, isFile := in.(*os.File)
	if !isFile || !term.IsTerminal(int(stdin.Fd())) || terminalWidth(out) == nil {
		return nil
	}
	lines, lineHandled := make(chan string), make(chan struct{}, 1)
	person := &Person{Process: p, Name: name, Groups: groups, out: out, inputLines: lines, lineHandled: lineHandled,
		isHandled: map[approvalKey]bool{}}
	safego.Go("starter.person", func() error {
		scanner := bufio.NewScanner(stdin)
		for ; scanner.Scan(); <-lineHandled {
			lines <- scanner.Text()
		}
		return scanner.Err()
	}, func(err error) {
		person.inputError = err
		close(lines)
	})
	return person
}

// typedLines is the channel of typed lines. Without a Person it is nil, which never delivers.
func (p *Person) typedLines() <-chan string {
	if p == nil {
		return nil
	}
	return p.inputLines
}

// isAsking reports whether a question is open on the terminal, so that nothing else may be drawn.
func (p *Person) isAsking() bool { return p != nil && p.openApproval != nil }

const runQuestion = "  run it? [y]es, [n]o, [e]dit, [s]kip: "

// askNext asks the next question if something waits, and withdraws a question that somebody else has answered.
func (p *Person) askNext(ctx context.Context, status client.Status, clearProgress func()) {
	if p == nil || (status.PendingDecisionCount == 0 && p.openApproval == nil) {
		return
	}
	pendingApprovals, err := p.Process.Approvals(ctx)
	if err != nil {
		return // the follower reports the error
	}
	if p.openApproval != nil {
		for _, w := range pendingApprovals {
			if approvalKeyOf(w) == approvalKeyOf(*p.openApproval) {
				return
			}
		}
		write(p.out, "\n  somebody else has decided on it\n")
		p.openApproval, p.onNextLine = nil, nil
	}
	for _, w := range pendingApprovals {
		if !p.isHandled[approvalKeyOf(w)] {
			p.openApproval = &w
			clearProgress()
			write(p.out, print.ApprovalText(w)+runQuestion)
			return
		}
	}
}

// handleTypedLine handles a typed line.
func (p *Person) handleTypedLine(ctx context.Context, line string) error {
	defer func() { p.lineHandled <- struct{}{} }()
	if p.openApproval == nil {
		return nil
	}
	if handle := p.onNextLine; handle != nil {
		p.onNextLine = nil
		return handle(ctx, line)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return p.decideNow(ctx, client.Decision{Kind: client.Approve})
	case "n", "no":
		write(p.out, "  why not? ")
		p.onNextLine = func(ctx context.Context, reason string) error {
			return p.decideNow(ctx, client.Decision{Kind: client.Reject, Reason: reason})
		}
	case "e", "edit":
		return p.edit(ctx)
	case "s", "skip":
		p.closeQuestion()
	default:
		write(p.out, runQuestion)
	}
	return nil
}

// edit lets the person change the parameters in $VISUAL or $EDITOR. Without either it reads them as JSON from the next
// line.
func (p *Person) edit(ctx context.Context) error {
	original := print.IndentJSON(p.openApproval.Params)
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if editor == "" {
		write(p.out, "  the parameters to run with, as JSON on a line: ")
		p.onNextLine = p.amend
		return nil
	}
	text, err := runEditor(ctx, editor, original)
	if err != nil {
		return p.showError(err.Error())
	}
	return p.amend(ctx, text)
}

func (p *Person) amend(ctx context.Context, editedJSON string) error {
	v, err := jsonval.Decode([]byte(editedJSON))
	if err != nil {
		return p.showError(err.Error())
	}
	if editedParams, ok := v.(jsonval.Object); ok {
		v = approval.DiffObjects(p.openApproval.Params, editedParams)
	}
	return p.decideNow(ctx, client.Decision{Kind: client.Amend, Value: v})
}

func runEditor(ctx context.Context, editor, text string) (string, error) {
	f, err := os.CreateTemp("", "params-*.json")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text + "\n")
	if err = cmp.Or(err, f.Close()); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", f.Name())
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return "", err
	}
	editedText, err := os.ReadFile(f.Name())
	return string(editedText), err
}

// showError says what is wrong and asks again.
func (p *Person) showError(message string) error {
	write(p.out, "  "+print.Printable(message)+"\n"+runQuestion)
	return nil
}

// closeQuestion closes the current question, so that it is not asked again.
func (p *Person) closeQuestion() {
	p.isHandled[approvalKeyOf(*p.openApproval)] = true
	p.openApproval = nil
}

// decideNow sends the decision on exactly what was shown.
func (p *Person) decideNow(ctx context.Context, d client.Decision) error {
	d.CallID, d.ApprovalDigest, d.By, d.Groups = p.openApproval.CallID, p.openApproval.Digest, p.Name, p.Groups
	if d.Key = p.Key; d.Key != nil {
		d.By, d.Groups = "", nil // the key says who decides
	}
	if err := d.Validate(); err != nil {
		return p.showError(err.Error())
	}
	votes, err := p.Process.DecideAndCountVotes(ctx, d)
	var refused *client.RefusedError
	if errors.As(err, &refused) {
		return p.showError("refused: " + refused.Reason)
	}
	if err == nil {
		if votes.Have < votes.Want {
			write(p.out, fmt.Sprintf("  taken, %d of %d\n", votes.Have, votes.Want))
		}
		p.closeQuestion()
	}
	return err
}
