package tools_test

import (
	"context"
	"errors"
	"fmt"

	"processidea/tools"
)

// A worker's own Go function, as Calls use it: `"_activity": "greet"`, or a Tool named greet.
func ExampleRegister() {
	registry := tools.NewRegistry()
	tools.Register(registry, "greet", func(ctx context.Context, in struct {
		Name string `json:"name" jsonschema:"Whom to greet."`
	}) (string, error) {
		if in.Name == "" {
			return "", tools.Final(errors.New("nobody is named")) // another attempt would only repeat it
		}
		info, _ := tools.CallInfo(ctx)
		return fmt.Sprintf("Hello, %s (%s)", in.Name, info.IdempotencyKey), nil
	}, tools.Describe("Greets somebody."))

	greet, _ := registry.Lookup("greet")
	fmt.Println(string(greet.ParametersSchema))
	ctx := tools.WithCallInfo(context.Background(), tools.Info{IdempotencyKey: "p/main/1.1"})
	fmt.Println(greet.Call(ctx, map[string]any{"name": "Ada"}))
	// Output:
	// {"type":"object","properties":{"name":{"type":"string","description":"Whom to greet."}},"required":["name"],"additionalProperties":false}
	// Hello, Ada (p/main/1.1) <nil>
}
