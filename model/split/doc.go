// Package split takes the decisions for a process with more instances than one Request may cover. The process is split
// into parts, each a process with a loop.Loop of its own, and a Process holds what these have reported. It does no I/O:
// a workflow starts the parts that TakePartToStart returns, gives their PartReports to ApplyReport, and passes on
// people's decisions.
//
//	type          is
//	Process       the whole: its parts, its own use (OwnReport), and what continue-as-new carries
//	Part          some of the instances, their Idea (IdeaSource), and the last report of their process
//	PartReport    the report of a part; ReportFilter holds back what the whole need not know now
//
// Once all parts have ended, the output is what their replies or direct Plans wired, resolved over all instances, or
// else the LLM is asked for it (OutputSource, ApplyOutputReply, AcceptOutput).
//
// # Invariants
//   - Every instance is in one part, and stays there.
//   - One part begins at a time, and few work at a time; a part that waits only for people does not count.
//   - Limits hold for all parts together: a quota.Ledger allocates them.
//   - A report that a later one has overtaken changes nothing.
//   - A process with direct Plans gives the same result in parts as in one piece.
package split
