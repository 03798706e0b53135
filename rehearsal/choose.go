package rehearsal

// Choose finds the reply that answers the Request of a turn, from 1: the first whose When the prompt holds, else by turn;
// ok is false where there is none.
func Choose(replies []Reply, turn int, prompt string) (r Reply, ok bool) {
	return NewHandler(replies).choose(turn, func() string { return prompt })
}
