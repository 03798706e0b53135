package app

import (
	"bufio"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"processidea/starter/internal/print"
)

// Ask asks the user at the terminal; asked is false without a terminal.
func (a *App) Ask(question string) (agreed, asked bool) {
	typed, isFile := a.In.(*os.File)
	if a.JSON || !isFile || !term.IsTerminal(int(typed.Fd())) || print.TerminalWidth(a.Err) == 0 {
		return false, false
	}
	_, _ = io.WriteString(a.Err, question)
	line, _ := bufio.NewReader(typed).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", true
}
