// Package mcp lets agents start processes and look at them, by the Model Context Protocol: over HTTP at /mcp, and over
// the standard streams of starter mcp. Each Idea file of a folder is a tool.
//
// Invariants: a call holds no connection for longer than a minute, and what takes longer answers with an id to be asked
// for; an agent has the rights of the person whose token it brings, and none more; it decides on no Call unless that is
// switched on, and never where a signed decision is wanted; nothing is kept between calls, so that any number of
// gateways may stand side by side.
package mcp
