package results

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/metrics"
)

// seriesObject is an element of `metrics --json`, but for its points.
type seriesObject struct {
	Handle    string          `json:"handle"`
	AppID     string          `json:"app_id"`
	Role      string          `json:"role"`
	Replica   int             `json:"replica"`
	Name      string          `json:"name"`
	Source    string          `json:"source"`
	Count     int64           `json:"count"`
	NonFinite int64           `json:"non_finite"`
	Broken    int64           `json:"broken"`
	Segments  int             `json:"segments"`
	First     metrics.Number  `json:"first"`
	Last      metrics.Number  `json:"last"`
	Min       *metrics.Number `json:"min"`
	Max       *metrics.Number `json:"max"`
	LastStep  *int64          `json:"last_step"`
	FirstTime time.Time       `json:"first_time"`
	LastTime  time.Time       `json:"last_time"`
}

func newSeriesObject(a *app, s *metrics.Summary) seriesObject {
	source, _ := sourceName(s.Source)
	o := seriesObject{
		Handle: a.Handle(), AppID: a.ID, Role: s.Role, Replica: s.Replica, Name: s.Name, Source: source,
		Count: s.Count, NonFinite: s.NonFinite, Broken: s.Broken, Segments: s.Segments,
		First: metrics.Number(s.First), Last: metrics.Number(s.Last), Min: finite(s.Min), Max: finite(s.Max),
		FirstTime: s.FirstTime.UTC(), LastTime: s.LastTime.UTC(),
	}
	if s.HasStep {
		o.LastStep = &s.LastStep
	}
	return o
}

// printJSON prints the series and their points while it reads them.
func (v *view) printJSON(ctx context.Context) error {
	out := &writer{Writer: bufio.NewWriterSize(v.Out, 64<<10)}
	array := &ui.ArrayWriter{W: out}
	for _, a := range v.apps {
		for _, s := range v.selected(a) {
			if err := v.writeSeries(ctx, out, array, a, &s); err != nil {
				return err
			}
		}
	}
	_ = array.End() // Flush returns the error
	return out.Flush()
}

// writer is a buffered writer whose Flush returns the first error of all writes.
type writer struct{ *bufio.Writer }

func (w *writer) text(s string) { _, _ = w.WriteString(s) } // Flush returns the error

// writeSeries writes one object on one line, then its points on a line each.
func (v *view) writeSeries(
	ctx context.Context, out *writer, array *ui.ArrayWriter, a *app, s *metrics.Summary,
) error {
	data, err := v.MaskedJSON(newSeriesObject(a, s))
	if err != nil {
		return err
	}
	if v.summary {
		return array.Add(data)
	}
	if err := array.Add(append(bytes.TrimSuffix(data, []byte("}")), `,"points":[`...)); err != nil {
		return err
	}
	between := "\n    "
	err = eachPoint(ctx, a, s, out, func(b []byte, p *metrics.Point) []byte {
		b = appendJSON(append(b, between...), p)
		between = ",\n    "
		return b
	})
	out.text("]}")
	return err
}

// appendJSON appends a point as a JSON object.
func appendJSON(b []byte, p *metrics.Point) []byte {
	b = append(b, `{"step":`...)
	if p.HasStep {
		b = strconv.AppendInt(b, p.Step, 10)
	} else {
		b = append(b, "null"...)
	}
	b = p.Time.UTC().AppendFormat(append(b, `,"time":"`...), time.RFC3339Nano)
	b = append(b, `","value":`...)
	value, _ := metrics.Number(p.Value).MarshalJSON() // each number has a form
	b = append(b, value...)
	return append(strconv.AppendInt(append(b, `,"segment":`...), int64(p.Segment), 10), '}')
}

// eachPoint writes each point of a series in a form.
func eachPoint(ctx context.Context, a *app, s *metrics.Summary, out *writer,
	form func([]byte, *metrics.Point) []byte,
) error {
	points, err := metrics.Points(a.dir, s.Key)
	if err != nil && points == nil {
		return err
	}
	var b []byte
	for p, err := range points {
		if err != nil {
			return err
		}
		b = form(b[:0], &p)
		if _, err := out.Write(b); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// printCSV prints all points as CSV (RFC 4180, lines end with \n) while it reads them.
func (v *view) printCSV(ctx context.Context) error {
	out := &writer{Writer: bufio.NewWriterSize(v.Out, 64<<10)}
	out.text("app_id,role,replica,name,step,time,value,segment\n")
	for _, a := range v.apps {
		for _, s := range v.selected(a) {
			head, err := csvFields(a.ID, s.Role, strconv.Itoa(s.Replica), s.Name)
			if err != nil {
				return err
			}
			if err := eachPoint(ctx, a, &s, out, func(b []byte, p *metrics.Point) []byte { return appendCSV(append(b, head...), p) }); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func appendCSV(b []byte, p *metrics.Point) []byte {
	if p.HasStep {
		b = strconv.AppendInt(b, p.Step, 10)
	}
	b = p.Time.UTC().AppendFormat(append(b, ','), time.RFC3339Nano)
	b = exact(append(b, ','), p.Value)
	b = strconv.AppendInt(append(b, ','), int64(p.Segment), 10)
	return append(b, '\n')
}

// csvFields returns the first fields of a line, quoted where needed, with a comma at the end.
func csvFields(fields ...string) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.Write(fields); err != nil {
		return "", err
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n") + ",", w.Error()
}
