// Package instance is the Instance workflow: it owns the State of one instance, accepts Calls as they close in the
// stream, runs each as soon as what it reads is there, and reports to its process. One workflow per instance: its
// history is the instance's, and people's decisions are signalled to it. Decisions are taken by dataflow.Instance; here
// they become commands.
//
// The workflow's life: after each event it starts what may start and reports what has changed; then it waits, returns
// or continues as new.
//
//	step          when                                               then
//	stepReturn    the process has ended it, and nothing runs         returns status and State
//	stepContinue  continue-as-new is due; nothing is in flight, on   the next run goes on from Carried
//	              its way, or unhandled
//	stepOrphaned  the process is gone                                fails with process_gone
//	cancelled     the process was cancelled                          its delegates are cancelled too
//	stepWait      otherwise                                          until a signal, a Call's end, or a deadline
//
// Ready Calls, whatever their phase in dataflow, are held back while the process is paused, continue-as-new is due,
// MaxRunning Calls run, or the process is gone. That last is checked before the first start after a person was waited
// for.
//
// Invariants:
//   - A Request that is closed here is closed for good: nothing more of it is accepted.
//   - A Call is accepted once, known by Request and index, however often its signal comes.
//   - One report is on its way at a time, and each contains every change since the last.
//   - A Call with an effect never runs as a local activity: that would run twice if the worker is lost.
package instance
