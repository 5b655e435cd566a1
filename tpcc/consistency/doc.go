// Package consistency says whether a database is what the transactions that were acknowledged must have left.
//
// A Checker takes the rows of one snapshot and checks clauses 3.3.2.1 to 3.3.2.12 of the TPC-C specification on them, in
// whole cents and with the meaning of an outer join: a row without its counterpart is a violation, never a row that is
// left out. A Ledger counts what was acknowledged during a run and compares it with a Checker. Audit does the same, row
// by row, for a store whose process was killed. Digest and FirstDifference compare whole databases.
//
// Everything here works on rows and knows no engine.
package consistency
