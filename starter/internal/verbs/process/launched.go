package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
	"processidea/starter/internal/terminal"
)

// launchedProcess is a process that was started or found running.
type launchedProcess struct {
	*app.App
	session    *server.Session
	process    *client.Process
	definition *ideafiles.Definition // nil once the process is followed
	options    launchOptions
	recording  *server.RepliesRecording // nil: nothing is recorded
}

func (l *launchedProcess) run(ctx context.Context) error {
	if err := l.start(ctx); err != nil {
		return err
	}
	l.noteWhatRuns()
	if err := l.resume(ctx); err != nil {
		return err
	}
	if l.options.isDetached {
		return l.printDetachedStatus(ctx)
	}
	naming := print.InstanceNamingOf(l.definition.ParsedIdea, client.LanguageOf(ctx))
	l.definition = nil // it may be large, and is not needed any more
	result, err := l.follow(ctx)
	if errors.Is(err, context.Canceled) {
		l.Note("%s stays as it is; to continue: %s", l.process.ID(), l.continueCommandLine())
	}
	if err != nil {
		return err
	}
	if result.Status == loop.StatusPaused {
		l.Note("%s is paused; once the cause is fixed, continue it with: %s --resume", l.process.ID(),
			l.continueCommandLine())
	}
	return l.PrintResult(result, naming)
}

// resume resumes a process that was found paused, if --resume was given.
func (l *launchedProcess) resume(ctx context.Context) error {
	if !l.options.resumeIfPaused || !l.process.IsAttached() {
		return nil
	}
	status, err := l.process.Status(ctx)
	if err != nil || status.Status != loop.StatusPaused {
		return err
	}
	return l.process.Resume(ctx, ideafile.Limits{}, client.Actor{Name: app.UserName()})
}

func (l *launchedProcess) start(ctx context.Context) (err error) {
	d := l.definition
	l.process, err = l.session.Start(ctx, client.StartOptions{
		ID: l.options.processID, Idea: d.Idea, ScriptedReplies: d.RepliesText, DelegateFiles: d.DelegateFiles,
		RunsSolution: l.options.runsSolution, ForkSourceID: l.options.forkSourceID,
		StartedBy: app.UserName(),
	})
	var claimed *client.ClaimedIDError
	switch {
	case errors.Is(err, client.ErrIDInUse):
		return exit.Usagef("run %s as %s: %w, or with other replies: choose another --id, or go on from one of its "+
			"Ideas with \"%s fork %[2]s --at K\"", d.Source.GivenPath, l.options.processID, client.ErrIDInUse,
			print.ProgramName)
	case errors.As(err, &claimed):
		return exit.Usagef(
			"run %s as %s: the store already has %s under this id, of a process that Temporal does not know; "+
				"choose another id, continue from one of them with \"%[6]s fork %[4]s --at %[5]d\", or remove them "+
				"with \"%[6]s gc\"",
			d.Source.GivenPath, claimed.ID, print.Plural(claimed.IdeaCount, "Idea"), print.ShellQuote(claimed.ID),
			claimed.IdeaCount,
			print.ProgramName)
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil || l.recording == nil:
		return err
	}
	return l.recording.Start(l.process.ID(), l.process.IsAttached())
}

// noteWhatRuns says what runs, and where it can be seen.
func (l *launchedProcess) noteWhatRuns() {
	verb := "run"
	if l.process.IsAttached() {
		verb = "attach to"
	}
	id := l.process.ID()
	if pageURL := l.session.ProcessUIAddress(id); pageURL != "" {
		l.Note("%s %s: see %s", verb, id, pageURL)
	} else {
		l.Note("%s %s", verb, id)
	}
	if l.session.GatewayURL != "" {
		l.Note("the desk and the HTTP API are at %s", l.session.GatewayURL)
	}
}

// printDetachedStatus prints the current status and waits for nothing. A new process has only its instances to show.
// For many instances at work, people get one line instead of a table.
func (l *launchedProcess) printDetachedStatus(ctx context.Context) error {
	tokens := l.definition.ParsedIdea.InstanceTokens()
	if l.process.IsAttached() {
		v, err := l.process.Status(ctx)
		if err != nil || v.Status != loop.StatusRunning || len(tokens) < 2 || l.WritesJSON {
			return printCurrentResult(ctx, l.App, l.process)
		}
	}
	if !l.WritesJSON {
		instanceCountText := ""
		if len(tokens) > 1 {
			instanceCountText = ", " + print.Plural(len(tokens), "instance")
		}
		return l.Print(fmt.Sprintf("%s: running%s; to follow it: %s watch %s\n", print.Printable(l.process.ID()),
			instanceCountText,
			print.ProgramName, print.ShellQuote(l.process.ID())))
	}
	result := loop.ProcessResult{ProcessID: l.process.ID(), Status: loop.StatusRunning,
		Instances: map[string]loop.InstanceResult{}}
	for _, token := range tokens {
		result.Instances[token] = loop.InstanceResult{Status: ideafile.InstanceWorking}
	}
	return l.PrintResult(result, print.InstanceNamingOf(l.definition.ParsedIdea, client.LanguageOf(ctx)))
}

// follow waits for the process. If the program that ran the server ends, the process goes on at the next server, which
// may run in this program.
func (l *launchedProcess) follow(ctx context.Context) (loop.ProcessResult, error) {
	var waitExpired <-chan time.Time
	if l.options.maxWait > 0 {
		waitExpired = time.After(l.options.maxWait)
	}
	person := terminal.NewPerson(l.In, l.Err, l.process, app.UserName(), app.GroupsOrDefault(l.options.deciderGroups))
	if person != nil {
		person.Key, _ = app.SigningKey("") // run has already checked the key
	}
	for {
		f := terminal.Follower{
			Session: l.session, Process: l.process, Progress: terminal.NewProgress(l.Err, l.process.ID()),
			WaitExpired: waitExpired, Person: person, LLMUnreachableTimeout: l.options.llmUnreachableTimeout,
		}
		result, err := f.Follow(ctx)
		if !errors.Is(err, terminal.ErrServerAbandoned) {
			return result, err
		}
		if err := l.reopenSession(ctx); err != nil {
			return result, err
		}
		if person != nil {
			person.Process = l.process
		}
		l.Note("the program that ran the server has ended; %s goes on here", l.process.ID())
	}
}

// reopenSession opens another session after the program that ran the server has ended.
func (l *launchedProcess) reopenSession(ctx context.Context) error {
	p := l.session.Place
	l.session.Close()
	s, err := p.OpenSession(ctx, l.options.hostOptions)
	if err != nil {
		return err
	}
	l.session, l.process = s, s.Process(l.process.ID())
	return nil
}

// continueCommandLine is the command that continues the process.
func (l *launchedProcess) continueCommandLine() string {
	commandWords := []string{print.ProgramName}
	for _, arg := range os.Args[1:] {
		if arg != "--resume" {
			commandWords = append(commandWords, print.ShellQuote(arg))
		}
	}
	line := strings.Join(commandWords, " ")
	if !strings.Contains(line, "--id") {
		line += " --id " + print.ShellQuote(l.process.ID())
	}
	return line
}
