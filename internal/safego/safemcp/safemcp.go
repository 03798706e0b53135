// Package safemcp keeps what handles messages of the Model Context Protocol from ending the program: the SDK calls it
// on goroutines of its own.
package safemcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/internal/safego"
)

// Middleware has a request fail whose handler panics. It is for AddReceivingMiddleware, of clients and servers.
func Middleware(place string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
			err = safego.Run(place, func() (err error) {
				result, err = next(ctx, method, r)
				return err
			})
			return result, err
		}
	}
}
