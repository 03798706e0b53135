package command

import (
	"context"

	"processidea/connect"
	"processidea/internal/devserver"
	"processidea/starter/internal/server"
)

// embeddedServer runs the server of package devserver.
type embeddedServer struct{}

func (embeddedServer) Start(ctx context.Context, o server.TemporalOptions) (server.TemporalServer, error) {
	return devserver.Start(ctx, devserver.Options{
		MemoryLimit: o.ProgramMemoryLimitBytes, Dir: o.DataFolder, Port: o.Port, UIPort: o.UIPort,
		DefaultUIPorts:   o.DefaultUIPorts,
		SearchAttributes: connect.SearchAttributeTypes,
		CodecEndpoint:    o.CodecEndpoint,
	})
}

func (embeddedServer) Scrub(ctx context.Context, dir string, isWorkflowDeleted func(workflow string) bool) error {
	return devserver.Scrub(ctx, dir, isWorkflowDeleted)
}
