package turn

// Changes gives the States of a Brief in the form of what they differ in from nothing.
func (b *RequestInput) Changes() map[string]any {
	bare, changes := b.WithoutStates(nil)
	*b = *bare
	return changes
}
