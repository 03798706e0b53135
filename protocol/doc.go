// Package protocol is what travels between workflows, activities and clients, and everything that both ends of a wire
// must agree on:
//
//   - names: the task queue, workflow types, activities, signals, queries, memo fields and search attributes
//     (names.go), and how the ids of workflows and the idempotency keys of Calls are made (ids.go);
//   - what a process starts from (Start, Delegation) and what an instance starts from (InstanceSetup,
//     InstanceStart);
//   - the inputs and results of activities: RequestSetup, ExecuteInput, BatchCall, SealInput, GatherInput, …;
//   - the payloads of signals between workflows: CallsSignal, CloseSignal, EndSignal, HoldSignal, CorrectionSignal,
//     DelegateReport;
//   - the answers to queries: ProcessView, InstanceView, ProcessApprovals, …;
//   - the codec that all of it is written with (DataConverter), and how an activity's error becomes a Fault (FaultOf).
//
// Invariants: names and JSON keys never change, since histories and other people's scripts hold them; a struct without
// JSON tags (SealInput, Delivery) is written under its Go field names, so these do not change either. Fields may be
// added if their absence means what it meant before. Signals between workflows are read leniently (DecodeSignal:
// unknown keys come from a newer version), signals of people strictly (DecodeObject).
package protocol
