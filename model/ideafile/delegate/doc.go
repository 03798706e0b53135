// Package delegate is about delegates: processes that Calls run. It finds, checks and carries the Idea files that they
// run (files.go), and makes the Idea that one starts from (idea.go).
//
// Files are known by key: the path from the folder of the first Idea file, in which or below which all of them lie. An
// Idea of a chain carries the files that its delegates need (ideafile.DelegatesKey), so that it runs where they are
// not.
package delegate
