package activities

import (
	"net"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"processidea/model/ideafile/limit"
	"processidea/protocol"
)

// A server that knows no Updates, and one that a worker may not ask: what waits says so, not that the limit is reached.
func TestWhoWaitsForALimitThatCannotBeAskedSaysWhy(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer() // it knows nothing
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	c, err := client.NewLazyClient(client.Options{HostPort: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	a, rule := &Activities{Client: c}, limit.Rule{TurnsPerSecond: 20}
	var told limitTurnGrant
	for told.err == nil {
		told, err = a.awaitLimitTurn(t.Context(), "pay", rule, "key", 1, time.Second)
		if err != nil || told.IsGranted {
			t.Fatalf("%+v, %v", told, err)
		}
	}
	text := limitTurnWaitText(protocol.ExecuteInput{CallID: "1.1", Tool: "pay", RateLimit: &rule}, told)
	if !strings.Contains(text, "20 a second in all processes (_rate), and whose turn it is cannot be asked: ") ||
		!strings.Contains(told.remedy("it goes on by itself"), "Updates") {
		t.Errorf("%s: %s", text, told.remedy("it goes on by itself"))
	}
	told.err = nil
	if text := limitTurnWaitText(protocol.ExecuteInput{CallID: "1.1", Tool: "pay", RateLimit: &rule},
		told); !strings.HasSuffix(text,
		"(_rate); the next try is in 5s") || told.remedy("it goes on by itself") != "it goes on by itself" {
		t.Error(text)
	}
}
