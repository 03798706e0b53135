package rehearsal

// Choose finds the reply that answers the Request of a number, from 1: the first whose When the prompt contains, else
// by number; ok is false where there is none.
func Choose(replies []Reply, number int, prompt string) (r Reply, ok bool) {
	return NewHandler(replies).choose(number, func() string { return prompt })
}
