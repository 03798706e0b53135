// Package telemetry tells what a worker does: metrics in the form of Prometheus, and traces over OTLP. Metrics and
// Traces are both activities.Observer; Observers passes what they are told to several.
//
// Invariants:
//   - Neither holds a prompt, a parameter, a result or an error's text.
//   - Ids of spans follow from what they are of, so that all workers' spans of one process form one trace.
package telemetry
