// Package llm is a client of OpenAI-compatible Chat Completions servers that delivers the Calls of a solution while the
// reply is still streaming. It knows nothing of Temporal or of our workflows.
//
// A Client is what all Requests of a worker share: the server's address and key, its connections, and its rate limits.
// Client.Stream sends one Request and reads the reply to its end:
//
//	request ── exchange ──▶ server
//	                          │ server-sent events, JSON lines or one JSON object (eventReader)
//	                          ▼
//	                 chunks (chunkStream) ─▶ text (replyReader, textFilter) ─▶ solution (readSolution) ─▶ Request.OnCall
//
// Invariants:
//   - Stream returns an *Error only if the LLM gave no reply: the Request may then be sent again. Once a reply has
//     begun, its outcome is in Reply, good or bad, because Calls may have been delivered.
//   - OnCall gets each Call at the byte that closes it, before any further byte is waited for, in the order written.
//   - A reply is complete when its root object is closed, whatever finish reason the server gives. A finish reason
//     without a closed root object is an incomplete reply.
//   - Every loop over a server's data is bounded: in bytes, in Calls, in white space, and in silence.
//   - What a server refuses in a request (a response format, a parameter) is left out of the next attempt; if that was
//     the response format, the schema is put in the prompt. Retries after failures are the caller's: the openai
//     library's retries are off, since they would hide failures.
//   - No text that this package returns contains the API key.
package llm
