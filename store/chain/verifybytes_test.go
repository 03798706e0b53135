package chain

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// classOf names what a byte is in JSON.
func classOf(b byte) string {
	switch {
	case b >= '0' && b <= '9':
		return "digit"
	case b >= 'a' && b <= 'f':
		return "hex letter"
	case b >= 'g' && b <= 'z':
		return "letter"
	case b >= 'A' && b <= 'Z':
		return "capital"
	case b >= 0x80:
		return "part of another letter"
	case bytes.IndexByte([]byte(`{}[]`), b) >= 0:
		return "bracket"
	}
	return fmt.Sprintf("%q", b)
}

// changesOf gives some changes of one byte: of every class of bytes the first, the middle and the last, each to a byte
// of the same class, where the text stays what it looks like, and to one that differs in its lowest bit.
func changesOf(data []byte) map[string][]byte {
	all := map[string][]int{}
	for i, b := range data {
		all[classOf(b)] = append(all[classOf(b)], i)
	}
	changed := map[string][]byte{}
	for class, at := range all {
		for _, i := range []int{at[0], at[len(at)/2], at[len(at)-1]} {
			for _, to := range []byte{data[i] ^ 1, sameClass(data[i])} {
				next := bytes.Clone(data)
				if next[i] = to; to != data[i] {
					changed[fmt.Sprintf("%s %d: %q became %q", class, i, data[i], to)] = next
				}
			}
		}
	}
	return changed
}

// sameClass gives another byte of the same class, where there is one.
func sameClass(b byte) byte {
	for to := byte(' '); to < math.MaxUint8; to++ {
		if to != b && classOf(to) == classOf(b) {
			return to
		}
	}
	return b
}

// forkedChain is a chain with all that an Idea can hold: an origin, a record with results and decisions, ends of
// instances, numbers, other letters, and values in the store.
func forkedChain(t *testing.T) *shelf {
	s := smallChain(t)
	whole, err := s.Load(t.Context(), "p", 4)
	if err != nil {
		t.Fatal(err)
	}
	i := ForkedIdea(whole)
	value := s.stored(t, []any{"größer", strings.Repeat("x", 600), 1.5e10, -3, true, nil, `"\` + "\n"})
	i["context"] = append(i["context"].([]any), object(t, `{"type": "plan", "plan": [{"_tool": "judge", "text": "†state.a"}], "record": {"1.1": {"done": ["①"],
		"results": {"①": 12345678901234567890}, "decided": [{"token": "①", "decision": {"decision": "approve", "by": "Ada", "at": "2026-01-02T03:04:05Z"}}]}}}`),
		object(
			t,
			`{"type": "state", "_instance": "②", "_status": "failed", "_error": {"code": "x", "message": "y"}, "state": {"a": 0.1}}`),
		map[string]any{"type": "state", "_instance": "③", "state": map[string]any{"v": value}})
	story := newStory(t, s, "fork")
	for n := range 3 {
		i["meta"].(map[string]any)["request"] = n + 2
		story.seal(i, turn.LogEntry{InstanceToken: "③", Write: statelog.Write{Path: jsonval.Path{"v"}, Value: value,
			Author: "1.1@③", WrittenAt: noon}})
	}
	return s
}

// harmedFirst gives the first Idea of a process that refers to a file of the store, itself or by what it refers to; 0:
// none does.
func harmedFirst(files map[string][]byte, process, name string) int {
	for at := 1; ; at++ {
		manifest, there := files[ManifestName(process, at)]
		if !there {
			return 0
		}
		if ManifestName(process, at) == name || refers(files, manifest, name) {
			return at
		}
	}
}

func refers(files map[string][]byte, data []byte, name string) bool {
	for other, inside := range files {
		_, digest, isValue := strings.Cut(other, "sha256/")
		if _, digest, _ = strings.Cut(digest, "/"); !isValue || !bytes.Contains(data, []byte(digest)) {
			continue
		}
		if other == name || refers(files, inside, name) {
			return true
		}
	}
	return false
}

func TestAChangeOfAByteOfAnyClassIsFoundAndItsIdeaAndPartNamed(t *testing.T) {
	t.Parallel()
	s := forkedChain(t)
	files, tried := s.files(t), 0
	for name, data := range files {
		at := harmedFirst(files, "fork", name)
		for what, changed := range changesOf(data) {
			s.write(t, name, changed)
			r := s.cold(t).verified(t, "fork")
			if (at == 0 && !r.IsIntact) ||
				(at > 0 && (r.IsIntact || len(r.Broken) != 1 || r.Broken[0].Item != name ||
					r.Broken[0].FirstIdea != at)) {
				t.Fatalf("%s (Idea %d): %s: %+v", name, at, what, r)
			}
			if at > 0 {
				tried++
			}
		}
		s.write(t, name, data)
	}
	if tried < 300 {
		t.Errorf("only %d changes were tried", tried)
	}
}

func TestAChangeOfAByteOfAnyClassOfAnExportIsFoundAndItsIdeaNamed(t *testing.T) {
	t.Parallel()
	data := exported(t, forkedChain(t), "fork")
	lines := bytes.SplitAfter(data, []byte("\n"))
	for n, line := range lines[:len(lines)-1] {
		for what, changed := range changesOf(line) {
			all := append([][]byte{}, lines...)
			all[n] = changed
			r, err := VerifyExport(bytes.NewReader(bytes.Join(all, nil)), nil)
			if n == 0 && errors.Is(err, ErrNoExport) {
				continue
			}
			part, found := fmt.Sprintf("line %d", n+1), false
			if err == nil {
				for _, b := range r.Broken {
					found = found || (b.Item == part && b.FirstIdea == n)
				}
			}
			if !found || r.IsIntact {
				t.Fatalf("%s: %s: %+v, %v", part, what, r, err)
			}
		}
	}
}
