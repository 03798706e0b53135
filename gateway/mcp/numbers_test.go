package mcp

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// What an agent writes as another number would otherwise be taken as left out, and the latest Idea for the one meant.
func TestANumberOfAnAgentIsReadHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{`{}`: 7, `{"at": 3}`: 3, `{"at": 3.0}`: 3, `{"at": 3e0}`: 3,
		`{"at": 0.3e1}`: 3, `{"at": 0}`: 0, `{"at": 0.0}`: 0, `{"at": 2147483647.0}`: 2147483647} {
		args := jsonval.AsObject(modeltest.MustDecodeJSON(text))
		if got := numberArg(args, "at", 7); got != want {
			t.Errorf("%s is read as %d, not %d", text, got, want)
		}
	}
}

func TestANumberOfAnAgentThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	gateway := &Server{API: &api.API{Options: api.Options{Log: slog.New(slog.DiscardHandler)}}}
	here, there := sdk.NewInMemoryTransports()
	ann := &access.Person{Name: "ann", Rights: access.AllRights}
	if _, err := gateway.ServerForPerson(ann).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	agent, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agent.Close() }()
	for tool, format := range map[string]string{
		"show_idea":    `{"process": "p", "at": %s}`,
		"diff_ideas":   `{"process": "p", "from": 1, "to": %s}`,
		"fork_process": `{"process": "p", "at": %s}`,
		"get_process":  `{"process": "p", "wait": %s}`,
	} {
		for _, value := range []string{"-1", "1.5", "2147483648", "9007199254740993", "1e300", `"3"`, "true", "[]"} {
			said, err := agent.CallTool(t.Context(), &sdk.CallToolParams{Name: tool,
				Arguments: json.RawMessage(fmt.Sprintf(format, value))})
			if err != nil {
				t.Fatalf("%s of %s: %v", tool, value, err)
			}
			if text := said.Content[0].(*sdk.TextContent).Text; !said.IsError || !strings.HasPrefix(text, "the arguments: ") {
				t.Errorf("%s of %s: %s", tool, value, text)
			}
		}
	}
}
