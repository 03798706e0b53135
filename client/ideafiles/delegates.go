package ideafiles

import (
	"maps"
	"os"
	"path/filepath"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/delegate"
	"processidea/model/jsonval"
)

// delegateReader reads the Idea files of an Idea's delegates, and of their delegates in turn, so that the process
// carries them. The key of a file is its path from the folder of the first Idea file.
type delegateReader struct {
	rootFile    string         // the first Idea file; empty if only the Idea's own files are available
	fileByKey   jsonval.Object // by key; files that the Idea carries take precedence over the folder's
	visitedKeys map[string]bool
	tools       *WorkerTools // nil: activities are not checked
	problems    *diag.Problems
}

// ReadDelegates finds the files of the delegates: in the Idea and, if the Idea is from a file, in its folder. It adds
// their mistakes to the problems.
func (d *Definition) ReadDelegates(tools WorkerTools, problems *diag.Problems) error {
	r := &delegateReader{rootFile: d.Source.IdeaPath, tools: &tools, problems: problems}
	if err := r.readAllDelegates(d.Idea, d.ParsedIdea); err != nil {
		return err
	}
	d.DelegateFiles = r.fileByKey
	problems.AppendNew(delegate.CheckFiles(d.ParsedIdea, r.rootFileKey(), d.DelegateFiles)...)
	return nil
}

// AllIdeas returns the Idea and the Ideas of its delegates, sorted by their files. They must have no mistakes.
func (d *Definition) AllIdeas() []*ideafile.Idea {
	ideas := []*ideafile.Idea{d.ParsedIdea}
	for _, ideaSource := range jsonval.Sorted(d.DelegateFiles) {
		if idea, _ := ideafile.ReadIdea(ideaSource); idea != nil {
			ideas = append(ideas, idea)
		}
	}
	return ideas
}

func (r *delegateReader) readAllDelegates(ideaSource jsonval.Object, idea *ideafile.Idea) error {
	r.visitedKeys = map[string]bool{}
	_, files, problems := delegate.ExtractFiles(ideaSource, nil)
	r.fileByKey = files
	r.problems.Append(problems...)
	return r.readDelegatesOf(idea, "")
}

// withInstructions returns an Idea's source with the instructions from the files that its messages name, if these files
// exist.
func (r *delegateReader) withInstructions(ideaSource jsonval.Object, baseFile string) (jsonval.Object, error) {
	context := jsonval.AsList(ideaSource["context"])
	for _, key := range delegate.InstructionFileKeys(context, baseFile) {
		if err := r.loadFile(key); err != nil {
			return nil, err
		}
	}
	return delegate.WithInstructions(ideaSource, baseFile, r.fileByKey), nil
}

// WithInstructions returns the source of an Idea, or of a part of one, from a file, with the instructions that its
// messages name: from the Idea, or from the file's folder. delegate.CheckFiles reports a missing file.
func WithInstructions(ideaSource map[string]any, file string, problems *diag.Problems) (map[string]any, error) {
	r := &delegateReader{rootFile: file, problems: problems}
	_, r.fileByKey, _ = delegate.ExtractFiles(ideaSource, nil) // readAllDelegates reports mistakes in carried files
	return r.withInstructions(ideaSource, "")
}

// rootFileKey is the key that delegates would use for the Idea file itself.
func (r *delegateReader) rootFileKey() string {
	if r.rootFile == "" {
		return ""
	}
	return filepath.Base(r.rootFile)
}

func (r *delegateReader) readDelegatesOf(idea *ideafile.Idea, baseFile string) error {
	for _, t := range idea.Tools {
		key, err := delegate.ResolveFileKey(baseFile, t.DelegateFile)
		if t.DelegateFile == "" || t.DelegateFile == ideafile.AnonymousDelegate || err != nil || r.visitedKeys[key] ||
			key == r.rootFileKey() {
			continue
		}
		r.visitedKeys[key] = true
		if err := r.readDelegate(key); err != nil {
			return err
		}
	}
	return nil
}

// readDelegate reads one file, and its delegates. delegate.CheckFiles reports a file that is missing or malformed, with
// the place that names it.
func (r *delegateReader) readDelegate(key string) error {
	if err := r.loadFile(key); err != nil {
		return err
	}
	if ideaSource, ok := r.fileByKey[key].(jsonval.Object); ok {
		sourceWithInstructions, err := r.withInstructions(ideaSource, key)
		if err != nil {
			return err
		}
		r.fileByKey[key] = sourceWithInstructions
	}
	idea, problems := ideafile.ReadIdea(r.fileByKey[key])
	if idea == nil || len(problems.Errors()) > 0 {
		return nil
	}
	if r.tools != nil {
		// The parameters of the delegate's Call are not known yet, so nobody can check whether its own Calls find what
		// they read.
		_, problems := r.tools.bind(idea)
		for _, p := range problems {
			p.JSONPath, p.IsWarning = key+": "+p.JSONPath, r.tools.HasOtherWorkers
			r.problems.Append(p)
		}
	}
	return r.readDelegatesOf(idea, key)
}

// loadFile reads a file of the folder, if it exists and is not read yet, and adds the files that it carries.
func (r *delegateReader) loadFile(key string) error {
	folder := filepath.Dir(r.rootFile)
	path := filepath.Join(folder, filepath.FromSlash(key))
	if _, err := os.Stat(path); r.fileByKey[key] != nil || r.rootFile == "" || os.IsNotExist(err) {
		return nil
	}
	data, err := readFileInFolder(folder, key)
	if err != nil {
		return invalidErrorf("read %s: %w", path, WithoutPath(err))
	}
	v, problem := decodeIdea(path, data)
	if problem != nil {
		r.problems.Add(key+": "+problem.JSONPath, "%s", problem.Message)
		v = jsonval.Object{}
	}
	files := maps.Clone(r.fileByKey)
	files[key] = v
	var extractProblems diag.Problems
	_, r.fileByKey, extractProblems = delegate.ExtractFiles(nil, files)
	r.problems.Append(extractProblems...)
	return nil
}

// readFileInFolder reads a file in a folder, or below it; a link to the outside is refused.
func readFileInFolder(folder, key string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, err := root.ReadFile(filepath.FromSlash(key))
	return toUTF8IfText(data), err
}
