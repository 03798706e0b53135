package desk

import (
	"strings"
	"testing"

	"processidea/model/ideafile/shown"
)

// Who does not see the picture reads what it shows, and who reads in the dark is not dazzled by it.
func TestThePictureOfAPlanIsToldInWordsAndDrawnForDarkPages(t *testing.T) {
	t.Parallel()
	page := &processPage{IsDrawn: true, CallCount: 1, PictureHref: "/plan.svg?live=1",
		StepTexts: []string{"1 Pay: 1 rejected, 9 done"}}
	all, _ := pageText(t, shown.German, "process", page)
	wantTexts(t, "the process", all, []string{"Die Schritte in Worten 1 Pay: 1 rejected, 9 done"})
	made, err := loadTemplates()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := made[shown.English]["process"].ExecuteTemplate(&b, "frame", page); err != nil {
		t.Fatal(err)
	}
	wantTexts(t, "the picture", b.String(), []string{
		`<source media="screen and (prefers-color-scheme: dark)" srcset="/plan.svg?live=1&amp;dark=yes">`,
		`src="/plan.svg?live=1"`})
}
