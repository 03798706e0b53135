package report

import "fmt"

// Record collects the samples of one work over its rounds.
type Record struct {
	Work  string
	order []string // names of the figures, as they first came
	by    map[string]*Samples
	sizes []*Record // of the same work at other sizes
}

// Samples are the values that one figure is made of.
type Samples struct {
	figure      Figure
	ours, plain []float64
}

// Figure is one line of the table. Axis says what there were At of: Requests, Calls or instances.
type Figure struct {
	Work   string  `json:"work"`
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Axis   string  `json:"axis,omitempty"`
	At     int     `json:"at,omitempty"`
	Ours   Spread  `json:"ours"`
	Plain  *Spread `json:"plain,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"`
	Limit  float64 `json:"limit,omitempty"`
	Rule   string  `json:"rule,omitempty"`   // the limit in words
	Factor float64 `json:"factor,omitempty"` // the limit as a multiple of plain
	Met    *bool   `json:"met,omitempty"`
}

// Sized gives the record of the same work at another size.
func (r *Record) Sized(n int) *Record { return r.named(fmt.Sprintf("%s-%d", r.Work, n)) }

func (r *Record) named(work string) *Record {
	if work == r.Work {
		return r
	}
	for _, s := range r.sizes {
		if s.Work == work {
			return s
		}
	}
	s := &Record{Work: work}
	r.sizes = append(r.sizes, s)
	return s
}

// Figure gives the samples of a figure, which may be new.
func (r *Record) Figure(name, unit string) *Samples {
	if r.by == nil {
		r.by = map[string]*Samples{}
	}
	s := r.by[name]
	if s == nil {
		s = &Samples{figure: Figure{Work: r.Work, Name: name, Unit: unit}}
		r.by[name], r.order = s, append(r.order, name)
	}
	return s
}

// Add adds samples of Process Idea.
func (s *Samples) Add(values ...float64) *Samples {
	s.ours = append(s.ours, values...)
	return s
}

// AddPlain adds samples of plain Go, which does the same work beside it.
func (s *Samples) AddPlain(values ...float64) *Samples {
	s.plain = append(s.plain, values...)
	return s
}

// AtMost sets the limit as a value; 0 is none.
func (s *Samples) AtMost(limit float64) *Samples {
	s.figure.Limit = limit
	return s
}

// InWords says the limit, or why there is none, as the table shows it.
func (s *Samples) InWords(rule string) *Samples {
	s.figure.Rule = rule
	return s
}

// AtMostTimesPlain sets the limit as a multiple of plain Go; 0 is none.
func (s *Samples) AtMostTimesPlain(factor float64) *Samples {
	s.figure.Factor = factor
	return s
}

// On sets of how many Requests, Calls or instances the figure is.
func (s *Samples) On(axis string, at int) *Samples {
	s.figure.Axis, s.figure.At = axis, at
	return s
}

// AddFigures adds what another process has measured of the same work.
func (r *Record) AddFigures(figures []Figure) {
	for _, f := range figures {
		s := r.named(f.Work).Figure(f.Name, f.Unit).On(f.Axis, f.At).AtMost(f.Limit).InWords(f.Rule).AtMostTimesPlain(
			f.Factor).Add(f.Ours.Values...)
		if f.Plain != nil {
			s.AddPlain(f.Plain.Values...)
		}
	}
}

// FiguresOf sums up every record.
func FiguresOf(records []*Record) (all []Figure) {
	for _, r := range records {
		all = append(all, r.Figures()...)
	}
	return all
}

// Figures sums up the samples of every figure, those of other sizes last.
func (r *Record) Figures() (all []Figure) {
	for _, name := range r.order {
		all = append(all, r.by[name].sum())
	}
	return append(all, FiguresOf(r.sizes)...)
}

func (s *Samples) sum() Figure {
	f := s.figure
	f.Ours = SpreadOf(s.ours)
	if len(s.plain) > 0 {
		p := SpreadOf(s.plain)
		f.Plain = &p
		if p.Median > 0 {
			f.Ratio = f.Ours.Median / p.Median
		}
	}
	if f.Limit > 0 || f.Factor > 0 {
		met := (f.Limit == 0 || f.Ours.Median <= f.Limit) && (f.Factor == 0 || f.Ratio <= f.Factor)
		f.Met = &met
	}
	return f
}
