// Package process is the Process workflow. Run picks one of two types: unsplitProcess, which has instances of its own
// and asks the LLM for all of them, and splitProcess, which has more instances than one Request may cover and runs them
// in parts, each a process itself. What both have in common is processCore: the Idea, the inbox and outbox, the chain,
// standing orders, and what people signal. What each does in its own way is a variant. Decisions are taken by packages
// loop (Loop) and split (Process); here they become commands.
//
// A process's life (phase):
//
//	opening ── bindTools: MCP servers asked, Tools bound ──▶ running ── everything ended, or cancelled ──▶ over
//
//	phase     what people signal                              leaves for
//	opening   pause and resume take effect; revise and add    running, when every Tool is known;
//	          are kept until it runs; decisions are refused   over, when cancelled or orphaned
//	running   everything is handled                           over; or the next run of the workflow, at continue-as-new,
//	                                                          which begins as running
//	over      queries only: outcome is what they answer
//
// A Request's life, as the process sees it:
//
//	state       what happened                                     who moves it on
//	due         Loop.Advance returns StepRequest, at once or at   startRequest: starts the activity
//	        NextWakeTime
//	in flight   Loop.RequestInFlight returns it; Calls run        onLLMReply: the activity ended
//	broken off  only if its reply is not whole: closeRequest      the instances' reports
//	            tells every instance that it covered to accept
//	            nothing more of it
//	concluded   Loop.ConcludeRequest returns it: its reply is whole, or  concludeRequest: seals it as an Idea; a Request of
//	            every covered instance has reported it closed     LLMQuestions only is not sealed
//
// Invariants:
//   - One Request is in flight at most, and the process does not continue as new while it is.
//   - Instances and parts are started before anybody sends them a signal, and end with the process.
//   - What cannot be taken back (the end of an instance) is sent in a later workflow task than the one that decided it.
//   - The order in which signals are registered and commands are given is part of recorded histories.
package process
