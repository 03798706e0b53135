package process

import (
	"github.com/spf13/cobra"

	"processidea/client/ideafiles"
)

// fileFlags are the flags that name files beside the Idea file.
type fileFlags struct{ instances, key, replies string }

func (f *fileFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.instances, "instances", "", "`file` of instances, one a row: .jsonl or .csv")
	c.Flags().StringVar(&f.key, "key", "", "`column` of the instances that names them for people, such as order")
	addRepliesFlag(c, &f.replies)
	_ = c.MarkFlagFilename("instances")
}

func addRepliesFlag(c *cobra.Command, replies *string) {
	c.Flags().StringVar(replies, "replies", "", "`file` of recorded replies that answer in place of an LLM")
	_ = c.MarkFlagFilename("replies")
}

func (f *fileFlags) findSource(path string) (ideafiles.Source, error) {
	source, err := ideafiles.Find(path, f.instances, f.replies)
	source.Key = f.key
	return source, err
}
