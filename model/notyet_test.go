package model

import (
	"strings"
	"testing"
)

// What the design has and this version has not is refused, never ignored: a file that asks for an approval must not run
// without one. The list is whole when it names every caller of notYet.
func TestWhatIsNotBuiltYetIsRefused(t *testing.T) {
	for name, file := range map[string]string{
		"a delegate":                `{"schema":{"tools":{"t":{"_delegate":"anonymous"}}}}`,
		"what a delegate may write": `{"schema":{"tools":{"t":{"_writes":["state.a"]}}}}`,
	} {
		_, ps := ParseIdea([]byte(file))
		if len(ps.Errors()) != 1 || !strings.HasSuffix(ps.Error(), " are not built yet") {
			t.Errorf("%s: %s gives %q", name, file, ps.Error())
		}
	}
}
