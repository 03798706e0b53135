// Package modeltest helps to test the packages under model/ through their exported names. It is for tests alone.
//
//   - Scenario plays a whole process without Temporal: NewScenario starts it, ReplyWith and InterruptRequest answer
//     its Requests, Decide and Revise act as people, and the Expect… and Describe… methods inspect it. RunRandomProcess
//     plays one with random replies.
//   - GeneratePlan draws a random Plan. PlanExecution runs it in one instance; RunAll takes the order of events.
//   - AnyJSON draws JSON values; PaletteFrom, IdeaFrom, MessagesFrom and ToolFrom parse valid texts.
//   - ContinueInstanceAsNew and ContinueLoopAsNew are continue-as-new without a workflow.
//
// Invariants that the helpers themselves hold every test to:
//   - At every step of a Scenario, loop and instances go through JSON and are resumed from it, as in continue-as-new.
//     Nothing may be lost.
//   - Each report goes through JSON and is delivered twice, and so is an older version of it (DeliverReport). It
//     counts once.
//   - No Call of a PlanExecution starts twice.
//   - Nothing depends on the wall clock: a Scenario has its own, and rapid draws all randomness.
package modeltest
