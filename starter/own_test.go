package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/internal/devserver/devtest"
	"processidea/model/loop"
)

// TestAProgramOfOnesOwnDoesEverythingWithItsTools builds the example as its user would, in its own module.
func TestAProgramOfOnesOwnDoesEverythingWithItsTools(t *testing.T) {
	d := newDesk(t, nil)
	example, err := filepath.Abs(filepath.Join("..", "examples", "custom-worker"))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "shop")
	if err := os.Rename(devtest.BuildProgram(t, example, "."), program); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(d.dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	d.program = program
	d.do("check", ".").is(0).tells("checkStock is run by the Go function checkStock", "nothing is wrong")
	r := d.do("run", ".", "--json", "--ui-port=-1").is(0).result()
	if reserved := r.Instances[""].State; r.Status != loop.StatusCompleted || r.Calls.Done != 4 {
		t.Errorf("%+v with %v", r, reserved)
	}
	d.do("simulate", ".", "--json").is(0)
	d.do("worker", "ready", "--listen", "127.0.0.1:1").is(1)

	wrong, err := os.ReadFile(filepath.Join(d.dir, "idea.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(wrong), `"_activity": "checkStock"`, `"_activity": "chekStock"`, 1)
	if err := os.WriteFile(filepath.Join(d.dir, "idea.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := d.do("run", ".").is(2); !strings.Contains(e.err,
		`shop: check .: $.schema.tools.checkStock._activity: no activity "chekStock" is registered; did you mean checkStock?`) {
		t.Error(e.err)
	}
}
