// Package telemetry exports what a worker does: metrics in the form of Prometheus, and traces over OTLP. Metrics and
// Traces both implement activities.Observer; CombinedObserver combines them.
//
// Invariants:
//   - Neither contains a prompt, a parameter, a result or an error's text.
//   - A span's id is derived from its subject, so that all workers' spans of one process form one trace.
package telemetry
