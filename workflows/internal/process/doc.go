// Package process is the Process workflow. Run picks one of two types: unsplitProcess, which has instances of its own
// and asks the LLM for all of them, and splitProcess, which has more instances than one Request may cover and runs them
// in parts, each a process itself. processCore is common to both: the Idea, the inbox and outbox, the chain, standing
// orders, and people's signals. processVariant is what differs. Packages loop (Loop) and split (Process) take the
// decisions; here they become commands.
//
// A process's life (phase):
//
//	opening ── bindTools: MCP servers asked, Tools bound ──▶ running ── everything ended, or cancelled ──▶ over
//
//	phase     people's signals                                leaves for
//	opening   pause and resume take effect; revise and add    running, when every Tool is known;
//	          are kept until it runs; decisions are refused   over, when cancelled or orphaned
//	running   everything is handled                           over; or the next run of the workflow, at continue-as-new,
//	                                                          which begins as running
//	over      queries only; they answer with outcome
//
// A Request's life, as the process sees it:
//
//	state       what happened                                  next
//	due         Loop.Advance returns StepRequest, immediately  startRequest: starts the activity
//	            or at NextWakeTime
//	in flight   Loop.RequestInFlight returns it; Calls run     onLLMReply: the activity ended
//	broken off  only if its reply is not whole: closeRequest   the instances' reports
//	            closes it at every instance that it covered
//	concluded   Loop.ConcludeRequest returns it: its reply is  concludeRequest: seals it as an Idea, unless it
//	            whole, or all its instances have closed it     has LLMQuestions only
//
// Invariants:
//   - One Request is in flight at most. The process does not continue as new while it is, unless its Plan waits for
//     people.
//   - Instances and parts are started before anybody sends them a signal, and end with the process.
//   - What cannot be reverted (the end of an instance) is sent in a later workflow task than the one that decided it.
//   - The order in which signals are registered and commands are given is part of recorded histories.
package process
