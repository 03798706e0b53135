// Package shown puts values, Calls and instances into the words of the business: by the titles of an Idea file's
// schemas, and by its `_display`, `_title` and `config.instanceName`.
//
//   - Format is how a schema wants a value shown; Format.Text formats one, in a Language.
//   - A Presenter has the words of one Idea: Presenter.Call gives the sentence and the fields of a Call, Presenter.Name
//     the name of an instance.
//
// Invariants:
//   - All of it is for display only: none of it reaches the LLM or the digest of what runs, and no decision depends on
//     it.
//   - A number is shown with all its digits: no value becomes a float.
//   - A value that does not fit its format is shown as it is. The content of a value cannot change the display of
//     others.
package shown
