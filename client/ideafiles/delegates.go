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
	file     string         // the first Idea file; empty if only the Idea's own files are available
	files    jsonval.Object // by key; files that the Idea carries take precedence over the folder's
	visited  map[string]bool
	tools    *Tools // nil: activities are not checked
	problems *diag.Problems
}

// ReadDelegates finds the files of the delegates: in the Idea and, if the Idea is from a file, in its folder. It adds
// their mistakes to the problems.
func (d *Definition) ReadDelegates(tools Tools, problems *diag.Problems) error {
	r := &delegateReader{file: d.Source.Idea, tools: &tools, problems: problems}
	if err := r.readAll(d.Idea, d.Parsed); err != nil {
		return err
	}
	d.Delegates = r.files
	problems.AppendNew(delegate.CheckFiles(d.Parsed, r.ownKey(), d.Delegates)...)
	return nil
}

// AllIdeas returns the Idea and the Ideas of its delegates, sorted by their files. They must have no mistakes.
func (d *Definition) AllIdeas() []*ideafile.Idea {
	all := []*ideafile.Idea{d.Parsed}
	for _, source := range jsonval.Sorted(d.Delegates) {
		if parsed, _ := ideafile.ReadIdea(source); parsed != nil {
			all = append(all, parsed)
		}
	}
	return all
}

func (r *delegateReader) readAll(source jsonval.Object, idea *ideafile.Idea) error {
	r.visited = map[string]bool{}
	_, files, problems := delegate.ExtractFiles(source, nil)
	r.files = files
	r.problems.Append(problems...)
	return r.readDelegatesOf(idea, "")
}

// withInstructions returns an Idea's source with the instructions from the files that its messages name, if these files
// exist.
func (r *delegateReader) withInstructions(source jsonval.Object, baseFile string) (jsonval.Object, error) {
	context := jsonval.AsList(source["context"])
	for _, key := range delegate.InstructionFiles(context, baseFile) {
		if err := r.load(key); err != nil {
			return nil, err
		}
	}
	return delegate.WithInstructions(source, baseFile, r.files), nil
}

// WithInstructions returns the source of an Idea, or of a part of one, from a file, with the instructions that its
// messages name: from the Idea, or from the file's folder. delegate.CheckFiles reports a missing file.
func WithInstructions(source map[string]any, file string, problems *diag.Problems) (map[string]any, error) {
	r := &delegateReader{file: file, problems: problems}
	_, r.files, _ = delegate.ExtractFiles(source, nil) // readAll reports mistakes in carried files
	return r.withInstructions(source, "")
}

// ownKey is the key that delegates would use for the Idea file itself.
func (r *delegateReader) ownKey() string {
	if r.file == "" {
		return ""
	}
	return filepath.Base(r.file)
}

func (r *delegateReader) readDelegatesOf(idea *ideafile.Idea, baseFile string) error {
	for _, t := range idea.Tools {
		key, err := delegate.ResolveFile(baseFile, t.DelegateFile)
		if t.DelegateFile == "" || t.DelegateFile == ideafile.AnonymousDelegate || err != nil || r.visited[key] ||
			key == r.ownKey() {
			continue
		}
		r.visited[key] = true
		if err := r.readDelegate(key); err != nil {
			return err
		}
	}
	return nil
}

// readDelegate reads one file, and its delegates. delegate.CheckFiles reports a file that is missing or malformed, with
// the place that names it.
func (r *delegateReader) readDelegate(key string) error {
	if err := r.load(key); err != nil {
		return err
	}
	if source, ok := r.files[key].(jsonval.Object); ok {
		filled, err := r.withInstructions(source, key)
		if err != nil {
			return err
		}
		r.files[key] = filled
	}
	idea, problems := ideafile.ReadIdea(r.files[key])
	if idea == nil || len(problems.Errors()) > 0 {
		return nil
	}
	if r.tools != nil {
		// The parameters of the delegate's Call are not known yet, so nobody can check whether its own Calls find what
		// they read.
		_, problems := r.tools.bind(idea)
		for _, p := range problems {
			p.JSONPath, p.IsWarning = key+": "+p.JSONPath, r.tools.OtherWorkers
			r.problems.Append(p)
		}
	}
	return r.readDelegatesOf(idea, key)
}

// load reads a file of the folder, if it exists and is not read yet, and adds the files that it carries.
func (r *delegateReader) load(key string) error {
	folder := filepath.Dir(r.file)
	path := filepath.Join(folder, filepath.FromSlash(key))
	if _, err := os.Stat(path); r.files[key] != nil || r.file == "" || os.IsNotExist(err) {
		return nil
	}
	data, err := readInFolder(folder, key)
	if err != nil {
		return invalid("read %s: %w", path, WithoutPath(err))
	}
	v, problem := decodeIdea(path, data)
	if problem != nil {
		r.problems.Add(key+": "+problem.JSONPath, "%s", problem.Message)
		v = jsonval.Object{}
	}
	files := maps.Clone(r.files)
	files[key] = v
	var extractProblems diag.Problems
	_, r.files, extractProblems = delegate.ExtractFiles(nil, files)
	r.problems.Append(extractProblems...)
	return nil
}

// readInFolder reads a file in a folder, or below it; a link to the outside is refused.
func readInFolder(folder, key string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, err := root.ReadFile(filepath.FromSlash(key))
	return stripByteOrderMark(data), err
}
