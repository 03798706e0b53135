package server_test

import (
	"log/slog"
	"strings"
	"testing"

	"processidea/gateway/access"
	"processidea/gateway/server"
	"processidea/internal/safego/safegotest"
)

// These tests are not parallel: every goroutine of the program sees the fault.

func TestAGatewayThatPanicsSaysWhyItEnds(t *testing.T) {
	guard, err := access.NewTokenGuard(token, access.Person{Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"gateway.serve", "gateway.shutdown"} {
		t.Run(place, func(t *testing.T) {
			safegotest.Panic(t, place)
			g, err := server.Listen(t.Context(), "127.0.0.1:0",
				server.Options{Client: engineOn, Guard: guard, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-g.Ended(); err == nil || !strings.Contains(err.Error(), place+" panicked") {
				t.Errorf("it ended with %v", err)
			}
			g.Stop()
		})
	}
}

func TestWhoFollowsIsLetGoThoughThatPanics(t *testing.T) {
	h := open(t)
	follower := h.follow(h.begin("a text that somebody must look at"), "")
	follower.until(func(e event) bool { return e.kind == "status" })
	safegotest.Panic(t, "gateway.letGo")
	h.stop()
	for _, more := follower.next(); more; {
		_, more = follower.next()
	}
}
