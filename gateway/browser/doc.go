// Package browser has no code of its own: its tests use the desk in real browsers, as people do, with the same tests in
// all. Debian's Chromium is driven over the DevTools protocol, its Firefox by WebDriver BiDi; tests of a missing
// browser are skipped with a message.
package browser
