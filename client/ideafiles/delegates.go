package ideafiles

import (
	"bytes"
	"os"
	"path/filepath"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// readDelegates reads the Idea files that the delegates of an Idea run, and of those in turn, so that the process carries
// them. What a file is called is its path from the folder of the first one.
func (d *Definition) readDelegates(known Tools, problems *diag.Problems) error {
	d.Delegates = map[string]any{}
	if err := d.readDelegatesOf(d.Read, "", known, problems); err != nil {
		return err
	}
	*problems = append(*problems, ideafile.CheckDelegates(d.Read, d.ownKey(), d.Delegates)...)
	return nil
}

// ownKey is what delegates would call the Idea file itself.
func (d *Definition) ownKey() string { return filepath.Base(d.Source.Idea) }

func (d *Definition) readDelegatesOf(idea *ideafile.Idea, from string, known Tools, problems *diag.Problems) error {
	for _, t := range idea.Tools {
		key, err := ideafile.DelegateKey(from, t.Delegate)
		if t.Delegate == "" || t.Delegate == ideafile.AnonymousDelegate || err != nil || d.Delegates[key] != nil || key == d.ownKey() {
			continue
		}
		if err := d.readDelegate(key, known, problems); err != nil {
			return err
		}
	}
	return nil
}

// readDelegate reads one file, and the delegates of it. A file that is missing, or breaks the form of an Idea, is
// reported by ideafile.CheckDelegates, with the place that names it.
func (d *Definition) readDelegate(key string, known Tools, problems *diag.Problems) error {
	folder := filepath.Dir(d.Source.Idea)
	path := filepath.Join(folder, filepath.FromSlash(key))
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil
	}
	data, err := readInFolder(folder, key)
	if err != nil {
		return invalid("read %s: %w", path, WithoutPath(err))
	}
	v, problem := decodeFile(path, data)
	if problem != nil {
		*problems = append(*problems, diag.Problem{Path: key + ": " + problem.Path, Message: problem.Message})
		v = map[string]any{}
	}
	d.Delegates[key] = v
	read, wrong := ideafile.ReadIdea(v)
	if read == nil || len(wrong.Errors()) > 0 {
		return nil
	}
	// What a Call will give the delegate is not known yet, so that whether its own Calls find what they read cannot be told.
	for _, p := range known.Bind(read).Problems {
		*problems = append(*problems, diag.Problem{Path: key + ": " + p.Path, Message: p.Message, Warning: known.Elsewhere})
	}
	return d.readDelegatesOf(read, key, known, problems)
}

// readInFolder reads a file that lies in a folder, or below; a link that leads out of it is refused.
func readInFolder(folder, key string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, err := root.ReadFile(filepath.FromSlash(key))
	return bytes.TrimPrefix(data, byteOrderMark), err
}
