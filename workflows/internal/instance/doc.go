// Package instance is the Instance workflow: it owns the State of one instance, accepts Calls as they close in the stream, runs
// each as soon as what it reads is there, and reports to its process. It lives as long as the instance does, so that its
// history is that instance's story, and it is what a person's decision is sent to. Decisions are taken by model.Run; here they
// become commands.
//
// The workflow's life: after each thing that happened it starts what may start, reports what has changed, and takes a step.
//
//	step          when                                               then
//	stepWait      otherwise                                          until a signal, a Call's end, or a deadline
//	stepReturn    the process has ended it, and nothing runs         returns status and State
//	stepContinue  continue-as-new is due; nothing is in flight, on   the next run goes on from Carried
//	              its way, or unhandled
//	stepOrphaned  the process is gone                                fails with process_gone
//	cancelled     the process was cancelled                          its delegates are cancelled too
//
// What holds Calls back, whatever their state in the Run: held (the process is paused), continue-as-new being due, MaxRunning
// Calls running, and the process being gone, which is looked up before a Call starts after a person was waited for.
//
// Invariants:
//   - A Request that is closed here is closed for good: nothing more of it is accepted.
//   - A Call is accepted once, known by Request and index, however often its signal comes.
//   - One report is on its way at a time, and each contains every change since the last.
//   - A Call with an effect never runs as a local activity: that would run twice if the worker is lost.
package instance
