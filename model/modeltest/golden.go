package modeltest

import (
	"flag"
	"fmt"
	"strings"
)

var UpdateTranscripts = flag.Bool("update", false, "write what the transcripts under testdata/run say now; read the difference before you keep it")

func Diff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	return fmt.Sprintf("%s\n--- want from here\n%s\n--- got\n%s", strings.Join(w[:i], "\n"), strings.Join(w[i:], "\n"), strings.Join(g[i:], "\n"))
}
