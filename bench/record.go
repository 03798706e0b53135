package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// record gathers what one work comes to, over its rounds.
type record struct {
	work  string
	order []string
	by    map[string]*samples
	sizes []*record // of a work that does several beside its own
}

// samples are the values of one figure.
type samples struct {
	figure
	ours, plain []float64
}

// figure is one line of the output. Axis and At say of how many Requests, Calls or instances it is.
type figure struct {
	Work   string  `json:"work"`
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Axis   string  `json:"axis,omitempty"`
	At     int     `json:"at,omitempty"`
	Ours   spread  `json:"ours"`
	Plain  *spread `json:"plain,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"`
	Limit  float64 `json:"limit,omitempty"`
	Factor float64 `json:"factor,omitempty"` // the limit as a multiple of plain
	Met    *bool   `json:"met,omitempty"`
}

// spread sums up the samples of one figure.
type spread struct {
	P10    float64   `json:"p10"`
	Median float64   `json:"median"`
	P90    float64   `json:"p90"`
	Off    float64   `json:"off"` // the median's standard error; 0 of one sample
	Values []float64 `json:"values"`
}

// sized is the record of the same work at another size.
func (r *record) sized(n int) *record { return r.named(fmt.Sprintf("%s-%d", r.work, n)) }

func (r *record) named(work string) *record {
	if work == r.work {
		return r
	}
	for _, s := range r.sizes {
		if s.work == work {
			return s
		}
	}
	s := &record{work: work}
	r.sizes = append(r.sizes, s)
	return s
}

// of finds a figure, or begins it.
func (r *record) of(name, unit string) *samples {
	if r.by == nil {
		r.by = map[string]*samples{}
	}
	s := r.by[name]
	if s == nil {
		s = &samples{figure: figure{Work: r.work, Name: name, Unit: unit}}
		r.by[name], r.order = s, append(r.order, name)
	}
	return s
}

func (s *samples) add(values ...float64) *samples {
	s.ours = append(s.ours, values...)
	return s
}

func (s *samples) beside(values ...float64) *samples {
	s.plain = append(s.plain, values...)
	return s
}

// atMost is the limit as a value; times as a multiple of plain.
func (s *samples) atMost(limit float64) *samples {
	s.Limit = limit
	return s
}

func (s *samples) times(factor float64) *samples {
	s.Factor = factor
	return s
}

// on says of how many of what the figure is.
func (s *samples) on(axis string, at int) *samples {
	s.Axis, s.At = axis, at
	return s
}

// take adds what another process has measured of the same work.
func (r *record) take(figures []figure) {
	for _, f := range figures {
		s := r.named(f.Work).of(f.Name, f.Unit).on(f.Axis, f.At).atMost(f.Limit).times(f.Factor).add(f.Ours.Values...)
		if f.Plain != nil {
			s.beside(f.Plain.Values...)
		}
	}
}

func recordsOf(works []work) (all []*record) {
	for _, w := range works {
		all = append(all, &record{work: w.name})
	}
	return all
}

func figuresOf(records []*record) (all []figure) {
	for _, r := range records {
		all = append(all, r.figures()...)
	}
	return all
}

func (r *record) figures() (all []figure) {
	for _, name := range r.order {
		all = append(all, r.by[name].sum())
	}
	return append(all, figuresOf(r.sizes)...)
}

func (s *samples) sum() figure {
	f := s.figure
	f.Ours = spreadOf(s.ours)
	if len(s.plain) > 0 {
		p := spreadOf(s.plain)
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

func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	return spread{P10: quantile(sorted, 0.1), Median: quantile(sorted, 0.5), P90: quantile(sorted, 0.9), Off: offOf(sorted), Values: values}
}

// offOf is the standard error of the median, whatever the samples' distribution: which of n sorted values is in the middle is
// off by half the root of n.
func offOf(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	by := 0.5 / math.Sqrt(float64(len(sorted)))
	return (quantile(sorted, 0.5+by) - quantile(sorted, 0.5-by)) / 2
}

// quantile is the value at a share of sorted values, between two of them where it falls there.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low, high := sorted[int(math.Floor(at))], sorted[int(math.Ceil(at))]
	return low + (high-low)*(at-math.Floor(at))
}

func seconds(d time.Duration) float64 { return d.Seconds() }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// part is some of the bytes that one place keeps. It is in the JSON, and in the table where it is a tenth of a megabyte.
func (r *record) part(place, kind, axis string, n int, size float64) {
	r.of("bytes: "+place+": "+kind, "MB").on(axis, n).add(size)
}
