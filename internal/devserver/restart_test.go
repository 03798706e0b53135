package devserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/internal/devserver"
)

func TestAnOpenWorkflowIsStillOpenAfterStopAndStart(t *testing.T) {
	o := devserver.Options{Dir: t.TempDir(), UIPort: -1}
	s := start(t, o)
	c, err := connect(s.Address(), s.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	if err := openGreet(within(t), c, "lasting"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	s.Stop()
	finishGreet(t, dial(t, start(t, o)), "lasting", "again")
}

func TestAnOpenWorkflowIsStillOpenAfterAKill(t *testing.T) {
	o := devserver.Options{Dir: t.TempDir(), UIPort: -1}
	holding := perform(t, "hold", o.Dir)
	if line := holding.line(t); line != "open" {
		t.Fatalf("the other process said %q", line)
	}
	holding.kill(t)
	finishGreet(t, dial(t, start(t, o)), "held", "survivor")
}

func TestADraftOfTheDatabaseIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	// What a kill while the tables are made leaves behind.
	if err := os.WriteFile(filepath.Join(dir, "temporal.db.new"), []byte("half a data"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, devserver.Options{Dir: dir, UIPort: -1})
}

func TestAFolderThatWasDeletedStartsEmpty(t *testing.T) {
	o := devserver.Options{Dir: filepath.Join(t.TempDir(), "data"), UIPort: -1}
	for range 2 {
		s := start(t, o)
		c, err := connect(s.Address(), s.Namespace())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.DescribeWorkflowExecution(within(t), "gone", ""); err == nil {
			t.Fatal("the workflow of the deleted folder is still there")
		}
		if err := openGreet(within(t), c, "gone"); err != nil {
			t.Fatal(err)
		}
		c.Close()
		s.Stop()
		if err := os.RemoveAll(o.Dir); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnyFolderNameWorks(t *testing.T) {
	parent := t.TempDir()
	for _, name := range []string{"a b", "50%41", "what?", "c#", "a&b=c", "é;+'\"", "x/y"} {
		t.Run(strings.ReplaceAll(name, "/", "|"), func(t *testing.T) {
			dir := filepath.Join(parent, name)
			s := start(t, devserver.Options{Dir: dir, UIPort: -1})
			if _, err := os.Stat(filepath.Join(dir, "temporal.db")); err != nil {
				t.Error(err)
			}
			s.Stop()
		})
	}
}

func TestOnlyTheOwnerReadsTheDatabase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	start(t, devserver.Options{Dir: dir, UIPort: -1})
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "temporal.db"): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", path, got, want)
		}
	}
}
