package app

import (
	"bufio"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"processidea/starter/internal/print"
)

// CanPrompt reports whether there is a user at the terminal.
func (a *App) CanPrompt() bool {
	stdin, isFile := a.In.(*os.File)
	return !a.JSON && isFile && term.IsTerminal(int(stdin.Fd())) && print.TerminalWidth(a.Err) > 0
}

// Ask asks the user at the terminal; asked is false without a terminal.
func (a *App) Ask(question string) (agreed, asked bool) {
	if !a.CanPrompt() {
		return false, false
	}
	_, _ = io.WriteString(a.Err, question)
	line, _ := bufio.NewReader(a.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", true
}
