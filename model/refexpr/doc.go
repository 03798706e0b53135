// Package refexpr is the expression language of Calls: where a parameter's value comes from and where a result goes.
//
//   - Reference is †kind.path, one place in what the instance sees: †state.user.name, †input.rules[0].
//   - Expression joins References: †a || †b is the first alternative that is present, †a && †b needs both and gives
//     the last. A plain Reference is an Expression with one alternative of one term.
//   - OutputPath is where in State a result goes: paths joined by && are all written, branches joined by || exclude
//     each other.
//   - Parsed is a parameter value whose Expressions are parsed once; Resolve replaces them by values, as often as
//     needed.
//   - Condition decides over what the instance sees whether a Call runs: two JSON Schemas, a Call's _when and _unless.
//
// A string is an Expression if it begins with exactly one dagger. Two daggers are a literal dagger.
//
// Invariants, which the property tests check:
//
//   - Parsing the String of a Reference or an Expression gives it back.
//   - A value that Resolve has put in is data: it arrives unchanged and is never read as a Reference again, whatever
//     it holds.
//   - A null value counts as present.
//   - No two paths of an OutputPath overlap.
package refexpr
