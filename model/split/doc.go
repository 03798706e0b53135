// Package split decides for a process with more instances than one Request may cover: it is split into parts, each a
// process with a loop.Loop of its own, and a Process holds what these have told. It does no I/O: a workflow starts the
// parts that StartNextPart returns, gives their PartReports to ApplyReport, and passes on what people decide.
//
//	type          is
//	Process       the whole: its parts, what it did itself (OwnReport), and what it is carried over continue-as-new as
//	Part          some of the instances, their Idea (IdeaSource), and the last report of their process
//	PartReport    what a part tells; ReportFilter keeps it from telling what the whole need not know now
//
// Once all parts have ended, the output is what their replies or direct Plans wired, resolved over all instances; else
// the LLM is asked for it (OutputSource, ApplyOutputReply, AcceptOutput).
//
// # Invariants
//   - Every instance is in one part, and stays there.
//   - One part begins at a time, and few work at a time; a part that waits for people alone does not count.
//   - Limits hold for all parts together: a quota.Ledger deals them out.
//   - A report that a later one has overtaken changes nothing.
//   - A process with direct Plans comes to the same in parts as in one piece.
package split
