// Package mcp lets agents start processes and look at them, by the Model Context Protocol: over HTTP at /mcp, and over
// the standard streams of starter mcp. Each Idea file of a folder is a tool.
//
// Invariants: a call holds a connection for at most a minute, and longer work returns an id for later calls; an agent
// has exactly the rights of the person whose token it sends; it decides on Calls only if that is switched on, and never
// if a signed decision is required; nothing is kept between calls, so that any number of gateways may run side by side.
package mcp
