package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"processidea/client/ideafiles"
	"processidea/internal/devserver/devtest"
	"processidea/internal/longrun"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/starter/internal/exit"
)

func TestInitWritesAProcessThatRuns(t *testing.T) {
	d := newDesk(t, nil)
	e := d.do("init", "desk", "--without-go").is(exit.Done)
	if !strings.Contains(e.out, "Now: cd desk; starter run .\n") {
		t.Error(e.out)
	}
	for _, name := range []string{"main.go", "go.mod"} {
		if _, err := os.Stat(filepath.Join(d.dir, "desk", name)); err == nil {
			t.Errorf("there is a %s", name)
		}
	}
	if e := d.do("check", "desk").is(exit.Done); strings.Contains(e.out+e.err, "warning") {
		t.Error(e.out, e.err)
	}
	soundBySchema(t, filepath.Join(d.dir, "desk", "idea.json"))
	d.dev()
	d.do("run", "desk", "--id", "first", "--detach").is(exit.Done)
	var waiting []protocol.Approval
	d.eventually("somebody is waited for", func() bool {
		d.do("approvals", "first", "--json").json(&waiting)
		return len(waiting) == 1
	})
	d.do("approve", "first", "1.2", "--by", "ann").is(exit.Done)
	r := d.do("run", "desk", "--id", "first", "--json").is(exit.Done).result()
	if state := jsonval.AsObject(r.Instances[""].State); state["mood"] != "negative" ||
		jsonval.AsObject(state["answer"])["noted"] == nil {
		t.Errorf("%v", state)
	}
}

// A table of one's own becomes a process whose Tools are servers'.
func TestInitMakesABeginningOfATable(t *testing.T) {
	var bodies sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies.Store(r.URL.String()+" "+string(body), true)
		fmt.Fprint(w, `{"ok": true}`)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	d := newDesk(t, map[string]string{
		"rows.csv":  "Order No.;name;amount;paid\n0012;Ada;9007199254740993;\n0013;Bo;2.50;true\n\n",
		"latin.csv": "name\nM\xfcller\n",
		"rows.txt":  "name\nAda\n",
	})
	d.set("PROCESSIDEA_HTTP_ALLOW=" + host)
	d.do("init", "chase", "--csv", "rows.csv").is(exit.Usage).complains("--csv needs --http")
	d.do("init", "chase", "--http", "--csv", "none.csv").is(exit.Usage).complains("none.csv")
	d.do("init", "chase", "--http", "--csv", "latin.csv").is(exit.Usage).complains("latin.csv:2", "UTF-8")
	d.do("init", "chase", "--http", "--csv", "rows.txt").is(exit.Usage).complains("ends with .csv")
	d.do("init", "chase", "--http", "--checkout", ".").is(exit.Usage).complains("exclude each other")
	// Its servers are not there yet: what can be done at once is to play it without them.
	if e := d.do("init", "made", "--http").is(exit.Done); !strings.Contains(e.out, "Now: cd made; starter simulate .\n") {
		t.Error(e.out)
	}
	d.do("init", "--http", "--csv", "rows.csv").is(exit.Done)
	d.do("check", "rows").is(exit.Done)
	for _, name := range []string{"made", "chase"} {
		if name == "chase" {
			d.do("init", name, "--http", "--csv", "rows.csv").is(exit.Done)
		}
		file := filepath.Join(d.dir, name, "idea.json")
		soundBySchema(t, file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("127.0.0.1:8080"), []byte(host))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if e := d.do("check", name).is(exit.Done); strings.Contains(e.out+e.err, "warning") {
			t.Error(e.out, e.err)
		}
	}
	d.dev()
	d.do("run", "chase", "--id", "first", "--detach").is(exit.Done)
	var waiting []protocol.Approval
	d.eventually("two are waited for", func() bool {
		d.do("approvals", "first", "--json").json(&waiting)
		return len(waiting) == 2
	})
	for _, a := range waiting {
		if !strings.Contains(fmt.Sprint(a.State), "found") {
			t.Errorf("%s does not wait for what is looked up", a.CallID)
		}
		d.do("approve", "first", a.CallID, "--by", "ann").is(exit.Done)
	}
	d.do("run", "chase", "--id", "first", "--json").is(exit.Done)
	for _, want := range []string{
		"/lookUp?Order%20No.=0012 ", `/act {"Order No.":"0012","amount":9007199254740993,"name":"Ada","paid":null}`,
		`/act {"Order No.":"0013","amount":2.50,"name":"Bo","paid":true}`,
	} {
		if _, ok := bodies.Load(want); !ok {
			bodies.Range(func(k, _ any) bool { t.Log(k); return true })
			t.Errorf("the server was not asked %q", want)
		}
	}
}

// soundBySchema checks an Idea file with the schema that it names.
func soundBySchema(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	idea, err := jsonval.DecodeObject(data)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), idea["$schema"].(string)))
	if err != nil || string(text) != string(ideafiles.Schema) {
		t.Fatalf("the schema that it names is not there, or another: %v", err)
	}
	source, err := jsonval.DecodeObject(text)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.CompileSchema(source)
	if err == nil {
		err = schema.Validate(idea)
	}
	if err != nil {
		t.Error(err)
	}
	if _, problems := ideafile.ReadIdea(idea); len(problems) > 0 {
		t.Error(problems)
	}
}

func TestInitWritesAGoProgramWhoseTestPasses(t *testing.T) {
	d := newDesk(t, nil)
	d.set("PATH=" + os.Getenv("PATH"))
	e := d.do("init", "Desk", "--json").is(exit.Done)
	var said struct {
		Files []string
		Go    bool
	}
	if err := json.Unmarshal([]byte(e.out), &said); err != nil || !said.Go || len(said.Files) != 5 {
		t.Fatalf("%v: %s", err, e.out)
	}
	soundBySchema(t, filepath.Join(d.dir, "Desk", "idea.json"))
	commands := [][]string{{"mod", "tidy", "-diff"}, {"test", "-vet=off", "./..."}}
	if longrun.Enabled() {
		commands = append(commands, []string{"vet", "./..."}) // which looks at every dependency
	}
	for _, args := range commands {
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir, c.Env = filepath.Join(d.dir, "Desk"), append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, said)
		}
	}
	unformatted, err := exec.CommandContext(t.Context(), "gofmt", "-l", filepath.Join(d.dir, "Desk")).Output()
	if err != nil || len(unformatted) > 0 {
		t.Errorf("%v: not formatted: %s", err, unformatted)
	}
	if !longrun.Enabled() {
		return // linking it takes a minute, and the example of a program of one's own is called by another test
	}
	d.program = devtest.BuildProgram(t, filepath.Join(d.dir, "Desk"), ".")
	d.do("check", "Desk").is(exit.Done).tells("lookUpCustomer is run by the Go function lookUpCustomer",
		"nothing is wrong")
}

func TestInitRefusesWhatItCannotDo(t *testing.T) {
	d := newDesk(t, nil)
	for name, text := range map[string]string{"full/a.txt": "a", "other/go.mod": "module other\n"} {
		file := filepath.Join(d.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.do("init").is(exit.Usage).complains("init: NAME is missing; want starter init NAME")
	d.do("init", "full").is(exit.Usage).complains("full is not empty")
	d.do("init", "two words", "--without-go").is(exit.Usage).complains(`"two words" is not a valid name`)
	d.do("init", "desk", "--checkout",
		"other").is(exit.Usage).complains("other is not a checkout of Process Idea: its go.mod names another module")
	d.do("init", "desk", "--checkout", "none").is(exit.Usage).complains("none is not a checkout of Process Idea")
	d.do("init", "desk", "--checkout", "other", "--without-go").is(exit.Usage).complains("exclude each other")
	if _, err := os.Stat(filepath.Join(d.dir, "desk")); err == nil {
		t.Error("there is a folder")
	}
	d.set("PATH=" + t.TempDir())
	d.do("init", "desk").is(exit.Done).complains("init desk: without a Go program: the command go is not in PATH")
}
