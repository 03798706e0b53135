// Package simulate makes up the values that a simulation needs in place of Tools and the LLM, from schemas alone.
//
//   - FakeInputs makes up the data that a file refers to or describes and does not contain.
//   - FakeSolution makes up the LLM's reply to a Request: the Calls of the Plan that the file suggests for an instance,
//     or of a new one that uses each Tool once (planFaker), or the requested results and corrected parameters.
//   - FakeResult makes up what a Tool returns.
//   - AnswersRequest reports whether a scripted reply fits the Request.
//
// The values themselves come from the package sample.
//
// Invariants:
//
//   - The same input yields the same values each time.
//   - A result fits the Tool's `_output` schema and, where a value exists that fits both, the State schema at the
//     output path. If there is none, the instance reports it as it would for a real result.
//   - FakeSolution depends on schemas and Plans, never on what Calls have returned, and adds Calls only in the first
//     reply.
//   - Made-up text is never read as a Reference.
//   - Every made-up message is marked as simulated, so that it cannot be mistaken for real data.
package simulate
