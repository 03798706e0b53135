package blobs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestWhatLiesInTheStoreIsListedByKind(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	digest, err := s.Put(t.Context(), []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ideas/a/1.json", "ideas/a/2.json", "ideas/a%2Fb/1.json", "sha256/no digest"} {
		if err := s.Write(t.Context(), name, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	items, err := s.ListUnder(t.Context(), "ideas/a/")
	if err != nil || len(items) != 2 || items[0].Size != 2 || time.Since(items[0].WrittenAt) > time.Hour {
		t.Errorf("%+v, %v", items, err)
	}
	folders, err := s.ListFolders(t.Context(), "ideas/")
	slices.Sort(folders)
	if err != nil || !slices.Equal(folders, []string{"ideas/a%2Fb/", "ideas/a/"}) {
		t.Errorf("%v, %v", folders, err)
	}
	values, err := s.ListValues(t.Context())
	if err != nil || len(values) != 1 || values[0].Name != s.Name(t.Context(), digest) {
		t.Errorf("%+v, %v", values, err)
	}
}

func TestWhatIsRemovedIsGoneEvenFromMemory(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	digest, err := s.Put(t.Context(), []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Remove(t.Context(), s.Name(t.Context(), digest)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(t.Context(), digest); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Put(t.Context(), []byte("one")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.GetUncached(t.Context(), digest); err != nil {
		t.Errorf("it was put again and is not there: %v", err)
	}
}

// Whoever removes old values that nobody refers to must not take one that somebody is just about to refer to.
func TestAnOldValueThatIsPutAgainIsNew(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	digest, err := s.Put(t.Context(), []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, s.Name(t.Context(), digest))
	old := time.Now().Add(-2 * MaxPutValueAge)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Put(t.Context(), []byte("one")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || time.Since(info.ModTime()) > MaxPutValueAge/2 {
		t.Errorf("it looks as old as before: %v, %v", info.ModTime(), err)
	}
}

func TestACheckReadsTheStoreWhateverIsRemembered(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	digest, err := s.Put(t.Context(), []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, s.Name(t.Context(), digest)), []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), digest); err != nil {
		t.Errorf("what is remembered is right: %v", err)
	}
	if _, err := s.GetUncached(t.Context(), digest); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
}
