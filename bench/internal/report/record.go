package report

import "fmt"

// Recorder collects the figures of one work over its rounds, and of the same work at other sizes.
type Recorder struct {
	template Figure // the start of each new figure: the work, the axis and the position on it
	figures  *[]*Figure
}

// NewRecorder returns an empty record of a work.
func NewRecorder(work string) *Recorder { return &Recorder{Figure{Workload: work}, new([]*Figure)} }

// Figure is one line of the table. Axis says what At counts: Requests, Calls or instances.
type Figure struct {
	Workload         string  `json:"work"`
	Name             string  `json:"name"`
	Unit             string  `json:"unit"`
	Axis             string  `json:"axis,omitempty"`
	Size             int     `json:"at,omitempty"`
	MeasuredSpread   Spread  `json:"ours"`
	PlainGoSpread    *Spread `json:"plain,omitempty"`
	Ratio            float64 `json:"ratio,omitempty"`
	Limit            float64 `json:"limit,omitempty"`
	LimitDescription string  `json:"rule,omitempty"`   // the limit in words
	PlainRatioLimit  float64 `json:"factor,omitempty"` // the limit as a multiple of plain
	MeetsLimit       *bool   `json:"met,omitempty"`
}

// WithAxis returns the record for figures at this number of Requests, Calls or instances.
func (r *Recorder) WithAxis(axis string, size int) *Recorder {
	copied := *r
	copied.template.Axis, copied.template.Size = axis, size
	return &copied
}

// WithSize returns the record of the same work at another size.
func (r *Recorder) WithSize(size int) *Recorder {
	copied := *r
	copied.template.Workload = fmt.Sprintf("%s-%d", r.template.Workload, size)
	return &copied
}

// FindOrAddFigure returns the figure of this name, and adds it if it is new.
func (r *Recorder) FindOrAddFigure(name, unit string) *Figure {
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
	f.MeasuredSpread.Values = append(f.MeasuredSpread.Values, values...)
	return f
}

// AddPlainGo adds samples of plain Go, which does the same work.
func (f *Figure) AddPlainGo(values ...float64) *Figure {
	if f.PlainGoSpread == nil {
		f.PlainGoSpread = &Spread{}
	}
	f.PlainGoSpread.Values = append(f.PlainGoSpread.Values, values...)
	return f
}

// WithLimit sets the limit as a value; 0 sets none.
func (f *Figure) WithLimit(limit float64) *Figure {
	f.Limit = limit
	return f
}

// WithLimitDescription sets the text that the table shows for the limit, or for its absence.
func (f *Figure) WithLimitDescription(rule string) *Figure {
	f.LimitDescription = rule
	return f
}

// WithPlainRatioLimit sets the limit as a multiple of plain Go; 0 sets none.
func (f *Figure) WithPlainRatioLimit(factor float64) *Figure {
	f.PlainRatioLimit = factor
	return f
}

// AddFigures adds another process's measurements of the same work.
func (r *Recorder) AddFigures(figures []Figure) {
	for _, f := range figures {
		merged := (&Recorder{Figure{Workload: f.Workload, Axis: f.Axis, Size: f.Size},
			r.figures}).FindOrAddFigure(f.Name, f.Unit)
		merged.Add(f.MeasuredSpread.Values...).WithLimit(f.Limit).WithLimitDescription(f.LimitDescription).
			WithPlainRatioLimit(f.PlainRatioLimit)
		if f.PlainGoSpread != nil {
			merged.AddPlainGo(f.PlainGoSpread.Values...)
		}
	}
}

// SummarizedFigures sums up the samples of every figure.
func (r *Recorder) SummarizedFigures() (all []Figure) {
	for _, f := range *r.figures {
		all = append(all, f.summarize())
	}
	return all
}

func (f Figure) summarize() Figure {
	f.MeasuredSpread = SpreadOf(f.MeasuredSpread.Values)
	if f.PlainGoSpread != nil {
		p := SpreadOf(f.PlainGoSpread.Values)
		f.PlainGoSpread = &p
		if p.Median > 0 {
			f.Ratio = f.MeasuredSpread.Median / p.Median
		}
	}
	if f.Limit > 0 || f.PlainRatioLimit > 0 {
		meetsLimit := (f.Limit == 0 || f.MeasuredSpread.Median <= f.Limit) &&
			(f.PlainRatioLimit == 0 || f.Ratio <= f.PlainRatioLimit)
		f.MeetsLimit = &meetsLimit
	}
	return f
}
