// Package check analyses an Idea statically: it finds errors in a well-formed file before anything runs and before an
// LLM is asked. The verb `check` prints its problems.
//
// Check looks at the palette, the States, the conditions of Plans and the Plans themselves; CheckDirectPlans looks only
// at what would stop a Plan that runs without the LLM. Both return diag.Problems: an error if something cannot work, a
// warning if it probably does not do what was meant.
//
//   - checker collects the findings about one Idea; a finding is reported once, naming its instances.
//   - planChecker reads the Calls of one Plan into planCalls, each with its own errors.
//   - planDataflow follows the data of a Plan: which value each Call reads, which Calls may write it
//     (possibleWriterIndexes), which Calls can run at all (markRunnable), and which wait for each other in a cycle
//     (checkCycles). Instances whose start States are equivalent for the Plan (same callStartStatus) share one
//     planDataflow.
//
// Invariants:
//
//   - Check ends and does not panic, whatever the file contains, and returns the same Problems in the same order each
//     time.
//   - Problems are in file order, and name instances only if some are unaffected.
//   - A Call with a reported error never succeeds.
//   - A Call without a reported problem is accepted by every instance it is for.
//   - If no problem is reported for the Calls of a Plan without updates, and every Call succeeds, none is blocked.
//   - An error is reported at its cause: the readers of a broken Call are not blamed.
//   - A thousand instances that start alike cost little more than one.
package check
