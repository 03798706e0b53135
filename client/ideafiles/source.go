package ideafiles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// Source names the files that a process is started from.
type Source struct {
	Path      string // as the caller names it: a file, or a folder that stands for its files
	Idea      string // the Idea file, JSON or YAML
	Instances string // rows, .jsonl, .csv or .json; may be empty
	// Key is the column of the rows that names the instances; empty: the Idea file says how they are named.
	Key     string
	Replies string // recorded replies, JSON Lines; may be empty
	// RepliesGiven: the caller named the replies; otherwise they are from the folder.
	RepliesGiven bool
	// FromStranger: a stranger sent the files, and may have made them to take memory. Files of one's own may have more
	// short rows.
	FromStranger bool
}

// tableLimit limits the parts of the file with rows.
func (s Source) tableLimit() jsonval.NodeLimit {
	if s.FromStranger {
		return jsonval.ReceivedNodeLimit
	}
	return jsonval.OwnTableNodeLimit
}

// These are the names of a process's files in a folder.
var (
	ideaNames     = []string{"idea.json", "idea.yaml", "idea.yml"}
	instanceNames = []string{"instances.jsonl", "instances.csv", "instances.json"}
	replyNames    = []string{"replies.jsonl"}
)

// Find names the files of a process. given is the Idea file, or a folder with an idea.json (or .yaml), instances.jsonl
// (or .csv, .json) and replies.jsonl. If instances or replies are given, they replace the folder's. The error wraps
// ErrInvalid.
func Find(path, instances, replies string) (Source, error) {
	s := Source{Path: path, Idea: path, Instances: instances, Replies: replies, RepliesGiven: replies != ""}
	info, err := os.Stat(path)
	if err != nil {
		return s, invalid("find %s: %w", path, WithoutPath(err))
	}
	if !info.IsDir() {
		return s, nil
	}
	if s.Idea, err = findOnlyFile(path, ideaNames); err != nil {
		return s, err
	}
	if s.Idea == "" {
		return s, invalid("find Idea in %s: it has none of %s", path, strings.Join(ideaNames, ", "))
	}
	if s.Instances == "" {
		if s.Instances, err = findOnlyFile(path, instanceNames); err != nil {
			return s, err
		}
	}
	if s.Replies == "" {
		s.Replies, err = findOnlyFile(path, replyNames)
	}
	return s, err
}

// FindAll finds every Idea in a folder: each Idea file, and each folder with a process's files. It skips other files
// and folders. The Ideas are sorted by name.
func FindAll(folder string) (all []Source, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, invalid("find Ideas in %s: %w", folder, WithoutPath(err))
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && !slices.Contains([]string{".json", ".yaml", ".yml"},
			strings.ToLower(filepath.Ext(e.Name()))) {
			continue
		}
		if source, err := Find(filepath.Join(folder, e.Name()), "", ""); err == nil {
			all = append(all, source)
		}
	}
	return all, nil
}

// findOnlyFile finds the one file in a folder that has one of the names; empty if there is none.
func findOnlyFile(folder string, names []string) (string, error) {
	var foundNames []string
	for _, name := range names {
		info, err := os.Stat(filepath.Join(folder, name))
		if err == nil && !info.IsDir() {
			foundNames = append(foundNames, name)
		}
	}
	switch len(foundNames) {
	case 0:
		return "", nil
	case 1:
		return filepath.Join(folder, foundNames[0]), nil
	}
	return "", invalid("find files in %s: it has %s; keep only one", folder, strings.Join(foundNames, " and "))
}

// Name is the name of a process without an id: the base name of the file or folder.
func (s Source) Name() string {
	path, err := filepath.Abs(s.Path)
	if err != nil {
		path = s.Path
	}
	base := filepath.Base(path)
	if ext := filepath.Ext(base); slices.Contains([]string{".json", ".yaml", ".yml"}, ext) && len(ext) < len(base) {
		base = strings.TrimSuffix(base, ext)
	}
	return strings.Join(strings.Fields(base), "-")
}
