// Package protocol defines what travels between workflows, activities and clients, and everything that both ends of a
// wire must agree on:
//
//   - names: the task queue, workflow types, activities, signals, queries, memo fields and search attributes
//     (names.go), and how the ids of workflows and the idempotency keys of Calls are made (ids.go);
//   - the inputs of a process (ProcessStart, DelegationContext) and of an instance (InstanceSetup, InstanceStart);
//   - the inputs and results of activities: RequestSetup, ExecuteInput, BatchCall, SealInput, GatherInput, …;
//   - the payloads of signals between workflows: CallsSignal, CloseRequestSignal, EndInstanceSignal,
//     HoldInstanceSignal, CorrectInstanceSignal, DelegateReport;
//   - the answers to queries: ProcessView, InstanceView, ProcessApprovals, …;
//   - the codec for all of them (DataConverter), and how an activity's error becomes a Fault (FaultOf).
//
// Invariants: names and JSON keys never change, since histories and other people's scripts contain them. A struct
// without JSON tags (SealInput, SignalDelivery) is encoded under its Go field names, so these do not change either. A
// field may be added if its absence keeps the old meaning. Signals between workflows are read leniently (DecodeSignal:
// unknown keys come from a newer version), signals of people strictly (DecodeObject).
package protocol
