// Package browser has no code of its own: its tests use the desk in real browsers, as people do, and each test is the
// same in all. Debian's Chromium is driven over the DevTools protocol, its Firefox by WebDriver BiDi; where one is not
// installed, the tests say so and are skipped.
package browser
