// Package safemcp keeps handlers of Model Context Protocol messages from ending the program. The SDK calls them on
// goroutines of its own.
package safemcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/internal/safego"
)

// Middleware turns a panic in a request's handler into an error of the request. Use it with AddReceivingMiddleware, on
// clients and servers.
func Middleware(label string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
			err = safego.Run(label, func() (err error) {
				result, err = next(ctx, method, r)
				return err
			})
			return result, err
		}
	}
}
