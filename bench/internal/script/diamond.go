package script

import (
	"fmt"
	"strings"
)

const (
	planReplyTokens   = 600 // of the reply with the Plan
	outputReplyTokens = 50  // of the reply with the output
	charsPerToken     = 4
)

// DiamondDependencies is eight Calls of 200 ms in four layers. For each Call it lists the numbers of the Calls whose
// results it reads.
var DiamondDependencies = [][]int{{}, {1}, {1}, {2}, {2, 3}, {3}, {4, 5}, {5, 6}}

// DiamondReplyLines returns the whole Plan of the diamond in one reply. The output follows in a second reply, or is
// wired by a Reference in the same one.
func DiamondReplyLines(wiresOutput bool, pace string) []string {
	output := `{"text":"†state.c8"}`
	if wiresOutput {
		return []string{ReplyLine(diamondCalls(planReplyTokens-len(output)/charsPerToken), output, pace)}
	}
	return []string{ReplyLine(diamondCalls(planReplyTokens), "null", pace), diamondOutputReply(pace)}
}

// DiamondStepReplyLines returns one Call of the diamond in each reply, and the output in one more. Together the Calls
// have as many tokens as the Plan.
func DiamondStepReplyLines(pace string) (lines []string) {
	for i := range DiamondDependencies {
		lines = append(lines, ReplyLine([]string{paddedCall(i+1, planReplyTokens/len(DiamondDependencies))}, "null",
			pace))
	}
	return append(lines, diamondOutputReply(pace))
}

func diamondOutputReply(pace string) string {
	output := fmt.Sprintf(`{"text":%q}`,
		strings.Repeat("x", outputReplyTokens*charsPerToken-len(`{"calls":[],"output":{"text":""}}`)))
	return ReplyLine(nil, output, pace)
}

// diamondCalls pads the reason of each Call so that all Calls together have this number of tokens.
func diamondCalls(tokenCount int) []string {
	unpaddedLength := len(replyFrame) + len(DiamondDependencies) - 1
	for i := range DiamondDependencies {
		unpaddedLength += len([]rune(diamondCall(i+1, "")))
	}
	paddingLength := max(0, (tokenCount*charsPerToken-unpaddedLength)/len(DiamondDependencies))
	calls := make([]string, len(DiamondDependencies))
	for i := range DiamondDependencies {
		calls[i] = diamondCall(i+1, strings.Repeat("r", paddingLength))
	}
	return calls
}

// replyFrame is the text around the Calls of a reply.
const replyFrame = `{"calls":[],"output":null}`

// paddedCall returns a Call that alone makes a reply of this number of tokens.
func paddedCall(callNumber, tokenCount int) string {
	unpaddedLength := len(replyFrame) + len([]rune(diamondCall(callNumber, "")))
	return diamondCall(callNumber, strings.Repeat("r", max(0, tokenCount*charsPerToken-unpaddedLength)))
}

func diamondCall(callNumber int, reason string) string {
	var reads []string
	for _, input := range DiamondDependencies[callNumber-1] {
		reads = append(reads, fmt.Sprintf(`"†state.c%d"`, input))
	}
	return fmt.Sprintf(`{"_tool":"wait","n":%d,"after":[%s],"_outputPath":"c%d","_reasoningForCall":%q}`, callNumber,
		strings.Join(reads, ","), callNumber, reason)
}
