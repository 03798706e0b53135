// Package turn has the types that travel between the agent loop, the instances and the LLM during one turn of a
// process: one Request, its Calls, and their outcomes. The packages loop and dataflow do not know each other and share
// only these types. All types are data: loop and dataflow decide. What people see and decide is in package approval.
//
// What travels:
//
//	type            from → to         content
//	RequestInput    loop → LLM        the covered instances, the Plan so far, the errors; or LLMQuestions about Calls
//	LLMReply        LLM → loop        the whole solution, or why it broke off
//	InstanceReport  instance → loop   changed Calls and writes, LLMQuestions, PendingApprovals; closed Requests
//	SnapshotIdea    loop → chain      the Idea of a Request, from which a process can start; with it LogEntry
//
// The life of a Request (the Calls themselves travel from the stream straight to their instances):
//
//	state           loop                           instance                     LLM              next
//	composed        Advance returns StepRequest    idle                         -                the activity sends it
//	                and a RequestInput
//	in flight       RequestInFlight; no other      expects Calls of its number  reads, streams   a Call closes, or an end
//	calls accepted  sees them in reports           accepts, may run them        still streams    more Calls, or the end
//	replied         has a whole LLMReply           runs what it accepted        has finished     concluded
//	broken off      has an LLMReply with a Fault;  closes the Request: accepts  not asked again  all covered instances
//	                closes it at its instances     no more Calls of it          for this number  closed it; concluded
//	concluded       takes Plan and errors,         runs on, reports             -                the next Request
//	                seals a SnapshotIdea
//
// A Request that ends without a single accepted Call is composed afresh, under the next number.
//
// Invariants:
//   - Once an instance has accepted a Call of a Request, the LLM is not asked again under its number.
//   - A process has one Request in flight at most.
//   - InstanceReports may arrive twice and in any order, and before or after the LLMReply.
//   - JSON tags are wire format and recorded history. They keep the old words (covered, quiet, told); do not rename
//     them with the Go names.
package turn
