package client

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"processidea/client/internal/kind"
)

// NewID makes up a process's id: the name, the time for people, and something that no other start has.
func NewID(name string) string {
	return fmt.Sprintf("%s-%s-%s", shortenID(name), time.Now().Format("20060102-150405"), strings.ToLower(rand.Text()[:4]))
}

const longestID = 200 // bytes

// shortenID makes a name the beginning of an id: short enough for what is put behind it, and without what no id holds.
func shortenID(name string) string {
	for len(name) > longestID/2 {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsControl(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
}

// ValidateID says what is wrong with a process's id; the error wraps ErrInvalid.
func ValidateID(id string) error {
	switch {
	case id == "":
		return kind.Errorf(ErrInvalid, "a process's id is not empty")
	case strings.Contains(id, "/"):
		return kind.Errorf(ErrInvalid, "a process's id holds no /")
	case len(id) > longestID:
		return kind.Errorf(ErrInvalid, "a process's id has %d bytes at most", longestID)
	case id == "." || id == ".." || strings.HasPrefix(id, "~"):
		return kind.Errorf(ErrInvalid, "a process's id is no dots and does not begin with ~")
	case !utf8.ValidString(id) || strings.IndexFunc(id, unicode.IsControl) >= 0 || strings.TrimSpace(id) != id:
		return kind.Errorf(ErrInvalid, "a process's id holds no control characters, and no space at its ends")
	}
	return nil
}
