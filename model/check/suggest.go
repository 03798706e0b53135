package check

import "processidea/model/diag"

// otherTools helps with the name of a Tool that the palette does not have.
func (c *checker) otherTools(name string) string {
	names := make([]string, len(c.idea.Tools))
	for n, t := range c.idea.Tools {
		names[n] = t.Name
	}
	if s := diag.DidYouMean(name, names); s != "" || len(names) == 0 {
		return s
	}
	return "; the palette has " + diag.SomeOf(names)
}
