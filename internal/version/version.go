// Package version identifies the build of Process Idea in a program.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

const modulePath = "processidea"

// Text returns the version, such as "v1.2.0 (Go 1.26.8, linux/amd64)". It is the module's version, or else the commit
// of the build, or else "unknown". A commit with changed files is marked.
func Text() string {
	return fmt.Sprintf("%s (%s, %s/%s)", versionNumber(), strings.Replace(runtime.Version(), "go", "Go ", 1),
		runtime.GOOS, runtime.GOARCH)
}

func versionNumber() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps { // if Process Idea is a dependency of the program
		if m.Path == modulePath {
			return cmp.Or(versionUnlessDevel(m.Version), "unknown")
		}
	}
	commit, changedSuffix := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changedSuffix = ", changed"
		}
	}
	if commit == "" {
		return cmp.Or(versionUnlessDevel(info.Main.Version), "unknown")
	}
	return cmp.Or(versionUnlessDevel(info.Main.Version), "commit "+commit+changedSuffix)
}

// versionUnlessDevel returns a version, but "" for "(devel)".
func versionUnlessDevel(v string) string {
	if v == "(devel)" {
		return ""
	}
	return v
}
