// Package spelling is about the names of instances: how the numbered ones are made (①, ②, … 51), and how each is
// spelled in ASCII, for workflow ids and the keyboard: ① is 1.
//
// It knows the ids of parts, too: p/~part/3 (SplitPartID).
//
// Wherever people name an instance or a Call, both spellings count (FindInstanceToken, MatchesInstanceToken). People
// are shown the token itself.
//
// Invariant: in one process no spelling names two instances. A new token that is like another one is refused
// (InstanceTokenIndex.AddToken).
package spelling
