package rehearsal

// ChooseReply returns the reply for the Request with a number, from 1: the first whose When occurs in the prompt, or
// else the one of that number; ok is false if there is none.
func ChooseReply(replies []Reply, number int, prompt string) (r Reply, ok bool) {
	return NewHandler(replies).choose(number, func() string { return prompt })
}
