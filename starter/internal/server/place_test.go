package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/starter/internal/exit"
)

// noTemporal clears what could say where Temporal is.
func noTemporal(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "TEMPORAL_") ||
			strings.HasPrefix(name, "PROCESSIDEA_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", os.DevNull) // and not that of whoever runs the test
}

func placeOf(t *testing.T, dataFolder string) Place {
	t.Helper()
	p, err := FindPlace(dataFolder, "", nil)
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
	if p.RemoteTemporal != nil || p.DataFolder != filepath.Join(here, ".processidea") ||
		p.StorePlace != filepath.Join(p.DataFolder, "store") {
		t.Errorf("%+v", p)
	}
}

func TestTheFlagCountsBeforeTheVariable(t *testing.T) {
	noTemporal(t)
	t.Setenv("PROCESSIDEA_DATA", "/from/variable")
	if p := placeOf(t, ""); p.DataFolder != "/from/variable" || p.StorePlace != "/from/variable/store" {
		t.Errorf("%+v", p)
	}
	if p := placeOf(t, "/from/flag"); p.DataFolder != "/from/flag" {
		t.Errorf("%+v", p)
	}
}

func TestTheStoreMayLieElsewhere(t *testing.T) {
	noTemporal(t)
	t.Setenv("PROCESSIDEA_STORE", "s3://bucket")
	if p := placeOf(t, ""); p.StorePlace != "s3://bucket" {
		t.Error(p.StorePlace)
	}
	t.Chdir(t.TempDir())
	t.Setenv("PROCESSIDEA_STORE", "near")
	if p := placeOf(t, "/far"); !filepath.IsAbs(p.StorePlace) || filepath.Base(p.StorePlace) != "near" {
		t.Error(p.StorePlace)
	}
}

func TestAnythingThatIsSetMeansARemoteServer(t *testing.T) {
	for name, value := range map[string]string{"TEMPORAL_ADDRESS": "far:7233", "TEMPORAL_NAMESPACE": "mine",
		"TEMPORAL_API_KEY": "k", "TEMPORAL_TLS": "true"} {
		t.Run(name, func(t *testing.T) {
			noTemporal(t)
			t.Setenv(name, value)
			p := placeOf(t, "")
			if p.RemoteTemporal == nil || p.RemoteTemporal.HostPort == "" || p.RemoteTemporal.Namespace == "" {
				t.Errorf("%+v", p.RemoteTemporal)
			}
		})
	}
}

func TestAProfileMeansARemoteServer(t *testing.T) {
	noTemporal(t)
	file := filepath.Join(t.TempDir(), "t.toml")
	if err := os.WriteFile(file, []byte("[profile.default]\naddress = \"far:7233\"\nnamespace = \"mine\"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", file)
	if p := placeOf(t, ""); p.RemoteTemporal == nil || p.RemoteTemporal.HostPort != "far:7233" ||
		p.RemoteTemporal.Namespace != "mine" {
		t.Errorf("%+v", p.RemoteTemporal)
	}
	t.Setenv("TEMPORAL_PROFILE", "other")
	var e *exit.Error
	// What needs the store alone goes on.
	if _, err := placeOf(t, "").OpenSession(t.Context(), HostOptions{}); !errors.As(err, &e) || e.Code != exit.Usage {
		t.Errorf("an unknown profile gives %v", err)
	}
}

func TestTheFolderIsHeldByOneAtATime(t *testing.T) {
	p := Place{DataFolder: t.TempDir()}
	unlock, ok, err := p.lockFolder()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, ok, _ := p.lockFolder(); ok || p.IsServerAbandoned() {
		t.Error("the folder was locked twice")
	}
	unlock()
	if !p.IsServerAbandoned() {
		t.Error("the folder is still held")
	}
}

func TestWhatAKilledProgramLeftIsNoServer(t *testing.T) {
	p := Place{DataFolder: t.TempDir()}
	if _, ok := p.RunningServer(); ok {
		t.Error("an empty folder has a server")
	}
	gone, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^$"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Wait(); err != nil {
		t.Fatal(err)
	}
	withdraw, err := p.announceServer(ServerInfo{Address: "127.0.0.1:1", PID: gone.Pid})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.RunningServer(); ok {
		t.Error("a dead program has a server")
	}
	if _, err := p.announceServer(ServerInfo{Address: "127.0.0.1:1", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	if n, ok := p.RunningServer(); !ok || n.Address != "127.0.0.1:1" {
		t.Errorf("a live program has no server: %+v", n)
	}
	withdraw()
	if _, ok := p.RunningServer(); ok {
		t.Error("a server that was withdrawn is still there")
	}
}

func TestOnlyLookingMakesNoFolder(t *testing.T) {
	p := Place{DataFolder: filepath.Join(t.TempDir(), "none"), StorePlace: filepath.Join(t.TempDir(), "store")}
	var e *exit.Error
	if _, err := p.Connect(t.Context()); !errors.As(err, &e) || e.Code != exit.Unreachable ||
		!strings.Contains(err.Error(), p.DataFolder) {
		t.Errorf("looking gives %v", err)
	}
	if _, err := p.OpenArchive(t.Context()); !errors.As(err, &e) || e.Code != exit.Unreachable {
		t.Errorf("looking gives %v", err)
	}
	for _, dir := range []string{p.DataFolder, p.StorePlace} {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("looking made %s", dir)
		}
	}
}

// A backup is a copy of the folder, with the file that tells of the server and its store.
func TestOneSeesTheStoreThatWasNamedAndNotThatOfAServer(t *testing.T) {
	noTemporal(t)
	live := placeOf(t, t.TempDir())
	unlock, ok, err := live.lockFolder()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer unlock()
	tell := ServerInfo{Address: "127.0.0.1:1", PID: os.Getpid(), StorePlace: "/live/store"}
	for _, data := range []string{live.DataFolder, t.TempDir()} {
		withdraw, err := Place{DataFolder: data}.announceServer(tell)
		if err != nil {
			t.Fatal(err)
		}
		defer withdraw()
		p := placeOf(t, data)
		want := "/live/store"
		if data != live.DataFolder {
			want = filepath.Join(data, "store")
		}
		if p.StorePlaceInUse() != want {
			t.Errorf("%s instead of %s", p.StorePlaceInUse(), want)
		}
	}
	p, err := FindPlace(live.DataFolder, "/backup", nil)
	if err != nil || p.StorePlaceInUse() != "/backup" {
		t.Errorf("%s, %v", p.StorePlaceInUse(), err)
	}
	t.Setenv("PROCESSIDEA_STORE", "/backup")
	if p := placeOf(t, live.DataFolder); p.StorePlaceInUse() != "/backup" {
		t.Error(p.StorePlaceInUse())
	}
	if err := os.Mkdir(filepath.Join(live.DataFolder, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	var e *exit.Error
	if _, err := FindPlace(live.DataFolder, "", nil); !errors.As(err, &e) || e.Code != exit.Usage ||
		!strings.Contains(err.Error(), "--store") {
		t.Errorf("two stores give %v", err)
	}
}
