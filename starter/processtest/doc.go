// Package processtest runs an Idea in a `go test`, on the real engine: a Temporal server, a worker and a store of its
// own, within the test's program. The LLM is a script, and Tools that reach outside are fakes.
//
//	func TestAnOrderOfManyWaitsForAPerson(t *testing.T) {
//		p := processtest.Start(t, ".", // the folder with idea.json and replies.jsonl
//			processtest.WithTools(register),                     // your Go tools
//			processtest.FakeResult("reserve", "R-1"),            // and what is played instead
//		)
//		p.Approve(p.AwaitApprovalOf("reserve"), "ann")
//		p.CheckState("", `{"order": {"article": "lamp"}, "reserved": "R-1"}`)
//	}
//
// Start starts the process; Process follows it. AwaitApprovals and AwaitApprovalOf return the Calls that wait for a
// person; Approve, Reject, Amend and Answer decide on them. Result waits for the end, and CheckState compares a State
// then. RecordedRequests returns what the LLM was asked; CallAttempts returns which Tools ran, with their params. All
// methods of client.Process are there too.
//
// The environment is ignored: no LLM is asked, no HTTP host reached, no MCP server started, nobody notified, unless
// WithVariable allows it. A process that does not come to rest within a minute fails its test (WithTimeout changes
// that). Deadlines are in real time, so a test cannot wait for a day.
//
// A server takes a tenth of a second to start. Tests may run in parallel.
package processtest
