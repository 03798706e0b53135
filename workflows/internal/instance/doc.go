// Package instance is the Instance workflow. It owns the State of one instance, accepts Calls as they close in the
// stream, runs each as soon as its inputs are there, and reports to its process. There is one workflow per instance:
// its history is the instance's, and people's decisions are signalled to it. dataflow.Instance takes the decisions;
// here they become commands.
//
// The workflow's life: after each event it starts and reports whatever it can; then it waits, returns or continues as
// new.
//
//	step          when                                               then
//	stepReturn    the process has ended it, and nothing runs         returns status and State
//	stepContinueAsNew  continue-as-new is due; nothing is in flight, on   the next run goes on from CarriedFields
//	              its way, or unhandled
//	stepOrphaned  the process is gone                                fails with process_gone
//	cancelled     the process was cancelled                          its delegates are cancelled too
//	stepWait      otherwise                                          until a signal, a Call's end, or a deadline
//
// Ready Calls, whatever their phase in dataflow, are held back while the process is paused, continue-as-new is due,
// MaxRunningCalls Calls run, or the process is gone. The instance checks whether the process is gone before the first
// start after it waited for a person.
//
// Invariants:
//   - A closed Request stays closed: no more Calls of it are accepted.
//   - A Call is accepted once, identified by Request and index, however often its signal comes.
//   - One report is on its way at a time, and each contains every change since the last.
//   - A Call with an effect never runs as a local activity, which runs twice if the worker is lost.
package instance
