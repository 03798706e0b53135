package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"processidea/tools/kinds"
	"processidea/tools/runner"
)

// shouter is a kind of Tool: `_activity: {"shout": {"mark": "!"}}`.
type shouter struct{}

type shoutSpec struct {
	Mark string `json:"mark"`
}

func (shouter) Validate(spec any) error {
	s, err := runner.DecodeSpec[shoutSpec](spec)
	if err == nil && s.Mark == "" {
		err = errors.New("shout: mark: it is missing")
	}
	return err
}

func (shouter) Run(_ context.Context, in runner.Input) (any, error) {
	s, err := runner.DecodeSpec[shoutSpec](in.Spec)
	return strings.ToUpper(fmt.Sprint(in.Params["text"])) + s.Mark, err
}

// A new kind of Tool is a Runner, registered under the kind's name: in package kinds, or for a worker of one's own with
// service.WithRunner("shout", shouter{}).
func ExampleRunner() {
	runners := kinds.NewRunnerRegistry(kinds.Deps{})
	runners.Register("shout", shouter{})

	spec := map[string]any{"mark": "!"}
	fmt.Println(runners.Validate("shout", spec))
	fmt.Println(runners.Validate("shout", map[string]any{}))
	fmt.Println(runners.Validate("whisper", spec))

	x, _ := runners.Lookup("shout")
	fmt.Println(x.Run(context.Background(), runner.Input{Params: map[string]any{"text": "hello"}, Spec: spec}))
	// Output:
	// <nil>
	// shout: mark: it is missing
	// no tools of the kind "whisper" are known; known kinds are http, mcp, shout
	// HELLO! <nil>
}
