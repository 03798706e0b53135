package devserver

import (
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestAPortThatIsTakenAtTheLastMomentIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", loopbackIP+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	free, err := choosePorts(Options{UIPort: -1})
	if err != nil {
		t.Fatal(err)
	}
	for name, move := range map[string]func(*ports, int){
		"frontend": func(p *ports, to int) { p.frontend = to },
		"history":  func(p *ports, to int) { p.history = to },
		"matching": func(p *ports, to int) { p.matching = to },
		"worker":   func(p *ports, to int) { p.worker = to },
	} {
		t.Run(name, func(t *testing.T) {
			p := free
			move(&p, l.Addr().(*net.TCPAddr).Port)
			db, err := openDatabase(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			_, err = runTemporal(staticConfig(db, p), slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), "address already in use") {
				t.Errorf("error %v, want that the address is in use", err)
			}
		})
	}
}

func TestTheUIIsAtItsUsualPortUnlessThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", loopbackIP+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free, err := net.Listen("tcp", loopbackIP+":0")
	if err != nil {
		t.Fatal(err)
	}
	usual := []int{taken.Addr().(*net.TCPAddr).Port, free.Addr().(*net.TCPAddr).Port}
	_ = free.Close()
	if p, err := choosePorts(Options{DefaultUIPorts: usual}); err != nil || p.ui != usual[1] {
		t.Errorf("%d of %d, %v", p.ui, usual, err)
	}
	if p, err := choosePorts(Options{DefaultUIPorts: usual[:1]}); err != nil || p.ui == 0 || p.ui == usual[0] {
		t.Errorf("%d, where none of %d is free, %v", p.ui, usual[:1], err)
	}
}

func TestEveryPartListensOnLoopback(t *testing.T) {
	p, err := choosePorts(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range staticConfig(sqlConfig("x", "wal", "1"), p).Services {
		if ip := net.ParseIP(s.RPC.BindOnIP); !ip.IsLoopback() || s.RPC.HTTPPort != 0 {
			t.Errorf("%s listens on %v and on the HTTP port %d", name, ip, s.RPC.HTTPPort)
		}
	}
	if ui := uiConfig(p.ui, "", Options{}); !net.ParseIP(ui.Host).IsLoopback() {
		t.Errorf("the UI listens on %s", ui.Host)
	}
}
