// Package prompt renders a Request's messages and reply schema.
//
// It turns an Idea and a turn.RequestInput into the two things that are sent:
//
//   - Render: the messages. The first holds the rules and the palette, the second the context of all instances, the
//     third the Plans, the status of the Calls so far, the States, the errors and the question.
//   - ResponseFormatFor: the ResponseFormat, a JSON Schema of the reply. An ordinary Request may be answered with
//     Calls and an output, one with Questions only with results and corrected parameters, a closing one only with an
//     output.
//
// NewResponseFormat composes the schema from the palette. It first tries the subset of JSON Schema that servers can
// enforce while they generate ("strict structured outputs", see toStrictSchema and exceededStrictLimit), and falls back
// to full JSON Schema if the subset cannot express the palette.
//
// Invariants:
//
//   - The same input yields the same bytes, on any machine and in any key order of the file.
//   - So that prompt caches hit, the prompt's first part (before Plans and States) is the same in every Request.
//   - A ResponseFormat either has IsStrict set, and then keeps every documented rule and limit of strict mode, or has a
//     NotStrictReason. It always compiles.
//   - A reply that the schema allows contains no Call that ideafile.Palette refuses for its form, and no output that
//     the Idea's output schema refuses.
//   - A Reference or an expression is allowed in place of every parameter and of every leaf of the output.
//   - What the LLM need not know is not sent: wired parameters, the values of settled instances, digests of stored
//     values.
//   - Schemas that explode when expanded fall back to full JSON Schema, after a bounded amount of work.
//
// The rendered text is recorded in testdata/prompt: a change of a word there is a change of behaviour.
package prompt
