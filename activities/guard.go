package activities

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"processidea/model/jsonval"
)

// maxPreface is how much prose may stand before a Markdown fence, in bytes.
const maxPreface = 4_000

// errForm says that a reply is not even begun as it should be.
type errForm struct{ why string }

func (e errForm) Error() string { return e.why }

// guard watches the text on its way to the parser: it takes off what LLMs put before a reply, and ends what has no end.
type guard struct {
	to       io.Writer
	begun    bool
	thinking bool
	lead     string // what stands before the reply, so far as it may matter
	bytes    int
	blank    int
}

// Write takes the next piece of the text.
func (g *guard) Write(text string) error {
	if g.bytes += len(text); g.bytes > maxReplyBytes {
		return errEndless{fmt.Sprintf("more than %d MB", maxReplyBytes>>20)}
	}
	for _, r := range text {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			g.blank++
		} else {
			g.blank = 0
		}
	}
	if g.blank > maxBlank {
		return errEndless{"nothing but white space comes"}
	}
	if !g.begun {
		return g.begin(text)
	}
	_, err := io.WriteString(g.to, text)
	return err
}

// Close says what is wrong with a text that has ended before it began.
func (g *guard) Close() error {
	if lead := strings.TrimSpace(g.lead); !g.begun && !g.thinking && lead != "" {
		return errForm{fmt.Sprintf("it begins with %q", jsonval.Clip(lead, 60))}
	}
	return nil
}

const thinkOpen, thinkClose = "<think>", "</think>"

// fenced finds an object that opens a Markdown code block.
var fenced = regexp.MustCompile("(?i)```[ \t]*(?:json[c5]?)?\\s*({)")

// begin waits for the opening brace. White space may stand before it, thoughts between their tags, and a Markdown fence
// with prose before that. A brace within prose begins nothing: it may be an example.
func (g *guard) begin(text string) error {
	g.lead = strings.TrimLeft(g.lead+text, "\uFEFF \t\r\n")
	if g.thinking || strings.HasPrefix(g.lead, thinkOpen) {
		at := strings.Index(g.lead, thinkClose)
		if g.thinking = at < 0; g.thinking {
			g.lead = g.lead[max(0, len(g.lead)-len(thinkClose)):]
			return nil
		}
		g.lead = strings.TrimLeft(g.lead[at+len(thinkClose):], "\uFEFF \t\r\n")
	}
	at := -1
	if strings.HasPrefix(g.lead, "{") {
		at = 0
	} else if found := fenced.FindStringSubmatchIndex(g.lead); found != nil {
		at = found[2]
	}
	if at < 0 {
		if len(g.lead) > maxPreface {
			return g.Close()
		}
		return nil
	}
	g.begun = true
	rest := g.lead[at:]
	g.lead = ""
	_, err := io.WriteString(g.to, rest)
	return err
}
