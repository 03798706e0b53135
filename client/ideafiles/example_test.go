package ideafiles_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"processidea/client/ideafiles"
)

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "idea-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"idea.yaml":     "{schema: {output: {type: string}}, context: [{type: text, text: Judge every comment.}]}",
		"instances.csv": "text\nThis is wonderful!\nThis is terrible.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	source, err := ideafiles.Find(dir, "", "")
	if err != nil {
		log.Fatal(err)
	}
	// The workers are another program's: a Tool that is not known here is no error.
	d, problems, err := ideafiles.Load(source, ideafiles.WorkerTools{HasOtherWorkers: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(problems), d.ParsedIdea.InstanceTokens())
	// Output: 0 [① ②]
}
