package script

import (
	"fmt"
	"strings"
)

// ChainReplyLines returns one Call in each reply, with an output path of its own, and none in the last reply, which
// ends the chain. The replies have no pace: the LLM sends them at once.
func ChainReplyLines(tool string, callCount int) (lines []string) {
	for i := range callCount {
		lines = append(lines, ReplyLine([]string{fmt.Sprintf(`{"_tool":%q,"n":%d,"_outputPath":"step%d"}`, tool, i+1, i+1)},
			"null", ""))
	}
	return append(lines, ReplyLine(nil, "null", ""))
}

// FanoutReplyLines returns independent Calls in one reply, and none in the next. The first reply comes at once after a
// tenth of a second: sooner than any real LLM, and late enough to leave out the start of the process.
func FanoutReplyLines(tool string, callCount int) []string {
	var calls []string
	for i := range callCount {
		calls = append(calls, fmt.Sprintf(`{"_tool":%q,"n":%d,"_outputPath":"r%d"}`, tool, i+1, i+1))
	}
	return []string{ReplyLine(calls, "null", `, "ttft_ms": 100}`), ReplyLine(nil, "null", "")}
}

// OneCallPerReplyLines returns one Call in each reply, with as few tokens as possible: a Request for each instance of a
// batch.
func OneCallPerReplyLines(tool string, callCount int, pace string) (lines []string) {
	for i := range callCount {
		lines = append(lines, ReplyLine([]string{fmt.Sprintf(`{"_tool":%q,"n":%d}`, tool, i+1)}, "null", pace))
	}
	return lines
}

// KilobyteResult returns the result of the Call of this number in a chain: 1024 characters that compress badly. They
// differ for each number, so that no store can share them.
func KilobyteResult(callNumber int) string {
	var b strings.Builder
	x := uint32(callNumber) //nolint:gosec // whatever the number is, it is a seed
	for range 1024 {
		x = x*1664525 + 1013904223
		b.WriteByte("0123456789abcdef"[x>>28])
	}
	return b.String()
}
