// Package nocompute replaces Temporal's auto-scaled-workers, which starts workers in a cloud when tasks wait.
//
// Temporal's server links that module, and with it the clients of Kubernetes, ECS, Lambda, Bedrock and Cloud Run: 349
// Temporal's server links that module, and with it the clients of Kubernetes, ECS, Lambda, Bedrock and Cloud Run: 349
// packages, 22 % of the source of the starter's first build. The feature is off unless a server's dynamic configuration
// turns it on. The embedded server never does: people start its workers.
//
// What is lost: a compute configuration given to a version of a worker deployment is refused; the real module refuses
// only providers that are not enabled. Deployments and versions work as before. Nothing else uses the module.
//
// It offers exactly what the server's three imports need, so a server that needs more does not compile. A test of
// package devserver fails when the server requires another version of the module. Then rewrite this package from the
// server's imports.
//
// A replace applies only in the main module. A module that requires Process Idea and links the embedded server, for
// example through processtest, builds with the real module. That works, but is heavier. To avoid it, add to that
// module's go.mod
//
//	replace go.temporal.io/auto-scaled-workers => PATH/TO/process-idea/internal/devserver/nocompute
package nocompute
