package mcp_test

import (
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/mcp"
	"processidea/internal/safego/safegotest"
)

// Not parallel: every goroutine of the program sees the fault.
func TestAPanicFailsTheRequestOfAnAgentAlone(t *testing.T) {
	gateway := &mcp.Server{API: &api.API{Options: api.Options{Log: slog.New(slog.DiscardHandler)}}}
	here, there := sdk.NewInMemoryTransports()
	if _, err := gateway.ServerForPerson(&access.Person{Name: "ann"}).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	agent, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agent.Close() }()
	safegotest.Panic(t, "gateway.mcp")
	if err := agent.Ping(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "gateway.mcp panicked") {
		t.Errorf("%v", err)
	}
	if err := agent.Ping(t.Context(), nil); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
