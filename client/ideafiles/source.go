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
	GivenPath     string // as the caller names it: a file, or a folder that stands for its files
	IdeaPath      string // the Idea file, JSON or YAML
	InstancesPath string // rows, .jsonl, .csv or .json; may be empty
	// InstanceNameColumn is the column of the rows that names the instances; empty: the Idea file says how they are
	// named.
	InstanceNameColumn string
	RepliesPath        string // recorded replies, JSON Lines; may be empty
	// AreRepliesFromCaller: the caller named the replies; otherwise they are from the folder.
	AreRepliesFromCaller bool
	// IsFromStranger: a stranger sent the files, and may have made them to take memory. Files of one's own may have
	// more short rows.
	IsFromStranger bool
}

// tableLimit limits the parts of the file with rows.
func (s Source) tableLimit() jsonval.NodeLimit {
	if s.IsFromStranger {
		return jsonval.UntrustedNodeLimit
	}
	return jsonval.TrustedTableNodeLimit
}

// These are the names of a process's files in a folder.
var (
	ideaFileNames      = []string{"idea.json", "idea.yaml", "idea.yml"}
	instancesFileNames = []string{"instances.jsonl", "instances.csv", "instances.json"}
	repliesFileNames   = []string{"replies.jsonl"}
)

// Find names the files of a process. path is the Idea file, or a folder with an idea.json (or .yaml), instances.jsonl
// (or .csv, .json) and replies.jsonl. If instancesPath or repliesPath is given, it replaces the folder's. The error
// wraps ErrInvalid.
func Find(path, instancesPath, repliesPath string) (Source, error) {
	s := Source{GivenPath: path, IdeaPath: path, InstancesPath: instancesPath, RepliesPath: repliesPath,
		AreRepliesFromCaller: repliesPath != ""}
	info, err := os.Stat(path)
	if err != nil {
		return s, invalidErrorf("find %s: %w", path, WithoutPath(err))
	}
	if !info.IsDir() {
		return s, nil
	}
	if s.IdeaPath, err = findOnlyFile(path, ideaFileNames); err != nil {
		return s, err
	}
	if s.IdeaPath == "" {
		return s, invalidErrorf("find Idea in %s: it has none of %s", path, strings.Join(ideaFileNames, ", "))
	}
	if s.InstancesPath == "" {
		if s.InstancesPath, err = findOnlyFile(path, instancesFileNames); err != nil {
			return s, err
		}
	}
	if s.RepliesPath == "" {
		s.RepliesPath, err = findOnlyFile(path, repliesFileNames)
	}
	return s, err
}

// FindAll finds every Idea in a folder: each Idea file, and each folder with a process's files. It skips other files
// and folders. The Ideas are sorted by name.
func FindAll(folder string) (all []Source, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, invalidErrorf("find Ideas in %s: %w", folder, WithoutPath(err))
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
	return "", invalidErrorf("find files in %s: it has %s; keep only one", folder, strings.Join(foundNames, " and "))
}

// Name is the name of a process without an id: the base name of the file or folder.
func (s Source) Name() string {
	path, err := filepath.Abs(s.GivenPath)
	if err != nil {
		path = s.GivenPath
	}
	base := filepath.Base(path)
	if ext := filepath.Ext(base); slices.Contains([]string{".json", ".yaml", ".yml"}, ext) && len(ext) < len(base) {
		base = strings.TrimSuffix(base, ext)
	}
	return strings.Join(strings.Fields(base), "-")
}
