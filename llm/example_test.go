package llm_test

import (
	"context"
	"encoding/json"
	"fmt"

	"processidea/internal/rehearsal"
	"processidea/llm"
	"processidea/model/prompt"
)

func ExampleClient_Stream() {
	server, err := rehearsal.Start([]rehearsal.Reply{{Content: `{"calls":[{"_tool":"a"},{"_tool":"b"}],"output":7}`}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client, err := llm.New(llm.Config{BaseURL: server.URL(), Model: "any"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := client.Stream(context.Background(), llm.Request{
		Messages: []prompt.Message{{Role: "user", Content: "Plan."}},
		OnCall:   func(index int, call json.RawMessage) { fmt.Printf("%d: %s\n", index, call) },
	})
	if err != nil {
		fmt.Println(err) // an *llm.Error: the LLM said nothing
		return
	}
	fmt.Println(reply.IncompleteFault == nil, string(reply.Output))
	// Output:
	// 1: {"_tool":"a"}
	// 2: {"_tool":"b"}
	// true 7
}
