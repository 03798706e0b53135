package script

import (
	"fmt"
	"strings"
)

const (
	planTokens    = 600 // of the reply with the Plan
	outputTokens  = 50  // of the reply with the output
	charsPerToken = 4
)

// Diamond is eight Calls of 200 ms in four layers. For each Call it lists the numbers of the Calls whose results it
// reads.
var Diamond = [][]int{{}, {1}, {1}, {2}, {2, 3}, {3}, {4, 5}, {5, 6}}

// DiamondLines returns the whole Plan of the diamond in one reply. The output follows in a second reply, or is wired by
// a Reference in the same one.
func DiamondLines(wireOutput bool, pace string) []string {
	output := `{"text":"†state.c8"}`
	if wireOutput {
		return []string{Reply(diamondCalls(planTokens-len(output)/charsPerToken), output, pace)}
	}
	return []string{Reply(diamondCalls(planTokens), "null", pace), diamondOutput(pace)}
}

// DiamondStepLines returns one Call of the diamond in each reply, and the output in one more. Together the Calls have
// as many tokens as the Plan.
func DiamondStepLines(pace string) (lines []string) {
	for i := range Diamond {
		lines = append(lines, Reply([]string{paddedCall(i+1, planTokens/len(Diamond))}, "null", pace))
	}
	return append(lines, diamondOutput(pace))
}

func diamondOutput(pace string) string {
	output := fmt.Sprintf(`{"text":%q}`,
		strings.Repeat("x", outputTokens*charsPerToken-len(`{"calls":[],"output":{"text":""}}`)))
	return Reply(nil, output, pace)
}

// diamondCalls pads the reason of each Call so that all Calls together have this number of tokens.
func diamondCalls(tokens int) []string {
	unpaddedLength := len(replyFrame) + len(Diamond) - 1
	for i := range Diamond {
		unpaddedLength += len([]rune(diamondCall(i+1, "")))
	}
	padding := max(0, (tokens*charsPerToken-unpaddedLength)/len(Diamond))
	calls := make([]string, len(Diamond))
	for i := range Diamond {
		calls[i] = diamondCall(i+1, strings.Repeat("r", padding))
	}
	return calls
}

// replyFrame is the text around the Calls of a reply.
const replyFrame = `{"calls":[],"output":null}`

// paddedCall returns a Call that alone makes a reply of this number of tokens.
func paddedCall(n, tokens int) string {
	unpaddedLength := len(replyFrame) + len([]rune(diamondCall(n, "")))
	return diamondCall(n, strings.Repeat("r", max(0, tokens*charsPerToken-unpaddedLength)))
}

func diamondCall(n int, reason string) string {
	var reads []string
	for _, input := range Diamond[n-1] {
		reads = append(reads, fmt.Sprintf(`"†state.c%d"`, input))
	}
	return fmt.Sprintf(`{"_tool":"wait","n":%d,"after":[%s],"_outputPath":"c%d","_reasoningForCall":%q}`, n,
		strings.Join(reads, ","), n, reason)
}
