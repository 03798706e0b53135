// Package rehearsal is a scripted LLM: an OpenAI-compatible Chat Completions server that answers from a replies file,
// for trying processes out, for tests and for measurements.
//
// A replies file is JSON Lines, one Reply a line (Parse, Reply.Line). The header TurnHeader of a Request, or a text in
// its prompt (Reply.When), selects the line that answers it; Choose does the same without a server. Start serves
// replies on a free port of the loopback interface; Handler serves them anywhere. Recorder writes the replies of a real
// LLM as such a file.
//
// Replies have the pace that they state: TTFT until the first token, then TPS tokens a second. Each token is due at a
// time that is counted from the Request's arrival, so that late timers do not add up. Tests that wait for a place in a
// reply use hooks (OnChunk, Gate) instead of time.
//
// Invariants:
//   - Parse(r.Line()) gives r again, with FinishReason filled in.
//   - A solution reaches the client in the bytes of the file, without white space and with the calls first.
//   - Close of a Server returns when all its goroutines have ended.
package rehearsal
