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

// delegateReader reads the Idea files that the delegates of an Idea run, and of those in turn, so that the process
// carries them. What a file is called is its path from the folder of the first one.
type delegateReader struct {
	file     string         // the first Idea file; empty if only the Idea's own files are available
	files    jsonval.Object // by key; files that the Idea carries take precedence over the folder's
	read     map[string]bool
	known    *Tools // nil: whether there are such activities is not asked
	problems *diag.Problems
}

// ReadDelegates finds the files of the delegates: those that the Idea carries, and the others in its folder, if it
// comes from one. What is wrong with them is added to the problems.
func (d *Definition) ReadDelegates(known Tools, problems *diag.Problems) error {
	r := &delegateReader{file: d.Source.Idea, known: &known, problems: problems}
	if err := r.readAll(d.Idea, d.Read); err != nil {
		return err
	}
	d.Delegates = r.files
	problems.Append(delegate.CheckFiles(d.Read, r.ownKey(), d.Delegates)...)
	return nil
}

// AllIdeas returns the Idea and those of its delegates, by their files. Nothing must be wrong with them.
func (d *Definition) AllIdeas() []*ideafile.Idea {
	all := []*ideafile.Idea{d.Read}
	for _, source := range jsonval.Sorted(d.Delegates) {
		if read, _ := ideafile.ReadIdea(source); read != nil {
			all = append(all, read)
		}
	}
	return all
}

func (r *delegateReader) readAll(source jsonval.Object, idea *ideafile.Idea) error {
	r.read = map[string]bool{}
	_, files, wrong := delegate.ExtractFiles(source, nil)
	r.files = files
	r.problems.Append(wrong...)
	return r.readDelegatesOf(idea, "")
}

// withInstructions returns an Idea's source with the instructions of the files that its messages name, as far as they
// are there.
func (r *delegateReader) withInstructions(source jsonval.Object, from string) (jsonval.Object, error) {
	context := jsonval.AsList(source["context"])
	for _, key := range delegate.InstructionFiles(context, from) {
		if err := r.load(key); err != nil {
			return nil, err
		}
	}
	return delegate.WithInstructions(source, from, r.files), nil
}

// WithInstructions returns the source of an Idea, or of a part of one, from a file, with the instructions that its
// messages name: from the Idea, or from the file's folder. delegate.CheckFiles reports a missing file.
func WithInstructions(source map[string]any, file string, problems *diag.Problems) (map[string]any, error) {
	r := &delegateReader{file: file, problems: problems}
	_, r.files, _ = delegate.ExtractFiles(source, nil) // readAll tells what is wrong with what it carries
	return r.withInstructions(source, "")
}

// ownKey is what delegates would call the Idea file itself.
func (r *delegateReader) ownKey() string {
	if r.file == "" {
		return ""
	}
	return filepath.Base(r.file)
}

func (r *delegateReader) readDelegatesOf(idea *ideafile.Idea, from string) error {
	for _, t := range idea.Tools {
		key, err := delegate.ResolveFile(from, t.DelegateFile)
		if t.DelegateFile == "" || t.DelegateFile == ideafile.AnonymousDelegate || err != nil || r.read[key] ||
			key == r.ownKey() {
			continue
		}
		r.read[key] = true
		if err := r.readDelegate(key); err != nil {
			return err
		}
	}
	return nil
}

// readDelegate reads one file, and the delegates of it. A file that is missing, or breaks the form of an Idea, is
// reported by delegate.CheckFiles, with the place that names it.
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
	read, wrong := ideafile.ReadIdea(r.files[key])
	if read == nil || len(wrong.Errors()) > 0 {
		return nil
	}
	if r.known != nil {
		// What a Call will give the delegate is not known yet, so that whether its own Calls find what they read cannot
		// be told.
		_, wrong := r.known.bind(read)
		for _, p := range wrong {
			p.JSONPath, p.IsWarning = key+": "+p.JSONPath, r.known.OtherWorkers
			r.problems.Append(p)
		}
	}
	return r.readDelegatesOf(read, key)
}

// load reads a file of the folder, if it is there and has not been read, and takes what it carries itself.
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
	var wrong diag.Problems
	_, r.files, wrong = delegate.ExtractFiles(nil, files)
	r.problems.Append(wrong...)
	return nil
}

// readInFolder reads a file that lies in a folder, or below; a link that leads out of it is refused.
func readInFolder(folder, key string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, err := root.ReadFile(filepath.FromSlash(key))
	return withoutMark(data), err
}
