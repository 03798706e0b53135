package devserver_test

import (
	"net"
	"strconv"
	"testing"

	"processidea/internal/devserver"
	"processidea/internal/devserver/devtest"
)

func TestATakenPortIsAnError(t *testing.T) {
	port := takenPort(t)
	for name, o := range map[string]devserver.Options{
		"Temporal": {Port: port, UIPort: -1},
		"UI":       {UIPort: port},
	} {
		t.Run(name, func(t *testing.T) {
			o.Dir = t.TempDir()
			_, err := devserver.Start(within(t), o)
			wantError(t, err, "devserver: check port ")
			// Nothing is left behind that would keep the folder.
			o.Port, o.UIPort = 0, -1
			start(t, o)
		})
	}
}

func TestOnePortForBothIsAnError(t *testing.T) {
	free := devtest.FreePort(t)
	_, err := devserver.Start(within(t), devserver.Options{Dir: t.TempDir(), Port: free, UIPort: free})
	wantError(t, err, "devserver: check port "+strconv.Itoa(free))
}

func TestGivenPortsAreUsed(t *testing.T) {
	port, ui := devtest.FreePort(t), devtest.FreePort(t)
	s := start(t, devserver.Options{Dir: t.TempDir(), Port: port, UIPort: ui})
	if want := "127.0.0.1:" + strconv.Itoa(port); s.Address() != want {
		t.Errorf("the server listens on %s, want %s", s.Address(), want)
	}
	if want := "http://127.0.0.1:" + strconv.Itoa(ui); s.UIURL() != want {
		t.Errorf("the UI is at %s, want %s", s.UIURL(), want)
	}
}

// takenPort is a port that something else listens on until the test is over.
func takenPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
