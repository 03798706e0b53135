// Package workercomponent stands in for the part of the server's worker role that would scale workers. It does nothing.
package workercomponent

import "go.uber.org/fx"

// Module adds nothing to the server.
var Module = fx.Options()
