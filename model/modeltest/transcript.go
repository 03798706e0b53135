package modeltest

import (
	"flag"
	"fmt"
	"strings"
)

// UpdateTranscripts is the flag -update: tests then write the transcripts under testdata instead of comparing with
// them.
var UpdateTranscripts = flag.Bool("update", false,
	"write the transcripts under testdata instead of comparing with them; read the difference before you keep it")

// Diff shows two texts from the first line in which they differ.
func Diff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	return fmt.Sprintf("%s\n--- want from here\n%s\n--- got\n%s", strings.Join(w[:i], "\n"), strings.Join(w[i:], "\n"),
		strings.Join(g[i:], "\n"))
}
