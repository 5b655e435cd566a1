package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tpccbench/probe"
	"tpccbench/record"
	"tpccbench/report"
)

var update = flag.Bool("update", false, "write the golden page anew")

func render(t *testing.T, s *report.Study, probes map[string]*probe.Result) string {
	t.Helper()
	var b bytes.Buffer
	must(t, Write(&b, s, probes))
	return b.String()
}

// The page of a made-up study with all that a page can show is the one that was looked at.
func TestGolden(t *testing.T) {
	got := pages(t)["whole"]
	golden := filepath.Join("testdata", "tiny.html")
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d is\n%s\nnot\n%s\n(go test ./report/page -update writes it anew; look at it then)", i+1, g[i], w[i])
		}
	}
	t.Fatalf("%d lines, not %d", len(g), len(w))
}

// node is an element of a page with the elements that it is in.
type node struct {
	xml.StartElement
	parents []string
	text    string // directly in it
}

func (n *node) attr(name string) string {
	for _, a := range n.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// elements reads the page, which must be well-formed: each element is closed, in order.
func elements(t *testing.T, page string) []*node {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	var all, open []*node
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{StartElement: token.Copy()}
			for _, o := range open {
				n.parents = append(n.parents, o.Name.Local)
			}
			all, open = append(all, n), append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(token)
			}
		}
	}
}

// pages are pages of studies of all kinds, made once.
func pages(t *testing.T) map[string]string {
	t.Helper()
	if made == nil {
		made = makePages(t)
	}
	return made
}

var made map[string]string

func makePages(t *testing.T) map[string]string {
	t.Helper()
	older := fixture{each: func(r *record.Run) {
		for _, name := range []string{checkpointBytes, tempBytes, gcShare, "checkpoint_ns"} {
			r.Miss(name, "not recorded")
		}
		for i := range r.Series {
			r.Series[i].LatencyNSP99, r.Series[i].CheckpointBytes, r.Series[i].CheckpointNS = nil, nil, nil
		}
	}}
	broken := fixture{exploratory: []string{"<script>alert(1)</script> & more"}, each: func(r *record.Run) {
		if r.Cell == "sd-w1-pure-4" || r.Name() == "matrix-ram-w1-pure-8-r2" {
			r.Status, r.Gate, r.Reason = record.Failed, record.GateConsistency, "clause 1 <b>broken</b> & \"so on\""
		}
		r.Warnings = []string{"a <warning>"}
	}}
	altered := fixture{}.write(t)
	must(t, os.WriteFile(filepath.Join(altered, "plan.toml"), []byte("name = 1"), 0o644))
	unreadable, err := report.Load(altered)
	must(t, err)
	without := func(pattern string) *report.Study {
		dir := fixture{}.write(t)
		files, err := filepath.Glob(filepath.Join(dir, "raw", pattern))
		must(t, err)
		for _, file := range files {
			must(t, os.Remove(file))
		}
		s, err := report.Load(dir)
		must(t, err)
		return s
	}
	return map[string]string{
		"whole":           render(t, fixture{}.load(t), probes()),
		"older":           render(t, older.load(t), nil),
		"failed runs":     render(t, broken.load(t), probes()),
		"unreadable plan": render(t, unreadable, nil),
		"half":            render(t, without("matrix-*[48]-r[23].json"), nil),
		"nothing":         render(t, without("*.json"), nil),
	}
}

// A page is well-formed, needs nothing but itself, and can be read without seeing it: each picture has a name and a
// description, each table a caption and headings of rows and columns, headings are in order, no identifier is there
// twice.
func TestPageStandsAlone(t *testing.T) {
	address := regexp.MustCompile(`(?i)url\(|@import|expression\(`)
	for name, page := range pages(t) {
		t.Run(name, func(t *testing.T) {
			ids := map[string]string{}
			var headings []string
			nodes := elements(t, page)
			for _, n := range nodes {
				if id := n.attr("id"); id != "" {
					if _, twice := ids[id]; twice {
						t.Errorf("id %q is there twice", id)
					}
					ids[id] = n.text
				}
			}
			counts := map[string]int{}
			for _, n := range nodes {
				tag := n.Name.Local
				counts[tag]++
				for _, a := range n.Attr {
					if slices.Contains([]string{"src", "srcset", "data", "action", "poster"}, a.Name.Local) || strings.HasPrefix(a.Name.Local, "on") {
						t.Errorf("<%s> has %s=%q", tag, a.Name.Local, a.Value)
					}
				}
				if href := n.attr("href"); href != "" {
					if _, ok := ids[strings.TrimPrefix(href, "#")]; !ok || !strings.HasPrefix(href, "#") {
						t.Errorf("<%s> refers to %q, which is not in the page", tag, href)
					}
				}
				switch tag {
				case "script", "link", "iframe", "object", "embed", "img", "image", "use", "base":
					t.Errorf("there is a <%s>", tag)
				case "style":
					if found := address.FindString(n.text); found != "" {
						t.Errorf("the style has %q", found)
					}
				case "h1", "h2", "h3", "h4":
					headings = append(headings, tag)
				case "svg":
					if n.attr("aria-hidden") == "true" {
						if !slices.Contains(n.parents, "li") {
							t.Errorf("a picture without a name does not stand beside words: in %v", n.parents)
						}
						continue
					}
					labels := strings.Fields(n.attr("aria-labelledby"))
					if n.attr("role") != "img" || len(labels) != 2 {
						t.Errorf("a picture has role %q and the names %q", n.attr("role"), labels)
					}
					for _, label := range labels {
						if len(strings.TrimSpace(ids[label])) < 10 {
							t.Errorf("a picture's %s says %q only", label, ids[label])
						}
					}
				case "th":
					if s := n.attr("scope"); s != "col" && s != "row" {
						t.Errorf("heading %q of a table is of scope %q", n.text, s)
					}
				}
			}
			if counts["caption"] != counts["table"] || counts["table"] == 0 || counts["title"] != 1+strings.Count(page, `role="img"`) {
				t.Errorf("%d tables, %d captions; %d titles", counts["table"], counts["caption"], counts["title"])
			}
			if len(headings) == 0 || headings[0] != "h1" || counts["h1"] != 1 {
				t.Errorf("headings begin with %v; there are %d h1", headings, counts["h1"])
			}
			for i := 1; i < len(headings); i++ {
				if headings[i][1] > headings[i-1][1]+1 {
					t.Errorf("heading %d is %s after %s", i, headings[i], headings[i-1])
				}
			}
		})
	}
}

// plainText is the page's text, blanks as one.
func plainText(t *testing.T, page string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page[strings.Index(page, "<body>"):]))
	d.Strict = false
	var b strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return strings.Join(strings.Fields(b.String()), " ")
		}
		if c, ok := token.(xml.CharData); ok {
			b.Write(c)
			b.WriteByte(' ')
		}
	}
}

// What a study counts as is the first thing on its page, and text from files does not become markup.
func TestFirstLine(t *testing.T) {
	all := pages(t)
	for name, want := range map[string]string{
		"whole":           "registered : plan and program were committed unchanged before the run.",
		"failed runs":     "exploratory : <script>alert(1)</script> & more.",
		"unreadable plan": "exploratory : ",
	} {
		if got := plainText(t, all[name]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: the page begins with %.100q, not %q", name, got, want)
		}
	}
}

// What is altered or missing is named above everything but the first line.
func TestProblemsStandOnTop(t *testing.T) {
	dir := fixture{}.write(t)
	path := filepath.Join(dir, "raw", "matrix-ram-w1-pure-4-r1.json")
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, bytes.Replace(b, []byte(`"cpu_us_per_tx": 125`), []byte(`"cpu_us_per_tx": 124`), 1), 0o644))
	s, err := report.Load(dir)
	must(t, err)
	page := render(t, s, nil)
	named, heading := strings.Index(page, "raw/matrix-ram-w1-pure-4-r1.json</code>: <strong>altered</strong>"), strings.Index(page, "<h1>")
	if named < 0 || named > heading {
		t.Errorf("the altered record is named at %d, the page's heading is at %d", named, heading)
	}
	if !strings.Contains(page, "not whole and unchanged") {
		t.Error("an altered study is not said to be one")
	}
	must(t, os.WriteFile(path, b, 0o644))
	for _, name := range []string{"matrix.csv", "tables.md"} {
		must(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	s, err = report.Load(dir)
	must(t, err)
	if page := render(t, s, nil); !strings.Contains(page, "not complete") || strings.Contains(page, "not whole and unchanged") {
		t.Error("a study that lacks something is not told from one that was altered")
	}
	if whole := pages(t)["whole"]; strings.Contains(whole, `role="alert"`) {
		t.Error("a whole study has an alarm")
	}
}

// tableOf is the text of the table whose caption begins so, a line per row.
func tableOf(t *testing.T, page, caption string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "<caption>"+caption)
	if !ok {
		t.Fatalf("there is no table %q", caption)
	}
	body, _, _ := strings.Cut(rest, "</table>")
	_, body, _ = strings.Cut(body, "</caption>")
	body = regexp.MustCompile(`</t[hd]>`).ReplaceAllString(body, " | ")
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, ""))
}

// The figures of the page are those of the raw records: medians and ranges over the rounds that are results, ratios
// within rounds, shares of the device's limit. A run that broke a gate is in no figure and is named with its reason.
func TestFigures(t *testing.T) {
	all := pages(t)
	for _, c := range []struct{ page, caption, row string }{
		// 2,000, 2,020 and 2,040 a second in five seconds of six, a quarter in the other.
		{"whole", "Transactions per second on ram", "pure, 4 | 1,768 (1,750–1,785) | +2.0 % | "},
		{"whole", "tx_per_s of one cell over that of another at most 2 for one cell at least: does not hold",
			"ram-w1-pure-8 / ram-w1-sqlitegrouped-8 | 5.001 | does not hold | 5.00 | 5.00 | 5.00 | "},
		{"failed runs", "Transactions per second on ram", "pure, 8 | 2,651 (2,625–2,678)1 |  | "},
		{"failed runs", "Transactions per second on sd", "pure, 4 | n/a1 |  | "},
		{"whole", "pure against the others", "ram, W=1, 4 | pure-twin | 1.01"},
		{"whole", "Bytes per transaction on sd", "pure, 4 | 990 | 120 | 200 | 670 | 0.100 | "},
		{"older", "Bytes per transaction on sd", "pure, 4 | 990 | 120 | 870 | 0.100 | "},
		{"whole", "Checkpoints on sd", "pure, 4 | 1 | 13.3 % | 0.900 | 0.400 | "},
		{"older", "Checkpoints on sd", "pure, 4 | 1 | "},
		{"whole", "sd: a block written and made durable (write and fdatasync); large writes at 5.00 MB/s", "4,096 B, preallocated | 1,000 | 0.900 | 2.00 | 5.00 | n/a1 | 1.00 | "},
		{"whole", "Tuning on sd", "cache (chosen) | 262 [3.33 kB] | 315 [2.78 kB] | cache_size_kib=65536 | "},
		{"failed runs", "Every run", "matrix-ram-w1-pure-8-r2 | failed: consistency"},
		{"whole", "sqlitegrouped: what differs", "page_size | 4096 | 1024 | "},
	} {
		if got := tableOf(t, all[c.page], c.caption); !strings.Contains(got, "\n"+c.row) {
			t.Errorf("%s: table %q has no row %q:\n%s", c.page, c.caption, c.row, got)
		}
	}
	for page, texts := range map[string][]string{
		"whole": {"faster: the rule's condition does not hold", "It is.", "owner: cannot decide", "noise exceeds the effect",
			"tpccbench cell --from results/tiny/raw/matrix-sd-w1-sqlitegrouped-8-r3.json", "there is none", "is called no difference"},
		"older":           {"The garbage collector's share: not recorded", "What the devices can do: not recorded", "When checkpoints ran: not recorded"},
		"failed runs":     {`clause 1 <b>broken</b> & "so on"`, "a <warning>"},
		"unreadable plan": {"the stored plan cannot be read"},
	} {
		got := plainText(t, all[page])
		for _, text := range texts {
			if !strings.Contains(got, text) {
				t.Errorf("%s: the page does not say %q", page, text)
			}
		}
	}
}

// Shares of what a device can do: durable commits against syncs, bytes against the write rate.
func TestShareOfLimits(t *testing.T) {
	page := pages(t)["whole"]
	for id, want := range map[string]string{
		"commits-sd-w1": "pure, 4: 22.1 %;", // 883.75 transactions/s in groups of 4, of 1,000 syncs/s
		"written-sd-w1": "pure, 4: 17.5 %;", // times 990 B, of 5 MB/s
	} {
		_, rest, _ := strings.Cut(page, fmt.Sprintf("<desc id=%q>", id+"-d"))
		if desc, _, _ := strings.Cut(rest, "</desc>"); !strings.Contains(desc, want) {
			t.Errorf("%s says %q, not %q", id, desc, want)
		}
	}
}

// The same study makes the same page, whatever the order of maps.
func TestDeterministic(t *testing.T) {
	if render(t, fixture{}.load(t), probes()) != pages(t)["whole"] {
		t.Error("two pages of one study differ")
	}
}
