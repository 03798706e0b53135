package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// newID makes up an id: the name, the time for people, and something that no other run has.
func newID(name string) string {
	return fmt.Sprintf("%s-%s-%s", clipID(name), time.Now().Format("20060102-150405"), strings.ToLower(rand.Text()[:4]))
}

const longestID = 200 // bytes

func clipID(name string) string {
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

// checkID says what is wrong with a process's id.
func checkID(id string) error {
	switch {
	case id == "":
		return errors.New("a process's id is not empty")
	case strings.Contains(id, "/"):
		return errors.New("a process's id holds no /")
	case len(id) > longestID:
		return fmt.Errorf("a process's id has %d bytes at most", longestID)
	case id == "." || id == ".." || strings.HasPrefix(id, "~"):
		return errors.New("a process's id is no dots and does not begin with ~")
	case !utf8.ValidString(id) || strings.IndexFunc(id, unicode.IsControl) >= 0 || strings.TrimSpace(id) != id:
		return errors.New("a process's id holds no control characters, and no space at its ends")
	}
	return nil
}
