// Package report reads a study's folder, checks that it is whole and unchanged, and says what came out: summaries of
// the cells, the tuning's choice, and the plan's decisions by the plan's rules. Everything is recomputed from the raw
// records and the stored plan; tables and choices that lie beside them are compared with what they give, never
// believed.
//
// # Integrity
//
// Load names, with the file and what differs, whatever is altered, missing, duplicated, foreign or unreadable:
//
//	plan.toml      its SHA-256 against registration.json
//	raw.sha256     the hash of each record, kept by the run; studies of the first version have none, which is noted
//	raw/*.json     against raw.sha256; against registration.json (plan, commit, exploratory, quick); against the plan
//	               (each of its runs and gates once, with its spec, and no other); and against themselves: counts,
//	               rates, percentiles and histograms, series and totals must agree
//	choices.json   against the choice rule, applied to the raw records
//	matrix.csv     against record.WriteCSV in memory, row by row and column by column
//	series/*.csv   against the raw records
//
// A run whose record is named is no result. Where no hash was kept and record and matrix.csv differ, nobody can say
// which was altered, and the run is none either. If the plan itself was altered, nothing is decided.
//
// # What a result is
//
// A run is a result if its record is whole and unchanged, it broke no gate, and the equality gate of its W was passed.
// A figure of a cell is the median over the rounds, with the range, and from six rounds on with the order-statistic
// interval of the median. A ratio or quotient is computed within a round first.
//
// # The rule of a verdict
//
// A decision of the plan is a list of conditions, all of which must hold. A condition compares a statistic of some
// cells with a threshold, and wants it to hold for any or for all of them.
//
//  1. Cannot decide, whatever the figures are: the plan was altered; a round of a cell of the decision has no result
//     (its run broke a gate, is missing or was altered, or the figure was not measured); or a cell has fewer rounds
//     than the decision's min_rounds.
//  2. Noise. An A/A pair of the plan is the same engine with the same settings twice, under two labels. The band of a
//     column on a device is the largest factor, either way, by which the two runs of a pair differed within a round,
//     over all pairs there. Without a pair on the device the band is unknown: it widens nothing, and the verdict says
//     so.
//  3. The statistic of a cell is sure if the comparison has the same answer at the lowest round divided by the band's
//     factor and at the highest round multiplied by it. Otherwise the noise exceeds the effect: the threshold lies
//     within what rounds and identical things differ by, and for this cell nothing can be decided.
//  4. An unsure cell makes the condition, and an unsure condition the decision, undecidable only where the outcome
//     hangs on it: "any" is true with one sure cell that holds, "all" false with one that does not.
//  5. A ratio whose median lies within the band, 1/factor to factor, is called no difference.
package report
