package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"

	"tpccbench/probe"
	"tpccbench/report"
	"tpccbench/report/plot"
)

//go:embed page.html.tmpl page.css
var files embed.FS

var page = template.Must(template.New("page.html.tmpl").ParseFS(files, "page.html.tmpl"))

// view is what the template renders.
type view struct {
	Style    template.CSS
	Head     head
	Sections []section
}

// Write writes the page of the study. probes has what the study's devices can do, by the device's name; a device without
// one is said not to have it. The same study makes the same bytes.
func Write(w io.Writer, s *report.Study, probes map[string]*probe.Result) error {
	css, err := files.ReadFile("page.css")
	if err != nil {
		return err
	}
	v := view{Style: template.CSS(plot.CSS() + string(css)), Head: headOf(s)}
	if s.Plan == nil {
		v.Sections = []section{gates(s), machine(s)}
	} else {
		l, gs := lookOf(s), groups(s)
		v.Sections = []section{
			verdicts(s), throughput(s, l, gs), latency(l, gs), deviceBytes(l, gs), limits(l, gs, probes), cpu(l, gs), memory(l, gs),
			course(l, gs), tuning(s, l), gates(s), noise(s), machine(s), redo(s),
		}
	}
	for i := range v.Sections {
		v.Sections[i].Blocks = pack(v.Sections[i].Blocks)
	}
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("report of %s: %w", s.Dir, err)
	}
	return nil
}
