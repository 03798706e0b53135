package devserver_test

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"processidea/devserver"
	"processidea/devserver/devtest"
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
	s := devtest.Start(t)
	s.Stop()
	_, port, _ := strings.Cut(s.Address(), ":")
	free := number(t, port)
	_, err := devserver.Start(within(t), devserver.Options{Dir: t.TempDir(), Port: free, UIPort: free})
	wantError(t, err, "devserver: check port "+port)
}

func TestAGivenPortIsUsed(t *testing.T) {
	s := devtest.Start(t)
	s.Stop()
	_, port, _ := strings.Cut(s.Address(), ":")
	again := start(t, devserver.Options{Dir: t.TempDir(), Port: number(t, port), UIPort: -1})
	if again.Address() != s.Address() {
		t.Errorf("the server listens on %s, want %s", again.Address(), s.Address())
	}
}

func TestAGivenUIPortIsUsed(t *testing.T) {
	dir := t.TempDir()
	s := start(t, devserver.Options{Dir: dir})
	_, port, _ := strings.Cut(strings.TrimPrefix(s.UIURL(), "http://"), ":")
	s.Stop()
	again := start(t, devserver.Options{Dir: dir, UIPort: number(t, port)})
	if again.UIURL() != s.UIURL() {
		t.Errorf("the UI is at %s, want %s", again.UIURL(), s.UIURL())
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

func number(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
