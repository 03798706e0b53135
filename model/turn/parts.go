package turn

// DetachStates gives the States of a Brief in the form of what they differ in from nothing.
func (in *RequestInput) DetachStates() map[string]any {
	stateless, changes := in.WithoutStates(nil)
	*in = *stateless
	return changes
}
