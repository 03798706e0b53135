package ideafiles_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"

	"processidea/client/ideafiles"
	"processidea/internal/rehearsal"
	"processidea/tools/kinds"
)

func TestZZ(t *testing.T) {
	source, err := ideafiles.Find("/tmp/t/mem/rows.json", "", "")
	if err != nil {
		t.Fatal(err)
	}
	var d *ideafiles.Definition
	peak := atItsPeak(func() {
		d, _, err = ideafiles.Load(source, ideafiles.Tools{Known: kinds.Knowing(nil, nil), Replies: rehearsal.Check, Elsewhere: true})
	})
	runtime.GC()
	runtime.GC()
	f, _ := os.Create("/tmp/t/mem/heap")
	pprof.Lookup("heap").WriteTo(f, 0)
	f.Close()
	fmt.Println("peak", peak>>20, d != nil)
}
