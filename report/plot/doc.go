// Package plot draws the figures of a report as small SVG pictures for a page of HTML. It is gonum.org/v1/plot with a
// canvas of its own: what is drawn has CSS classes in place of colours (Ink), so that one picture serves a light and a
// dark page, coordinates are short, and each picture carries its title and description for those who cannot see it.
//
// All figures are drawn for a width of Width units, which is a phone's; a wider page puts several side by side. They
// take plain numbers and know nothing of a study:
//
//	Dots     a median and its range per row, along one axis, each row directly labelled
//	Shares   what a whole is made of, per row
//	Lines    curves over a linear, logarithmic or percentile axis, labelled at their ends
//	Seconds  a rate over time above the longest response time, with checkpoints marked
//
// The rules of the colours, and of the text in the pictures, are CSS.
package plot
