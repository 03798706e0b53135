// Package ideafiles reads and checks the files that a process is started from: an Idea file as JSON or YAML, the rows
// of its instances as JSON Lines or CSV, recorded replies, and the Idea files of its delegates. Neither a server nor an
// LLM is needed.
//
//	source, err := ideafiles.Find("examples/moderation", "", "")
//	def, problems, err := ideafiles.Load(source, ideafiles.Tools{HasOtherWorkers: true})
//
// A Source names the files; a Definition is their merged content; Problems list all mistakes in them, each with its
// place. Tools says which Go tools the workers have. Changes alter an Idea of a chain before another process starts
// from it. MessagesFromRows turns rows of data into messages of instances.
//
// Invariants: a Definition is complete if Load reports no error; files of delegates are only read within the folder of
// the Idea file; YAML and JSON are equivalent. A mistake in the caller's files is an error that wraps ErrInvalid.
package ideafiles
