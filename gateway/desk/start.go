package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/model/diag"
)

// Simulator tries the files of a process out without touching anything real.
type Simulator func(ctx context.Context, s ideafiles.Source) (*simulation.Report, error)

// startPage is a form that keeps all that was typed and chosen.
type startPage struct {
	frame
	Offers    []string
	Offer     string // empty: the Idea comes in a file
	Idea      file
	Rows      file
	Replies   file
	Files     []file // of delegates
	ID        string
	Simulates bool

	Wrong    string // the error, beside those in the files
	Findings []finding
	Left     int // findings that are not shown
	Fine     string
	Trial    *trial

	known   map[string]ideafiles.Source // the offered Ideas, by name
	folders []string                    // the folders of the files
}

func (d *Desk) startPage(r *http.Request) *startPage {
	p := &startPage{frame: d.frame(r, "Start a process"), Simulates: d.Simulate != nil,
		known: map[string]ideafiles.Source{}}
	if d.Ideas == "" {
		return p
	}
	sources, err := ideafiles.FindAll(d.Ideas)
	if err != nil {
		d.Log.Error("the folder of Ideas cannot be read", "error", err)
	}
	for _, s := range sources {
		if _, twice := p.known[s.Name()]; !twice {
			p.known[s.Name()] = s
			p.Offers = append(p.Offers, s.Name())
		}
	}
	return p
}

// showStart shows the empty form, or the one of an Idea that is offered.
func (d *Desk) showStart(w http.ResponseWriter, r *http.Request) error {
	p := d.startPage(r)
	p.Offer = r.URL.Query().Get("idea")
	return d.show(w, r, "start", p)
}

// start checks the form, simulates it, or starts it. After an error, the form is shown again with all entries.
func (d *Desk) start(w http.ResponseWriter, r *http.Request) error {
	p := d.startPage(r)
	status := http.StatusOK
	started, err := d.carryOut(r, p)
	var wrong *access.Refusal
	switch {
	case err == nil && started != "":
		return lead(w, r, processHref(started))
	case errors.As(err, &wrong):
		p.Wrong, status = wrong.Message, wrong.Status
	case err != nil:
		status = p.explain(err)
		if status >= http.StatusInternalServerError {
			d.Log.Error("a start failed", "error", err)
		}
	case len(p.Findings) > 0 && !p.Findings[0].Warning:
		status = http.StatusUnprocessableEntity
	}
	d.render(w, r, status, "start", p)
	return nil
}

// explain shows an error in the form.
func (p *startPage) explain(err error) (status int) {
	var invalid *client.InvalidError
	if errors.As(err, &invalid) {
		p.Findings, p.Left = findingsOf(invalid.Problems, p.folders...)
		return http.StatusUnprocessableEntity
	}
	problem := api.ProblemOf(err)
	p.Wrong = long(without(problem.Detail, p.folders))
	return problem.Status
}

// carryOut does what the pressed button says. It returns the started process; empty: none was started.
func (d *Desk) carryOut(r *http.Request, p *startPage) (started string, err error) {
	if err := p.read(r); err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "processidea-start-")
	if err != nil {
		return "", fmt.Errorf("desk: keep files for a moment: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	source, err := p.lay(folder)
	if err != nil {
		return "", err
	}
	definition, problems, err := ideafiles.Load(source, d.Tools)
	if err != nil {
		return "", err
	}
	p.Findings, p.Left = findingsOf(problems, p.folders...)
	if len(problems.Errors()) > 0 {
		return "", nil
	}
	if p.ID == "" {
		p.ID = client.NewID(source.Name())
	}
	switch r.PostForm.Get("do") {
	case "check":
		p.Fine = fineText(definition, problems)
		return "", nil
	case "simulate":
		return "", d.simulate(r.Context(), p, source)
	case "start":
		return d.begin(r.Context(), p, definition)
	}
	return "", unfit("There is no such button.")
}

func fineText(d *ideafiles.Definition, problems diag.Problems) string {
	text := fmt.Sprintf("No mistakes: %s, %s", plural(len(d.Read.Tools), "Tool"),
		plural(len(d.Read.InstanceTokens()), "instance"))
	if n := problems.Count(); n > 0 {
		text += ", " + plural(n, "warning")
	}
	return text + "."
}

func (d *Desk) begin(ctx context.Context, p *startPage, definition *ideafiles.Definition) (string, error) {
	if definition.Read.Simulation != nil {
		return "", unfit("This Idea is a simulation with made-up values. To start it for real, remove " +
			"meta.simulated and the messages' _simulated.")
	}
	if err := client.ValidateID(p.ID); err != nil {
		return "", unfit("The id cannot be used: %s", err)
	}
	started, err := d.Client.Start(ctx, client.StartOptions{
		ID: p.ID, Idea: definition.Idea, Delegates: definition.Delegates, Replies: definition.Replies,
		By: access.From(ctx).Name,
	})
	if errors.Is(err, client.ErrOtherStart) {
		return "", &access.Refusal{Status: http.StatusConflict, Code: api.CodeOtherStart,
			Message: "A process of this id was started from something else. Give this one another id, or leave the " +
				"field empty."}
	}
	if err != nil {
		return "", err
	}
	d.API.Acted(started.ID())
	return started.ID(), nil
}

// read reads the chosen and typed files.
func (p *startPage) read(r *http.Request) (err error) {
	p.Offer, p.ID = r.PostForm.Get("offer"), entered(r, "id")
	names, texts := r.PostForm["file-name"], r.PostForm["file-text"]
	for n, name := range names {
		if n < len(texts) && strings.TrimSpace(texts[n]) != "" {
			p.keep(file{strings.TrimSpace(name), typed(texts[n])})
		}
	}
	if p.Idea, err = chosen(r, "idea", "idea.json"); err == nil {
		p.Rows, err = chosen(r, "rows", "rows.jsonl")
	}
	if err == nil {
		p.Replies, err = chosen(r, "replies", "replies.jsonl")
	}
	more, wrong := uploaded(r, "files")
	for _, f := range more {
		p.keep(f)
	}
	// What was typed has no file name to show its format.
	if p.Idea.Name == "idea.json" && !strings.HasPrefix(strings.TrimSpace(p.Idea.Text), "{") {
		p.Idea.Name = "idea.yaml"
	}
	p.Rows.nameRows()
	return errors.Join(err, wrong)
}

// keep takes a file of a delegate, in place of one of its name.
func (p *startPage) keep(f file) {
	for n := range p.Files {
		if p.Files[n].Name == f.Name {
			p.Files[n] = f
			return
		}
	}
	p.Files = append(p.Files, f)
}

// lay writes the files into a folder, from which they are read like those of any process.
func (p *startPage) lay(folder string) (s ideafiles.Source, err error) {
	ideas, data := filepath.Join(folder, "idea"), filepath.Join(folder, "data")
	p.folders = []string{ideas, data}
	if s, err = p.source(ideas); err != nil {
		return s, err
	}
	write := func(in string, f file) error {
		to := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(to) || strings.ContainsRune(f.Name, 0) {
			return unfit("%s cannot be the name of a file: use the name in the Idea, such as parts/letter.json.",
				short(f.Name))
		}
		to = filepath.Join(in, to)
		err := os.MkdirAll(filepath.Dir(to), 0o700)
		if err == nil {
			err = os.WriteFile(to, []byte(f.Text), 0o600)
		}
		if err != nil {
			return unfit("%s cannot be kept under this name.", short(f.Name))
		}
		return nil
	}
	if p.Offer == "" {
		for _, f := range append([]file{p.Idea}, p.Files...) {
			if f.Name == p.Idea.Name && f != p.Idea {
				return s, unfit("Two files are named %s: the Idea, and one that it names.", short(f.Name))
			}
			if err := write(ideas, f); err != nil {
				return s, err
			}
		}
	}
	for _, f := range []struct {
		file
		at *string
	}{{p.Rows, &s.Instances}, {p.Replies, &s.Replies}} {
		if f.Name == "" {
			continue
		}
		if err := write(data, f.file); err != nil {
			return s, err
		}
		*f.at = filepath.Join(data, f.Name)
	}
	s.RepliesGiven = s.Replies != ""
	return s, nil
}

// source names the Idea file: the one that is offered, or the one that was sent.
func (p *startPage) source(folder string) (s ideafiles.Source, err error) {
	if p.Offer == "" {
		if p.Idea.Name == "" {
			return s, unfit("Choose an Idea file first: it defines the process.")
		}
		return ideafiles.Source{Given: p.Idea.Name, Idea: filepath.Join(folder, p.Idea.Name)}, nil
	}
	s, offered := p.known[p.Offer]
	if !offered {
		return s, unfit("This Idea is no longer in the list.")
	}
	p.folders = append(p.folders, filepath.Dir(s.Idea))
	s.Instances, s.Replies = "", ""
	return s, nil
}
