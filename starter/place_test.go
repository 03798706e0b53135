package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// noTemporal clears what could say where Temporal is.
func noTemporal(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "TEMPORAL_") || strings.HasPrefix(name, "PROCESSIDEA_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", filepath.Join(t.TempDir(), "none.toml"))
}

func placeOf(t *testing.T, data string) place {
	t.Helper()
	p, err := (&app{data: data}).place()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWithNothingSetTheServerIsEmbedded(t *testing.T) {
	noTemporal(t)
	t.Setenv("TEMPORAL_ADDRESS", "")
	t.Chdir(t.TempDir())
	p := placeOf(t, "")
	here, _ := os.Getwd()
	if p.remote != nil || p.data != filepath.Join(here, ".processidea") || p.store != filepath.Join(p.data, "store") {
		t.Errorf("%+v", p)
	}
}

func TestTheFlagCountsBeforeTheVariable(t *testing.T) {
	noTemporal(t)
	t.Setenv("PROCESSIDEA_DATA", "/from/variable")
	if p := placeOf(t, ""); p.data != "/from/variable" || p.store != "/from/variable/store" {
		t.Errorf("%+v", p)
	}
	if p := placeOf(t, "/from/flag"); p.data != "/from/flag" {
		t.Errorf("%+v", p)
	}
}

func TestTheStoreMayLieElsewhere(t *testing.T) {
	noTemporal(t)
	t.Setenv("PROCESSIDEA_STORE", "s3://bucket")
	if p := placeOf(t, ""); p.store != "s3://bucket" {
		t.Error(p.store)
	}
	t.Chdir(t.TempDir())
	t.Setenv("PROCESSIDEA_STORE", "near")
	if p := placeOf(t, "/far"); !filepath.IsAbs(p.store) || filepath.Base(p.store) != "near" {
		t.Error(p.store)
	}
}

func TestAnythingThatIsSetMeansARemoteServer(t *testing.T) {
	for name, value := range map[string]string{"TEMPORAL_ADDRESS": "far:7233", "TEMPORAL_NAMESPACE": "mine", "TEMPORAL_API_KEY": "k", "TEMPORAL_TLS": "true"} {
		t.Run(name, func(t *testing.T) {
			noTemporal(t)
			t.Setenv(name, value)
			p := placeOf(t, "")
			if p.remote == nil || p.remote.HostPort == "" || p.remote.Namespace == "" {
				t.Errorf("%+v", p.remote)
			}
		})
	}
}

func TestAProfileMeansARemoteServer(t *testing.T) {
	noTemporal(t)
	file := filepath.Join(folder(t, map[string]string{"t.toml": "[profile.default]\naddress = \"far:7233\"\nnamespace = \"mine\"\n"}), "t.toml")
	t.Setenv("TEMPORAL_CONFIG_FILE", file)
	if p := placeOf(t, ""); p.remote == nil || p.remote.HostPort != "far:7233" || p.remote.Namespace != "mine" {
		t.Errorf("%+v", p.remote)
	}
	t.Setenv("TEMPORAL_PROFILE", "other")
	var e *exit
	if _, err := (&app{}).place(); !errors.As(err, &e) || e.code != exitUsage {
		t.Errorf("an unknown profile gives %v", err)
	}
}

func TestTheFolderIsHeldByOneAtATime(t *testing.T) {
	p := place{data: t.TempDir()}
	unlock, ok, err := p.lock()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, _ := p.lock(); ok || p.abandoned() {
		t.Error("the folder was locked twice")
	}
	unlock()
	if !p.abandoned() {
		t.Error("the folder is still held")
	}
}

func TestWhatAKilledProgramLeftIsNoServer(t *testing.T) {
	p := place{data: t.TempDir()}
	if _, ok := p.neighbour(); ok {
		t.Error("an empty folder has a server")
	}
	gone, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^$"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Wait(); err != nil {
		t.Fatal(err)
	}
	withdraw, err := p.announce(neighbour{Address: "127.0.0.1:1", PID: gone.Pid})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.neighbour(); ok {
		t.Error("a dead program has a server")
	}
	if _, err := p.announce(neighbour{Address: "127.0.0.1:1", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	if n, ok := p.neighbour(); !ok || n.Address != "127.0.0.1:1" {
		t.Errorf("a live program has no server: %+v", n)
	}
	withdraw()
	if _, ok := p.neighbour(); ok {
		t.Error("a server that was withdrawn is still there")
	}
}

func TestOnlyLookingMakesNoFolder(t *testing.T) {
	p := place{data: filepath.Join(t.TempDir(), "none"), store: filepath.Join(t.TempDir(), "store")}
	var e *exit
	if _, err := p.visit(t.Context()); !errors.As(err, &e) || e.code != exitUnreachable || !strings.Contains(err.Error(), p.data) {
		t.Errorf("looking gives %v", err)
	}
	if _, err := p.openArchive(t.Context()); !errors.As(err, &e) || e.code != exitUnreachable {
		t.Errorf("looking gives %v", err)
	}
	for _, dir := range []string{p.data, p.store} {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("looking made %s", dir)
		}
	}
}

func TestAnIDNamesOneProcess(t *testing.T) {
	for _, id := range []string{"refund-17", "a b", "①", "v1.2", "%41"} {
		if err := checkID(id); err != nil {
			t.Errorf("%q is refused: %v", id, err)
		}
	}
	for _, id := range []string{"", "a/b", ".", "..", "~part", "a\nb", " a", "\xff", strings.Repeat("x", 201)} {
		if checkID(id) == nil {
			t.Errorf("%q is taken", id)
		}
	}
	seen := map[string]bool{}
	for _, name := range []string{"a", "a", "a/b", strings.Repeat("①", 300), "\xff"} {
		id := newID(name)
		if err := checkID(id); err != nil || seen[id] {
			t.Errorf("the id %q was made up: %v", id, err)
		}
		seen[id] = true
	}
}

func TestTheCommandLineThatGoesOnCanBePasted(t *testing.T) {
	for arg, want := range map[string]string{"a-b_c.json": "a-b_c.json", "a b": "'a b'", "": "''", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "①": "'①'"} {
		if got := quote(arg); got != want {
			t.Errorf("%q is written %s, want %s", arg, got, want)
		}
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	pause(t.Context(), time.Nanosecond)
	ctx, cancel := contextOf(t)
	cancel()
	pause(ctx, time.Hour)
}
