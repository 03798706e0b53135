package turn

// AuthorOfPerson returns the author that the log names for what a person wrote: person:NAME, or person if the name is
// empty.
func AuthorOfPerson(name string) string {
	if name == "" {
		return "person"
	}
	return PersonPrefix + name
}
