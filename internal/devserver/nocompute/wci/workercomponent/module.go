// Package workercomponent has the part of the server's worker role that would scale workers: none.
package workercomponent

import "go.uber.org/fx"

// Module adds nothing to the server.
var Module = fx.Options()
