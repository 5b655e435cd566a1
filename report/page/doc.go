// Package page renders a study as one page of HTML that needs nothing but itself: style and pictures are in it, no
// network and no script is needed to read it. Pictures are SVG by report/plot and have a table or a description beside
// them; colours follow the reader's light or dark setting, and print.
//
// The page is made of sections, in the order in which a reader asks: what was decided, the figures that it was decided
// by, whether they can be trusted, and how to get them again. A section is built by one file of this package from a
// report.Study into blocks (block.go), which the template renders; all words and figures are there, none in the template.
package page
