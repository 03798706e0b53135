// Package rehearsal is a scripted LLM: an OpenAI-compatible Chat Completions server that answers from a replies file,
// for trying processes out, for tests and for measurements.
//
// A replies file is JSON Lines, one Reply a line (Parse, Reply.Line). Which line answers a Request is decided by the
// number in its header TurnHeader, or by what its prompt contains (Reply.When); Choose says it without a server. Start
// serves replies on a free port of the loopback interface; Handler serves them anywhere. Recorder writes what a real
// LLM said as such a file.
//
// Replies come at the pace that they state: TTFT until the first token, TPS tokens a second from there. Each token is
// due at a time that is counted from the Request's arrival, so that late timers do not add up. Tests that wait for a
// place in a reply use hooks (OnChunk, OnEnd, Gate) instead of time.
//
// Invariants:
//   - Parse(r.Line()) gives r again, with FinishReason filled in.
//   - A solution reaches the client in the bytes of the file, without white space and with the calls first.
//   - Close of a Server returns when nothing of it runs any more.
package rehearsal
