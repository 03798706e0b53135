package memory

import (
	"fmt"
	"strings"

	"processidea/bench/internal/named"
)

// Case is one work that needs much memory. Limit bounds the memory of its process, in MB.
type Case struct {
	Name    string
	LimitMB float64
	Work    func(quick bool) Work
}

// String is the name.
func (c Case) String() string { return c.Name }

// Work is a process and the LLM's replies in it.
type Work struct {
	Replies   []reply
	DoneCalls int // Calls that must be done in the end
	Instances int // 0: a single instance, without a file
	Row       func(i int) map[string]any
}

// Cases are all cases that can be measured.
var Cases = named.List[Case]{
	{"idle", 300, idleWork},
	{"batch", 600, batchWork},
	{"stream", 1280, streamWork},
	{"plan", 500, planWork},
	{"hostile", 1280, hostileWork},
}

// sizeFor returns the full size, or the small size for a quick run.
func sizeFor(quick bool, full, small int) int {
	if quick {
		return small
	}
	return full
}

// doneReply has no Calls, which ends the process.
var doneReply = callsReply(0, nil)

// idleWork is a process with one Call. It shows what the program takes by itself.
func idleWork(bool) Work {
	call := func(int) string { return `{"_tool":"get","_outputPath":"done"}` }
	return Work{DoneCalls: 1, Replies: []reply{callsReply(1, call), doneReply}}
}

// batchWork is a batch of a hundred instances with 300 KB of State each. No member of a State is large.
func batchWork(quick bool) Work {
	const members = 300
	n := sizeFor(quick, 100, 3)
	call := func(int) string { return `{"_instance":"*","_tool":"get","_outputPath":"done"}` }
	return Work{
		Replies:   []reply{callsReply(1, call), doneReply},
		DoneCalls: n, Instances: n,
		Row: func(i int) map[string]any {
			row := map[string]any{}
			for m := range members {
				row[fmt.Sprintf("member%d", m+1)] = strings.Repeat(fmt.Sprintf("%04d %08d, ", i, m), 1<<10/15)
			}
			return row
		},
	}
}

// streamWork is an LLM that answers with nearly 32 MB, the maximum that is accepted: first in Calls of 64 KB, then 19
// MB in one Call.
func streamWork(quick bool) Work {
	n, size := sizeFor(quick, 31<<4, 20), sizeFor(quick, 19<<20, 1<<20)
	text := strings.Repeat("a long text, ", 5000)
	return Work{DoneCalls: n + 1, Replies: []reply{
		callsReply(n, func(i int) string {
			return fmt.Sprintf(`{"_tool":"get","text":"%d %s","_outputPath":"r%d"}`, i, text, i+1)
		}),
		callsReply(1, func(int) string {
			return `{"_tool":"get","text":"` + strings.Repeat(text, size/len(text)+1) + `","_outputPath":"one"}`
		}),
		doneReply,
	}}
}

// planWork is one reply of 5,000 Calls, the maximum for a reply.
func planWork(quick bool) Work {
	n := sizeFor(quick, 5000, 50)
	return Work{
		DoneCalls: n, Replies: []reply{
			callsReply(n, func(i int) string { return fmt.Sprintf(`{"_tool":"get","_outputPath":"r%d"}`, i+1) }),
			doneReply}}
}

// hostileWork is a thousand invalid replies of half a megabyte each: brackets, beginnings of Calls, digits, text. After
// every two of them a valid Call comes, since the process would pause after the third.
func hostileWork(quick bool) Work {
	const size, inRow = 512 << 10, 2
	w := Work{}
	for n := range sizeFor(quick, 1000, 8) {
		w.Replies = append(w.Replies, func() string { return hostileText(n, size) })
		if n%inRow == inRow-1 {
			w.DoneCalls++
			w.Replies = append(w.Replies,
				callsReply(1, func(int) string { return fmt.Sprintf(`{"_tool":"get","_outputPath":"r%d"}`, n) }))
		}
	}
	w.Replies = append(w.Replies, doneReply)
	return w
}

func hostileText(n, size int) string {
	switch n % 5 {
	case 0:
		return `{"calls":[{"_tool":"get","bytes":` + strings.Repeat("[", size) +
			strings.Repeat("]", size) + `}],"output":null}`
	case 1:
		return `{"calls":[` + strings.Repeat("{\"_tool\":", size/10)
	case 2:
		return `{"calls":[{"_tool":"get","bytes":1` + strings.Repeat("0", size) + "}"
	case 3:
		return strings.Repeat("no JSON ", size/8)
	}
	return `{"calls":[` + strings.Repeat(" ", size)
}
