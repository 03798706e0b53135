// Package turn holds what travels between the agent loop, the instances and the LLM during one turn of a process: one
// Request, the Calls that it brings, and what became of them. The packages loop and dataflow do not know each other;
// they meet here. All types are data: the decisions about them are taken in loop and dataflow. What people see and
// decide is in package approval.
//
// What travels:
//
//	type            from → to            content
//	RequestInput    loop → LLM           the instances covered, the Plan so far, the errors; or LLMQuestions about single Calls
//	LLMReply        LLM → loop           the whole solution, or why it broke off
//	InstanceReport  instance → loop      Calls and writes that changed, LLMQuestions, PendingApprovals; highest closed Request
//	Snapshot        loop → chain         the Idea of a Request, a file from which a process can start; with it LogEntry
//
// The life of a Request (the Calls themselves travel from the stream straight to their instances):
//
//	state           loop                            instance                       LLM                     what comes next
//	composed        Advance returns StepRequest     idle                           -                       the activity sends it
//	                and a RequestInput
//	in flight       RequestInFlight; no other       expects Calls of its number    reads, then streams     a Call closes, or an end
//	calls accepted  sees them in InstanceReports    accepts, may run them already  still streams           more Calls, or the end
//	replied         has a whole LLMReply            runs what it accepted          has finished            concluded
//	broken off      has an LLMReply with a Fault;   closes the Request: refuses    is not asked again for  every covered instance
//	                sends close to its instances    any more Calls of it           this number             reports it closed; concluded
//	concluded       Conclude: Plan, errors, who     runs on, reports               -                       a Request under the next number
//	                settles; a Snapshot is sealed
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
