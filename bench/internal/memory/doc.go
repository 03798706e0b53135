// Package memory measures how much memory `starter run` takes for works that are hard on it, and holds that against
// limits.
//
// Each case runs in a fresh process of this same program, which is `starter run` there: the embedded server, the
// worker, the gateway, the web UI. The LLM and the tools answer from the process that measures, and make up what they
// say as they say it, so that they take no part in the figure.
//
//   - Main is the command `bench memory`; RunChild is what its processes do.
//   - Cases are the works.
package memory
