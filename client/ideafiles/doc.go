// Package ideafiles reads and checks the files that a process is started from: an Idea file as JSON or YAML, the rows
// of its instances as JSON Lines or CSV, recorded replies, and the Idea files of its delegates. Neither a server nor an
// LLM is needed.
//
//	source, err := ideafiles.Find("examples/moderation", "", "")
//	def, problems, err := ideafiles.Load(source, ideafiles.Tools{Elsewhere: true})
//
// A Source names the files; a Definition is their merged content; Problems are everything that is wrong with any of
// them, each with its place. Tools says which Go tools the workers know. Changes alter an Idea of a chain before
// another process starts from it. Messages makes rows of data the messages of instances.
//
// Invariants: a Definition is complete if Load reports no error; nothing outside the folder of the Idea file is read
// for a delegate; YAML and JSON are equivalent. What is wrong with the caller's files is an error that wraps
// ErrInvalid.
package ideafiles
