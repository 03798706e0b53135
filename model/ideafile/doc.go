// Package model is the domain of Process Idea: Ideas, Messages, Tools, Calls, Plans, State and References, and every
// decision that is taken about them. It is pure: no clock, no I/O, no Temporal. What it is given, it answers the same
// way each time, on any machine, which is what lets workflows call it and replay it.
//
// Values are JSON values as Decode gives them: map[string]any, []any, string, json.Number, bool and nil. They are never
// changed in place, so that they may be shared freely.
package ideafile
