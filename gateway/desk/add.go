package desk

import (
	"context"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/jsonval"
)

// addRowsPage is the form that adds instances to a running process.
type addRowsPage struct {
	frame
	formErrors
	Rows   file
	Reason string
}

func (v *visit) newAddRowsPage() *addRowsPage {
	return &addRowsPage{frame: v.processFrame("Add cases to %s")}
}

func (v *visit) showAddRows() error {
	p := v.newAddRowsPage()
	if _, err := v.Status(v.Context(), p.Process); err != nil {
		return err
	}
	return v.show("add", p)
}

// addInstances adds the rows of a file to a process. If the rows have errors, the form is shown again with them.
func (v *visit) addInstances() (err error) {
	p := v.newAddRowsPage()
	p.Reason = v.formValue("reason")
	if p.Rows, err = v.readFile("rows", "rows.jsonl"); err != nil {
		return v.render(p.setError(err), "add", p)
	}
	p.Rows.renameTypedRows()
	err = v.steerAndRedirect("#instances", func(ctx context.Context, target *client.Process) error {
		if p.Rows.Name == "" {
			return api.Unprocessable("Nothing was added: choose a file of rows, or type them.")
		}
		_, err := target.AddInstanceRows(ctx, p.Rows.Name, []byte(p.Rows.Text), jsonval.UntrustedNodeLimit,
			v.callerActor())
		return err
	})
	if err != nil {
		return v.render(p.setError(err), "add", p)
	}
	return nil
}
