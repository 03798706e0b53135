// Package loop is the agent loop of one process: it decides when the LLM is asked, about which instances and with which
// input, and what its reply means: more Calls, instances that have settled, or the output. It does no I/O. A workflow
// reports events to it (ApplyReply, ApplyReport, Pause, ApplyRevision, …), and Advance returns the next Step.
//
// A Loop has an InstanceProgress for every instance: what the process knows of that instance. The Calls themselves run
// in package dataflow, with one Instance for each; the two packages share only the types of package turn. Package split
// runs several Loops for a process with too many instances for one. CarriedLoop is a Loop as data, for continue-as-new.
//
// # The life of a Request
//
// An output is wired if the reply gives it beside its Calls, as References alone or with "finished". It counts if the
// Calls end as planned. An output that does not count for some instances is a draft: the reply to a Request about those
// instances may correct it, as long as every other instance ends as planned. Likewise, if a reply had notes on
// instances, the output may come beside the Calls of later Requests about the others.
//
//	state      what it waits for                               what comes next
//	none       an instance that is ready                       in flight (Advance returns StepRequest)
//	in flight  the LLM's reply                                 replied (ApplyReply)
//	replied    nothing, if whole; if broken off, that each     concluded (ConcludeRequest)
//	           covered instance reports it closed
//	concluded  nothing: its Calls may still run                none, or wired
//	wired      the values of its Calls                         finished, or none and the output a draft, or dropped
//
// The table at type instancePhase shows the life of an instance. The LLM plans for the instance, or a direct Plan does.
//
// # What Advance decides, in this order
//
//  1. Instances whose direct Plan has come to its end settle, fail, or fall back to the LLM.
//  2. A wired output is taken, kept waiting, or dropped; instances that have reached their goal settle; the output of
//     direct Plans is taken.
//  3. StepFinished, if every instance has ended and the output is there.
//  4. StepPaused, if somebody or something has paused the process or its time is over.
//  5. StepWait, if a Request is in flight, no instance is ready, or the Request waits briefly for more instances.
//  6. StepPaused, if the next Request would be in vain or break a limit; StepWait, if it needs quota first; else
//     StepRequest.
//
// # Invariants
//
// The property tests check these for random processes:
//   - At most one Request is in flight, and Requests are numbered without gaps.
//   - Each instance ends once, by a whole reply or by its direct Plan, and is in no later Request but the closing one.
//   - A settled instance has all that its State schema requires; a completed process has the output its Idea asks for.
//   - The process knows the same State of each instance as the instance itself, and counts every Call once, as it
//     ended.
//   - Any Idea of a process can start a new process with the same States.
//   - A refused correction changes nothing. A Loop restored from its CarriedLoop behaves like the original.
package loop
