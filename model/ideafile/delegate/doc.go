// Package delegate handles delegates: processes that Calls run. It finds, checks and carries their Idea files
// (files.go), and makes the Idea that a delegate starts from (idea.go).
//
// Files are identified by key: the path from the folder of the first Idea file, in or below which all of them are. An
// Idea of a chain carries the files that its delegates need (ideafile.DelegatesKey), so that it runs without them.
package delegate
