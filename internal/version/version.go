// Package version says which build of Process Idea a program is.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

const module = "processidea"

// Text is the version, as in "v1.2.0 (Go 1.26.8, linux/amd64)": that of the module, else the commit that the program
// was built of, else "unknown". A build of changed files says so.
func Text() string {
	return fmt.Sprintf("%s (%s, %s/%s)", number(), strings.Replace(runtime.Version(), "go", "Go ", 1), runtime.GOOS,
		runtime.GOARCH)
}

func number() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps { // of a program of one's own
		if m.Path == module {
			return cmp.Or(known(m.Version), "unknown")
		}
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed"
		}
	}
	if commit == "" {
		return cmp.Or(known(info.Main.Version), "unknown")
	}
	return cmp.Or(known(info.Main.Version), "commit "+commit+changed)
}

// known is a version that tells something.
func known(v string) string {
	if v == "(devel)" {
		return ""
	}
	return v
}
