package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/blobs"
)

// readDelegates reads the Idea files that the delegates of an Idea run, and of those in turn, so that the process carries
// them. What a file is called is its path from the folder of the first one.
func (m *material) readDelegates(known bindings, ps *diag.Problems) error {
	m.delegates = map[string]any{}
	if err := m.readDelegatesOf(m.read, "", known, ps); err != nil {
		return err
	}
	*ps = append(*ps, ideafile.CheckDelegates(m.read, m.key(), m.delegates)...)
	return nil
}

// key is what delegates would call the Idea file itself.
func (m *material) key() string { return filepath.Base(m.source.file) }

func (m *material) readDelegatesOf(idea *ideafile.Idea, in string, known bindings, ps *diag.Problems) error {
	for _, t := range idea.Tools {
		key, err := ideafile.DelegateKey(in, t.Delegate)
		if t.Delegate == "" || t.Delegate == ideafile.AnonymousDelegate || err != nil || m.delegates[key] != nil || key == m.key() {
			continue
		}
		path := filepath.Join(filepath.Dir(m.source.file), filepath.FromSlash(key))
		if _, err := os.Stat(path); os.IsNotExist(err) {
			continue // it is told of with its place
		}
		data, err := readInFolder(filepath.Dir(m.source.file), key)
		if err != nil {
			return misuse("read %s: %w", path, cause(err))
		}
		v, problem := decodeFile(path, data)
		if problem != nil {
			*ps = append(*ps, diag.Problem{Path: key + ": " + problem.Path, Message: problem.Message})
			v = map[string]any{}
		}
		m.delegates[key] = v
		read, problems := ideafile.ReadIdea(v)
		if read == nil || len(problems.Errors()) > 0 {
			continue // CheckDelegates tells of it
		}
		// What a Call gives it is not known yet: whether its own Calls find what they read is not to be told here.
		for _, p := range known.bind(read).Problems {
			*ps = append(*ps, diag.Problem{Path: key + ": " + p.Path, Message: p.Message, Warning: known.elsewhere})
		}
		if err := m.readDelegatesOf(read, key, known, ps); err != nil {
			return err
		}
	}
	return nil
}

// readInFolder reads a file that lies in a folder, or below; a link that leads out of it does not.
func readInFolder(folder, key string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, err := root.ReadFile(filepath.FromSlash(key))
	return bytes.TrimPrefix(data, byteOrderMark), err
}

// delegation is what the process is told of its delegates, with large values in the store.
func (m *material) delegation(ctx context.Context, store *blobs.Store) (d protocol.Delegation, err error) {
	if len(m.delegates) == 0 {
		return d, nil
	}
	d.Files = map[string]any{}
	for key, v := range m.delegates {
		idea, _ := v.(map[string]any)
		if d.Files[key], err = offload(ctx, store, idea); err != nil {
			return d, err
		}
	}
	return d, nil
}
