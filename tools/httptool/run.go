package httptool

import (
	"context"

	"processidea/tools"
	"processidea/tools/runner"
)

// Validate returns the error in `_activity.http`. With Run it makes a Client the runner.Runner of ideafile.KindHTTP.
func (c *Client) Validate(spec any) error {
	_, err := ParseSpec(spec)
	return err
}

// Run runs a Call of an HTTP tool.
func (c *Client) Run(ctx context.Context, in runner.Input) (any, error) {
	spec, err := ParseSpec(in.Spec)
	if err != nil {
		return nil, tools.Final(err)
	}
	return c.do(ctx, spec, in)
}
