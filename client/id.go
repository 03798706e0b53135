package client

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"processidea/client/internal/kind"
)

// NewProcessID makes up a process's id: the name, the time for people, and a random suffix that no other start has.
func NewProcessID(name string) string {
	return fmt.Sprintf("%s-%s-%s", idPrefixFromName(name), time.Now().Format("20060102-150405"),
		strings.ToLower(rand.Text()[:4]))
}

// maxProcessIDBytes bounds a process's id. It leaves room for the ids of instances, parts and delegates, which begin
// with the process's id; protocol.DelegateID shortens longer ones.
const maxProcessIDBytes = 90

// idPrefixFromName makes a name the beginning of an id: short enough for a suffix, and without characters that ids may
// not have. Letters lose their accents.
func idPrefixFromName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == '/' || r < ' ' || r > '~':
			return '-'
		}
		return r
	}, norm.NFKD.String(name))
	name = strings.TrimLeft(name, " ~")
	return name[:min(len(name), maxProcessIDBytes/2)]
}

// ValidateProcessID says what is wrong with a process's id; the error wraps ErrInvalid.
func ValidateProcessID(id string) error {
	switch {
	case id == "":
		return kind.Errorf(ErrInvalid, "a process id must not be empty")
	case strings.Contains(id, "/"):
		return kind.Errorf(ErrInvalid, "a process id must not contain /")
	case len(id) > maxProcessIDBytes:
		return kind.Errorf(ErrInvalid, "a process id has at most %d bytes", maxProcessIDBytes)
	case id == "." || id == ".." || strings.HasPrefix(id, "~"):
		return kind.Errorf(ErrInvalid, "a process id must not be . or .., nor begin with ~")
	case strings.TrimSpace(id) != id || strings.IndexFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) >= 0:
		return kind.Errorf(ErrInvalid, "a process id must be ASCII without control characters or spaces at its "+
			"ends, for all Temporal clients to address it; %q would do", idPrefixFromName(strings.TrimSpace(id)))
	}
	return nil
}
