package rehearsal

// ChooseReply returns the reply for the Request with this number, from 1. It is the first reply whose When occurs in
// the prompt, otherwise the one at this number among those without When. ok is false if there is none.
func ChooseReply(replies []Reply, number int, prompt string) (r Reply, ok bool) {
	return NewHandler(replies).choose(number, func() string { return prompt })
}
