package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"processidea/internal/safego/safegotest"
	"processidea/protocol"
	"processidea/starter/internal/exit"
)

// panicsAt lets one goroutine of a place panic in each program that is called.
func (d *desk) panicsAt(place string) *desk {
	return d.at(d.dir).set(safegotest.PanicsVariable + `={"` + place + `": 0}`)
}

// logged reports whether the log says that a place panicked, with the stack.
func (d *desk) logged(place string) bool {
	log, _ := os.ReadFile(filepath.Join(d.dir, ".processidea", "worker.log"))
	return strings.Contains(string(log), "level=ERROR msg=\"a goroutine panicked\" place="+place+
		` panic="a fault that was put in" stack="processidea/internal/safego`)
}

func TestAServerThatPanicsWhenItStartsIsExitCode4(t *testing.T) {
	for _, place := range []string{"devserver.temporal", "devserver.ui"} {
		t.Run(place, func(t *testing.T) {
			// It is about the embedded server.
			d := newDesk(t, judge()).ownServer()
			d.panicsAt(place).do("run", ".", "--id", "p").is(exit.Unreachable).quiet().complains("start server in",
				place+" panicked: a fault that was put in")
			if !d.logged(place) {
				t.Error("the log does not say it")
			}
		})
	}
}

func TestACodecServerThatPanicsEndsItsVerbAloneWithTheReason(t *testing.T) {
	d := newDesk(t, judge())
	broken := d.panicsAt("starter.codec")
	broken.do("codec", "--listen=127.0.0.1:0").is(exit.Failed).quiet().complains(
		"serve payloads: starter.codec panicked: a fault that was put in")
	broken.do("run", ".", "--id", "p", noUI).is(exit.Done)
	if !d.logged("starter.codec") {
		t.Error("the log does not say it")
	}
}

func TestARunThatCannotFollowItsProcessEndsWithTheReasonAndTheProcessGoesOn(t *testing.T) {
	d := newDesk(t, judge())
	d.panicsAt("starter.follow").do("run", ".", "--id", "p", noUI).is(exit.Failed).quiet().complains(
		"starter.follow panicked: a fault that was put in")
	if !d.logged("starter.follow") {
		t.Error("the log does not say it")
	}
	d.do("run", ".", "--id", "p", noUI).is(exit.Done).complains("attach to p")
}

func TestARunThatCannotReadWhatIsTypedSaysSoAndGoesOn(t *testing.T) {
	d := newDesk(t, signed("true")).set("TERM=xterm")
	run := d.panicsAt("starter.person").typist("run", ".", "--id", "p", noUI)
	d.eventually("it says so", func() bool {
		return strings.Contains(run.seen.String(), "starter: what is typed here is not read any more: "+
			"starter.person panicked: a fault that was put in; to see what waits: starter approvals p")
	})
	d.eventually("all wait", func() bool {
		var waiting []protocol.Approval
		d.do("approvals", "p", "--json").is(exit.Done).json(&waiting)
		return len(waiting) == 3
	})
	d.do("decide", "p", "--approve", "--yes").is(exit.Done)
	if err := run.c.Wait(); err != nil {
		t.Errorf("%v\n%s", err, run.seen.String())
	}
	if !d.logged("starter.person") {
		t.Error("the log does not say it")
	}
}

func TestAPanicAfterAnInterruptLetsTheProgramEndAsItDoes(t *testing.T) {
	d, g := gated(t)
	run := d.panicsAt("starter.signals").start("run", ".", "--id", "p", noUI)
	g.key(d)
	run.signal(syscall.SIGINT)
	d.eventually("the log says it", func() bool { return d.logged("starter.signals") })
	g.release()
	run.end().is(exit.Interrupted).complains("p stays as it is")
}
