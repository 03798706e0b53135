// Package shown puts values, Calls and instances into the words of the business: by the titles of an Idea file's
// schemas, and by what its `_display`, `_title` and `config.instanceName` say.
//
//   - Format is what a schema says of how a value is shown; Format.Text shows one, in a Language.
//   - Words are those of one Idea: Words.Call gives the sentence and the fields of a Call, Words.Name the name of an
//     instance.
//
// Invariants:
//   - It is all for people's eyes: nothing of it reaches the LLM or the digest of what runs, and nothing is decided by
//     it.
//   - A number is shown with every digit that it has: no value becomes a float.
//   - A value that does not fit its format is shown as it is. What a value holds changes nothing but where it stands.
package shown
