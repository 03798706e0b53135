// Package browser has no code of its own: its tests use the desk in a real browser, as people do. Debian's Chromium is driven over the
// DevTools protocol; where no browser is installed, the tests say so and are skipped.
package browser
