package chain

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
	"processidea/store/blobs"
)

// shelf is a store in a folder, with its chains.
type shelf struct {
	*Store
	values *blobs.Store
	dir    string
}

func newShelf(t testing.TB) *shelf {
	t.Helper()
	return openShelf(t, t.TempDir())
}

func openShelf(t testing.TB, dir string) *shelf {
	t.Helper()
	values, err := blobs.Open(t.Context(), dir, blobs.WithoutFsync())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = values.Close() })
	return &shelf{New(values), values, dir}
}

// cold is the same store as another program sees it that has read nothing yet.
func (s *shelf) cold(t testing.TB) *shelf { return openShelf(t, s.dir) }

// files lists what lies in the store, by name, with its bytes; not the mark, which is no part of any chain.
func (s *shelf) files(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "process-idea-store" {
			return err
		}
		name, _ := filepath.Rel(s.dir, path)
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (s *shelf) bytes(t testing.TB) (total int) {
	for _, data := range s.files(t) {
		total += len(data)
	}
	return total
}

func (s *shelf) write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, filepath.FromSlash(name)), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// object reads a JSON object.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	m, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func jsonOf(v any) string { return string(jsonval.Encode(jsonval.ToJSONValue(v))) }

// noon is when the first Idea of every test is made.
var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// story seals one Idea after the other, as a process does.
type story struct {
	t       testing.TB
	on      *shelf
	process string
	last    string
	at      int
}

func newStory(t testing.TB, on *shelf, process string) *story {
	return &story{t: t, on: on, process: process}
}

// palette is the part of the tests' Ideas that does not change.
const palette = `{
	"meta": {"path": "moderation", "version": "7"},
	"config": {"limits": {"requests": 50}},
	"schema": {"tools": {"judge": {"type": "object", "description": "Says how strong the mood of a text is. It looks at each word for itself, and then at all of them together.",
		"properties": {"text": {"type": "string", "description": "what somebody wrote, as it was written, with everything that is in it, white space and all"}}, "_output": {"type": "string"}}},
		"output": {"type": "object"}}}`

// idea is an Idea with the States of instances, in the order of the tokens, and a solution.
func idea(t testing.TB, states, solution string, tokens ...string) map[string]any {
	i := object(t, palette)
	context := []any{object(t, `{"type": "text", "text": "`+strings.Repeat("Judge every comment. ", 20)+`"}`),
		object(t, `{"type": "input", "rules": ["no spam"]}`)}
	all := object(t, states)
	for _, token := range tokens {
		m := map[string]any{"type": "state", "state": all[token]}
		if token != "" {
			m["_instance"] = token
		}
		context = append(context, m)
	}
	i["context"], i["solution"] = context, object(t, solution)
	return i
}

const noCalls = `{"calls": [], "output": null}`

func (s *story) entry(idea map[string]any, log ...turn.LogEntry) IdeaToSeal {
	return IdeaToSeal{ProcessID: s.process, IdeaNumber: s.at + 1, ParentDigest: s.last, Idea: idea, Log: log,
		Created: noon.Add(time.Duration(s.at) * time.Minute)}
}

// seal puts the next Idea on the chain.
func (s *story) seal(idea map[string]any, log ...turn.LogEntry) {
	s.t.Helper()
	sealed, err := s.on.Seal(s.t.Context(), s.entry(idea, log...))
	if err != nil {
		s.t.Fatal(err)
	}
	s.last, s.at = sealed.Digest, sealed.IdeaNumber
}

// grow seals Ideas of one instance whose State gets a new kilobyte each time.
func (s *story) grow(ideas int) {
	state := map[string]any{"text": "This is wonderful!"}
	for n := range ideas {
		i := idea(s.t, `{"": {}}`, noCalls, "")
		call := map[string]any{"_tool": "judge", "text": "†state.text", "_outputPath": fmt.Sprintf("step%d", s.at)}
		i["solution"] = map[string]any{"calls": []any{call}, "output": nil}
		i["meta"].(map[string]any)["request"] = s.at + 1
		var log []turn.LogEntry
		if n > 0 {
			key := fmt.Sprintf("step%d", s.at-1)
			state[key] = strings.Repeat(string(rune('a'+s.at%26)), 1000)
			log = append(log, turn.LogEntry{Write: statelog.Write{Path: jsonval.Path{key}, Value: state[key],
				Author: fmt.Sprintf("%d.1", s.at), Request: s.at, Index: 1, WrittenAt: noon}})
		}
		whole := make(map[string]any, len(state))
		for k, v := range state {
			whole[k] = v
		}
		i["context"].([]any)[2].(map[string]any)["state"] = whole
		s.seal(i, log...)
	}
}
