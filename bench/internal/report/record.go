package report

import "fmt"

// Record collects the figures of one work over its rounds, and of the same work at other sizes.
type Record struct {
	template Figure // the start of each new figure: the work, the axis and the position on it
	figures  *[]*Figure
}

// NewRecord returns an empty record of a work.
func NewRecord(work string) *Record { return &Record{Figure{Workload: work}, new([]*Figure)} }

// Figure is one line of the table. Axis says what At counts: Requests, Calls or instances.
type Figure struct {
	Workload    string  `json:"work"`
	Name        string  `json:"name"`
	Unit        string  `json:"unit"`
	Axis        string  `json:"axis,omitempty"`
	Size        int     `json:"at,omitempty"`
	Measured    Spread  `json:"ours"`
	Plain       *Spread `json:"plain,omitempty"`
	Ratio       float64 `json:"ratio,omitempty"`
	Limit       float64 `json:"limit,omitempty"`
	Rule        string  `json:"rule,omitempty"`   // the limit in words
	PlainFactor float64 `json:"factor,omitempty"` // the limit as a multiple of plain
	IsMet       *bool   `json:"met,omitempty"`
}

// WithAxis returns the record for figures at this number of Requests, Calls or instances.
func (r *Record) WithAxis(axis string, size int) *Record {
	copied := *r
	copied.template.Axis, copied.template.Size = axis, size
	return &copied
}

// WithSize returns the record of the same work at another size.
func (r *Record) WithSize(n int) *Record {
	copied := *r
	copied.template.Workload = fmt.Sprintf("%s-%d", r.template.Workload, n)
	return &copied
}

// Figure returns the figure of this name, and adds it if it is new.
func (r *Record) Figure(name, unit string) *Figure {
	for _, f := range *r.figures {
		if f.Workload == r.template.Workload && f.Name == name {
			return f
		}
	}
	f := r.template
	f.Name, f.Unit = name, unit
	*r.figures = append(*r.figures, &f)
	return &f
}

// Add adds samples of Process Idea.
func (f *Figure) Add(values ...float64) *Figure {
	f.Measured.Values = append(f.Measured.Values, values...)
	return f
}

// AddPlain adds samples of plain Go, which does the same work.
func (f *Figure) AddPlain(values ...float64) *Figure {
	if f.Plain == nil {
		f.Plain = &Spread{}
	}
	f.Plain.Values = append(f.Plain.Values, values...)
	return f
}

// WithLimit sets the limit as a value; 0 sets none.
func (f *Figure) WithLimit(limit float64) *Figure {
	f.Limit = limit
	return f
}

// WithRule sets the text that the table shows for the limit, or for its absence.
func (f *Figure) WithRule(rule string) *Figure {
	f.Rule = rule
	return f
}

// WithFactorOfPlain sets the limit as a multiple of plain Go; 0 sets none.
func (f *Figure) WithFactorOfPlain(factor float64) *Figure {
	f.PlainFactor = factor
	return f
}

// AddFigures adds another process's measurements of the same work.
func (r *Record) AddFigures(figures []Figure) {
	for _, f := range figures {
		merged := (&Record{Figure{Workload: f.Workload, Axis: f.Axis, Size: f.Size}, r.figures}).Figure(f.Name, f.Unit)
		merged.Add(f.Measured.Values...).WithLimit(f.Limit).WithRule(f.Rule).WithFactorOfPlain(f.PlainFactor)
		if f.Plain != nil {
			merged.AddPlain(f.Plain.Values...)
		}
	}
}

// Figures sums up the samples of every figure.
func (r *Record) Figures() (all []Figure) {
	for _, f := range *r.figures {
		all = append(all, f.summarize())
	}
	return all
}

func (f Figure) summarize() Figure {
	f.Measured = SpreadOf(f.Measured.Values)
	if f.Plain != nil {
		p := SpreadOf(f.Plain.Values)
		f.Plain = &p
		if p.Median > 0 {
			f.Ratio = f.Measured.Median / p.Median
		}
	}
	if f.Limit > 0 || f.PlainFactor > 0 {
		met := (f.Limit == 0 || f.Measured.Median <= f.Limit) && (f.PlainFactor == 0 || f.Ratio <= f.PlainFactor)
		f.IsMet = &met
	}
	return f
}
