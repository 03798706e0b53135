package rehearsal_test

import (
	"context"
	"encoding/json"
	"fmt"

	"processidea/internal/rehearsal"
	"processidea/llm"
	"processidea/model/prompt"
)

// A scripted LLM for a test or a demonstration: the first Request gets the first line.
func Example() {
	replies, err := rehearsal.Parse(
		[]byte(`{"solution": {"calls": [{"_tool": "greet", "name": "Ada"}]}, "ttft_ms": 1, "tps": 1000}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := rehearsal.Start(replies)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	client, err := llm.New(llm.Config{BaseURL: server.URL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := client.Stream(context.Background(), llm.Request{
		Messages: []prompt.Message{{Role: "user", Content: "Greet Ada."}},
		OnCall:   func(index int, call json.RawMessage) { fmt.Println("call", index, string(call)) },
	})
	fmt.Println(err, reply.FinishReason, server.Requests()[0].Messages[0].Content)
	// Output:
	// call 1 {"_tool":"greet","name":"Ada"}
	// <nil> stop Greet Ada.
}
