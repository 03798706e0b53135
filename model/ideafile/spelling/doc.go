// Package spelling is about the names of instances: how the numbered ones are made (①, ②, … 51), and how each is
// spelled where only ASCII will do: in workflow ids and at a keyboard, where ① is 1.
//
// Wherever people name an instance or a Call, both spellings count (Find, Names); what they are shown has the token
// itself.
//
// Invariant: in one process no spelling names two instances. Who takes tokens in refuses those that are alike
// (Index.Add).
package spelling
