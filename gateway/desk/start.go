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
	"processidea/model/ideafile/shown"
)

// Simulator tries the files of a process out without touching anything real.
type Simulator func(ctx context.Context, s ideafiles.Source) (*simulation.Report, error)

// startPage is a form that keeps all that was typed and chosen.
type startPage struct {
	frame
	OfferedNames     []string
	ChosenOffer      string // empty: the Idea comes in a file
	Idea             file
	Rows             file
	Replies          file
	Files            []file // of delegates
	ID               string
	OffersSimulation bool

	formErrors
	SuccessNotice string
	Simulation    *simulationView

	offeredSourceByName map[string]ideafiles.Source // the offered Ideas, by name
	foldersToHide       []string                    // the folders of the files
}

func (v *visit) newStartPage() *startPage {
	p := &startPage{frame: v.frame("Start a process"), OffersSimulation: v.Simulate != nil,
		offeredSourceByName: map[string]ideafiles.Source{}}
	if v.IdeaFolder == "" {
		return p
	}
	sources, err := ideafiles.FindAll(v.IdeaFolder)
	if err != nil {
		v.Log.Error("the folder of Ideas cannot be read", "error", err)
	}
	for _, s := range sources {
		if _, isDuplicate := p.offeredSourceByName[s.Name()]; !isDuplicate {
			p.offeredSourceByName[s.Name()] = s
			p.OfferedNames = append(p.OfferedNames, s.Name())
		}
	}
	return p
}

// showStart shows the empty form, or the one of an Idea that is offered.
func (v *visit) showStart() error {
	p := v.newStartPage()
	p.ChosenOffer = v.FormValue("idea")
	return v.show("start", p)
}

// start checks the form, simulates it, or starts it. After an error, the form is shown again with all entries.
func (v *visit) start() error {
	p := v.newStartPage()
	status := http.StatusOK
	processID, err := v.runStartAction(p)
	switch {
	case err == nil && processID != "" && v.user.May(access.Look):
		return v.redirect(processHref(processID))
	case err == nil && processID != "":
		p = v.newStartPage()
		p.SuccessNotice = fmt.Sprintf("%s has started. You may not look at it.", visibleText(processID))
	case err != nil:
		if status = p.setError(err, p.foldersToHide...); status >= http.StatusInternalServerError {
			v.Log.Error("a start failed", "error", err)
		}
	case len(p.Findings) > 0 && !p.Findings[0].IsWarning:
		status = http.StatusUnprocessableEntity
	}
	return v.render(status, "start", p)
}

// runStartAction does what the pressed button says. It returns the started process; empty: none was started.
func (v *visit) runStartAction(p *startPage) (processID string, err error) {
	if err := p.readFiles(v); err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "processidea-start-")
	if err != nil {
		return "", fmt.Errorf("desk: keep files for a moment: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	source, err := p.writeFiles(folder)
	if err != nil {
		return "", err
	}
	definition, problems, err := ideafiles.Load(source, v.Tools)
	if err != nil {
		return "", err
	}
	p.addFindings(problems, p.foldersToHide)
	if len(problems.Errors()) > 0 {
		return "", nil
	}
	if p.ID == "" {
		p.ID = client.NewProcessID(source.Name())
	}
	switch v.PostForm.Get("do") {
	case "check":
		p.SuccessNotice = noErrorsText(definition, problems)
		return "", nil
	case "simulate":
		return "", v.simulate(v.Context(), p, source, shown.NewPresenter(definition.ParsedIdea))
	case "start":
		return v.startProcess(p, definition)
	}
	return "", api.Unprocessable("There is no such button.")
}

func noErrorsText(d *ideafiles.Definition, problems diag.Problems) string {
	text := fmt.Sprintf("No mistakes: %s", plural(len(d.ParsedIdea.InstanceTokens()), "case"))
	if n := problems.Count(); n > 0 {
		text += ", " + plural(n, "warning")
	}
	return text + "."
}

func (v *visit) startProcess(p *startPage, definition *ideafiles.Definition) (string, error) {
	if definition.ParsedIdea.Simulation != nil {
		return "", api.Unprocessable("This file comes from a simulation, and its values are made up. To start it for " +
			"real, remove meta.simulated and the messages' _simulated in it.")
	}
	if err := client.ValidateProcessID(p.ID); err != nil {
		return "", api.Unprocessable("The name cannot be used: %s", err)
	}
	process, err := v.Client.Start(v.Context(), client.StartOptions{
		ID: p.ID, Idea: definition.Idea, DelegateFiles: definition.DelegateFiles,
		ScriptedReplies: definition.RepliesText,
		StartedBy:       v.user.Name,
	})
	if errors.Is(err, client.ErrIDInUse) {
		return "", access.NewRefusal(http.StatusConflict, api.CodeIDInUse,
			"A process of this name was started from "+
				"something else. Give this one another name, or leave the field empty.")
	}
	if err != nil {
		return "", err
	}
	v.NoteChange(process.ID())
	return process.ID(), nil
}

// readFiles reads the chosen and typed files.
func (p *startPage) readFiles(v *visit) (err error) {
	p.ChosenOffer, p.ID = v.PostForm.Get("offer"), v.formValue("id")
	names, texts := v.PostForm["file-name"], v.PostForm["file-text"]
	for n, name := range names {
		if n < len(texts) && strings.TrimSpace(texts[n]) != "" {
			p.putFile(file{strings.TrimSpace(name), normalizeNewlines(texts[n])})
		}
	}
	if p.Idea, err = v.readFile("idea", "idea.json"); err == nil {
		p.Rows, err = v.readFile("rows", "rows.jsonl")
	}
	if err == nil {
		p.Replies, err = v.readFile("replies", "replies.jsonl")
	}
	uploads, uploadErr := v.uploadedFiles("files")
	for _, f := range uploads {
		p.putFile(f)
	}
	// What was typed has no file name to show its format.
	if p.Idea.Name == "idea.json" && !strings.HasPrefix(strings.TrimSpace(p.Idea.Text), "{") {
		p.Idea.Name = "idea.yaml"
	}
	p.Rows.renameTypedRows()
	return errors.Join(err, uploadErr)
}

// putFile adds a file of a delegate. It replaces a file with the same name.
func (p *startPage) putFile(f file) {
	for n := range p.Files {
		if p.Files[n].Name == f.Name {
			p.Files[n] = f
			return
		}
	}
	p.Files = append(p.Files, f)
}

// writeFiles writes the files into a folder, from which they are read like those of any process.
func (p *startPage) writeFiles(folder string) (s ideafiles.Source, err error) {
	ideasDir, dataDir := filepath.Join(folder, "idea"), filepath.Join(folder, "data")
	p.foldersToHide = []string{ideasDir, dataDir}
	if s, err = p.ideaSource(ideasDir); err != nil {
		return s, err
	}
	write := func(dir string, f file) error {
		target := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(target) || strings.ContainsRune(f.Name, 0) {
			return api.Unprocessable("%s cannot be the name of a file: use the name that the file of the process "+
				"has, such as parts/letter.json.", clipName(f.Name))
		}
		target = filepath.Join(dir, target)
		err := os.MkdirAll(filepath.Dir(target), 0o700)
		if err == nil {
			err = os.WriteFile(target, []byte(f.Text), 0o600)
		}
		if err != nil {
			return api.Unprocessable("%s cannot be kept under this name.", clipName(f.Name))
		}
		return nil
	}
	if p.ChosenOffer == "" {
		for _, f := range append([]file{p.Idea}, p.Files...) {
			if f.Name == p.Idea.Name && f != p.Idea {
				return s, api.Unprocessable("Two files are named %s: the file of the process, and one that it names.",
					clipName(f.Name))
			}
			if err := write(ideasDir, f); err != nil {
				return s, err
			}
		}
	}
	for _, f := range []struct {
		file
		at *string
	}{{p.Rows, &s.InstancesPath}, {p.Replies, &s.RepliesPath}} {
		if f.Name == "" {
			continue
		}
		if err := write(dataDir, f.file); err != nil {
			return s, err
		}
		*f.at = filepath.Join(dataDir, f.Name)
	}
	s.AreRepliesFromCaller, s.IsFromStranger = s.RepliesPath != "", true
	return s, nil
}

// ideaSource names the Idea file: the one that is offered, or the one that was sent.
func (p *startPage) ideaSource(folder string) (s ideafiles.Source, err error) {
	if p.ChosenOffer == "" {
		if p.Idea.Name == "" {
			return s, api.Unprocessable("Choose the file of the process first: it says what the process does.")
		}
		return ideafiles.Source{GivenPath: p.Idea.Name, IdeaPath: filepath.Join(folder, p.Idea.Name)}, nil
	}
	s, isOffered := p.offeredSourceByName[p.ChosenOffer]
	if !isOffered {
		return s, api.Unprocessable("This process is no longer in the list.")
	}
	p.foldersToHide = append(p.foldersToHide, filepath.Dir(s.IdeaPath))
	s.InstancesPath, s.RepliesPath = "", ""
	return s, nil
}
