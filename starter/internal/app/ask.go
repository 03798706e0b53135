package app

import (
	"bufio"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"processidea/starter/internal/print"
)

// CanAsk reports whether there is a user at the terminal.
func (a *App) CanAsk() bool {
	typed, isFile := a.In.(*os.File)
	return !a.JSON && isFile && term.IsTerminal(int(typed.Fd())) && print.TerminalWidth(a.Err) > 0
}

// Ask asks the user at the terminal; asked is false without a terminal.
func (a *App) Ask(question string) (agreed, asked bool) {
	if !a.CanAsk() {
		return false, false
	}
	_, _ = io.WriteString(a.Err, question)
	line, _ := bufio.NewReader(a.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", true
}
