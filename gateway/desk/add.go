package desk

import (
	"context"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/jsonval"
)

// addPage is the form that adds instances to a running process.
type addPage struct {
	frame
	formErrors
	Rows   file
	Reason string
}

func (v *visit) addPage() *addPage {
	return &addPage{frame: v.frame("Add cases to " + clipName(v.process))}
}

func (v *visit) showAdd() error {
	p := v.addPage()
	if _, err := v.Status(v.Context(), p.Process); err != nil {
		return err
	}
	return v.show("add", p)
}

// addInstances adds the rows of a file to a process. If the rows have errors, the form is shown again with them.
func (v *visit) addInstances() (err error) {
	p := v.addPage()
	p.Reason = v.formValue("reason")
	if p.Rows, err = v.readFile("rows", "rows.jsonl"); err != nil {
		return v.render(p.explain(err), "add", p)
	}
	p.Rows.nameRows()
	err = v.steerAndReturn("#instances", func(ctx context.Context, of *client.Process) error {
		if p.Rows.Name == "" {
			return api.Unprocessable("Nothing was added: choose a file of rows, or type them.")
		}
		_, err := of.AddRows(ctx, p.Rows.Name, []byte(p.Rows.Text), jsonval.SentParts, v.by())
		return err
	})
	if err != nil {
		return v.render(p.explain(err), "add", p)
	}
	return nil
}
