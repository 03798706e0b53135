// Package rehearsal is a scripted LLM for trials, tests and measurements: an OpenAI-compatible Chat Completions server
// that answers from a replies file.
//
// A replies file is JSON Lines with one Reply a line (Parse, Reply.Line). A text in a Request's prompt
// (Reply.PromptSubstring), or else the number in its header TurnNumberHeader, selects the line that answers it.
// ChooseReply does the same without a server. Start serves replies on a free loopback port; Handler serves them
// anywhere. Recorder writes the replies of a real LLM as such a file.
//
// Replies have the pace that they state: TTFT until the first token, then TPS tokens a second. The due time of each
// token is counted from the Request's arrival, so that late timers do not add up. Tests that wait for a place in a
// reply use hooks (OnChunkSent, WithGate) rather than time.
//
// Invariants:
//   - Parse(r.Line()) gives r again, with FinishReason filled in.
//   - A solution reaches the client in the bytes of the file, without white space and with the calls first.
//   - Close of a Server returns when all its goroutines have ended.
package rehearsal
