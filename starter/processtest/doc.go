// Package processtest runs an Idea in a `go test`, on the real engine: a Temporal server, a worker and a store of its
// own, within the test's program. The LLM is a script, and Tools that reach outside are fakes.
//
//	func TestAnOrderOfManyWaitsForAPerson(t *testing.T) {
//		p := processtest.Start(t, ".", // the folder with idea.json and replies.jsonl
//			processtest.WithTools(register),                     // your Go tools
//			processtest.FakeResult("reserve", "R-1"),            // and what is played instead
//		)
//		p.Approve(p.WaitingFor("reserve"), "ann")
//		p.CheckState("", `{"order": {"article": "lamp"}, "reserved": "R-1"}`)
//	}
//
// Start starts the process; Process follows it: Waiting and WaitingFor give the Calls that wait for a person, Approve,
// Reject, Amend and Answer decide, Result waits for the end, CheckState compares a State at the end, Asked is what the
// LLM was asked, Calls which Tools were run, with what. Every other method of a client.Process is there too.
//
// Nothing of the environment counts: no LLM is asked, no HTTP host reached, no MCP server started, nobody told, unless
// WithVariable says so. A process that has not come to rest within a minute fails its test (WithTimeout). Deadlines are
// real time: a day cannot be waited for.
//
// A server takes a tenth of a second to start. Tests may run in parallel.
package processtest
