package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// source is the files that a process is started from.
type source struct {
	given     string // as the command line names it: a file, or a folder that stands for its files
	file      string // the Idea
	instances string // rows; may be empty
	replies   string // a script; may be empty
	// scripted says that the script was asked for, and did not merely lie in the folder.
	scripted bool
}

// sourceFlags adds the flags that name files beside the Idea file.
func sourceFlags(c *cobra.Command, s *source) {
	c.Flags().StringVar(&s.instances, "instances", "", "`file` of instances, one a row: .jsonl or .csv")
	c.Flags().StringVar(&s.replies, "replies", "", "`file` of recorded replies that answer in place of an LLM")
	for _, name := range []string{"instances", "replies"} {
		_ = c.MarkFlagFilename(name)
	}
}

// The names under which a folder holds a process's files.
var (
	ideaNames     = []string{"idea.json", "idea.yaml", "idea.yml"}
	instanceNames = []string{"instances.jsonl", "instances.csv"}
	replyNames    = []string{"replies.jsonl"}
)

// find fills in the files that a folder stands for. What was named beside it counts first.
func (s *source) find(given string) error {
	s.given, s.file = given, given
	s.scripted = s.replies != ""
	info, err := os.Stat(given)
	if err != nil {
		return misuse("find %s: %w", given, cause(err))
	}
	if !info.IsDir() {
		return nil
	}
	if s.file, err = one(given, ideaNames); err != nil {
		return err
	}
	if s.file == "" {
		return misuse("find Idea in %s: it holds none of %s", given, strings.Join(ideaNames, ", "))
	}
	if s.instances == "" {
		if s.instances, err = one(given, instanceNames); err != nil {
			return err
		}
	}
	if s.replies == "" {
		s.replies, err = one(given, replyNames)
	}
	return err
}

// one finds the one file of the names that a folder holds; empty where it holds none.
func one(folder string, names []string) (string, error) {
	var found []string
	for _, name := range names {
		info, err := os.Stat(filepath.Join(folder, name))
		if err == nil && !info.IsDir() {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return filepath.Join(folder, found[0]), nil
	}
	return "", misuse("find files in %s: it holds %s; which one counts?", folder, strings.Join(found, " and "))
}

// name is what a process is called whose id nobody gave: the file's or the folder's base name.
func (s *source) name() string {
	path, err := filepath.Abs(s.given)
	if err != nil {
		path = s.given
	}
	base := filepath.Base(path)
	if ext := filepath.Ext(base); slices.Contains([]string{".json", ".yaml", ".yml"}, ext) && len(ext) < len(base) {
		base = strings.TrimSuffix(base, ext)
	}
	return strings.Join(strings.Fields(base), "-")
}

// cause is an I/O error without the path, which the message has already.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
