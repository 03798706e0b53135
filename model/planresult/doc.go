// Package planresult tells what the Plan of one Request has come to in one instance: whether each of its Calls brought what it was for, or
// another Call brought that in its place.
//
// # What becomes of a Call that came to nothing
//
//	the Call                                          and State at its output path          the Plan
//	failed, blocked, or rejected since nobody         holds a value                         it is made up for: as good as done
//	decided in time                                   holds none, and an unfinished Call    it may still be made up for
//	                                                  of the Plan writes the same path
//	                                                  holds none                            has failed
//	rejected by a person                              whatever it holds                     has failed: the LLM reads the reason
//	changed by a person, and failed or blocked then   whatever it holds                     has failed: the path may be another one
//	without an output path, an update, or for the     whatever it holds                     has failed: no value tells that
//	whole State                                                                             another Call did the same
//
// # Invariants
//   - The result depends on how the Calls ended and on State alone, not on the order in which they did.
//   - A Plan of which no Call came to nothing has not failed, whatever State holds.
package planresult
