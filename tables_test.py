"""Tests of tables.py: python3 -m unittest tables_test

The raw records under testdata/tables are written by the Go package record (go test ./record -update), the expected
tables.md beside them by tables.py --write, after reading them.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

import tables

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE / "testdata" / "tables"


def run_main(*arguments):
    """Returns the exit status, standard output and standard error of tables.py."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = tables.main([str(a) for a in arguments])
    return status, out.getvalue(), err.getvalue()


class Fixture(unittest.TestCase):
    """A copy of the study `whole` that a test may spoil."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tables ? # % ü "))
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(FIXTURES / "whole", self.folder, dirs_exist_ok=True)
        self.raw = self.folder / "raw"

    def change(self, name, change):
        path = self.raw / name
        record = json.loads(path.read_text(encoding="utf-8"))
        change(record)
        path.write_text(json.dumps(record), encoding="utf-8")

    def text(self):
        status, out, err = run_main(self.folder)
        self.assertEqual((status, err), (0, ""))
        return out

    def section(self, title):
        """The lines of one section of the output."""
        lines = self.text().split("\n")
        start = lines.index("## " + title)
        end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("## ")), len(lines))
        return lines[start:end]

    def cells(self, title, first):
        """The cells of the row of a section's table whose first cell is given, by header."""
        rows = [[c.strip() for c in line.strip("|").split(" | ")] for line in self.section(title) if line.startswith("|")]
        matches = [row for row in rows[2:] if row[0] == first]
        self.assertEqual(len(matches), 1, f"rows {first!r} of {title}: {rows}")
        return dict(zip(rows[0], matches[0]))


class Golden(unittest.TestCase):
    def test_committed_tables(self):
        for name in ("whole", "quick"):
            status, out, err = run_main(FIXTURES / name, "--check")
            self.assertEqual((status, out, err), (0, "", ""))

    def test_runs_as_a_program_in_any_locale(self):
        for locale in ("C", "C.UTF-8"):
            done = subprocess.run([sys.executable, str(HERE / "tables.py"), str(FIXTURES / "whole")], env={**os.environ, "LC_ALL": locale},
                                  capture_output=True, check=True)
            self.assertEqual(done.stdout, (FIXTURES / "whole" / "tables.md").read_bytes())


class FirstLine(Fixture):
    def test_exploratory_and_quick_are_said_first(self):
        _, out, _ = run_main(FIXTURES / "quick")
        self.assertRegex(out.split("\n")[0], r"\*exploratory\*.*\*quick\*")

    def test_one_exploratory_record_suffices(self):
        self.assertEqual(self.text().split("\n")[0], "# Tables of whole")
        self.change("gate-equal-w1.json", lambda r: r["registration"].update(exploratory=True))
        self.assertTrue(self.text().startswith("*exploratory*"))


class Figures(Fixture):
    """Figures computed here again, from the records, by other code."""

    def rates(self, prefix):
        found = {}
        for path in self.raw.glob(prefix + "-r*.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["status"] == "ok":
                found[record["round"]] = record["figures"]["tx_per_s"]
        self.assertTrue(found)
        return found

    def test_median_and_range(self):
        rates = sorted(self.rates("matrix-ram-w1-sqlitegrouped-4").values())
        row = self.cells("Matrix on ram", "sqlitegrouped, 4")
        self.assertEqual(row["transactions/s, W=1"], f"{statistics.median(rates):,.0f} ({rates[0]:,.0f}-{rates[-1]:,.0f})")

    def test_ratio_is_taken_within_rounds(self):
        pure, other = self.rates("matrix-sd-w1-pure-4"), self.rates("matrix-sd-w1-sqlitegrouped-4")
        ratios = sorted(pure[r] / other[r] for r in pure)
        lines = [line for line in self.section("Pure against SQLite") if line.startswith("| sd, W=1, pure, 4 | sqlitegrouped, 4 |")]
        self.assertIn(f"| {ratios[1]:.2f} ({ratios[0]:.2f}-{ratios[2]:.2f}) |", lines[0])

    def test_ratio_without_a_common_round(self):
        for r in (1, 2, 3):
            def miss(x):
                x["missing"]["device_bytes_per_tx"] = "no diskstats"
                del x["figures"]["device_bytes_per_tx"]
            self.change(f"matrix-sd-w1-pure-4-r{r}.json", miss)
        lines = self.section("Pure against SQLite")
        row = [line for line in lines if line.startswith("| sd, W=1, pure, 4 | sqlitegrouped, 4 |")][0]
        self.assertIn("| n/a (1) |", row)
        self.assertIn("(1) no round has device bytes of both  ", lines)

    def test_mean_that_the_choice_is_by(self):
        rates = [*self.rates("tuning-sd-w1-sqlitegrouped-4-tuned").values(), *self.rates("tuning-sd-w1-sqlitegrouped-8-tuned").values()]
        row = self.cells("Tuning on sd", "**tuned** (chosen)")
        self.assertEqual(row["sqlitegrouped, mean"], f"{sum(rates) / 2:,.0f}")
        self.assertNotIn("sqlite, mean", row)

    def test_best_rival_is_marked(self):
        text = "\n".join(self.section("Pure against SQLite"))
        self.assertIn("| ram, W=1, pure, 4 | **sqlitegrouped-strong, 4 (best)** |", text)
        for r in (1, 2, 3):
            self.change(f"matrix-ram-w1-sqlitegrouped-4-r{r}.json", lambda x: x["figures"].update(tx_per_s=1e5))
        text = "\n".join(self.section("Pure against SQLite"))
        self.assertIn("| ram, W=1, pure, 4 | **sqlitegrouped, 4 (best)** |", text)
        self.assertIn("| ram, W=1, pure, 4 | sqlitegrouped-strong, 4 |", text)

    def test_the_same_under_another_name_is_noise_and_no_rival(self):
        """A twin is compared with what it is the same as, and is never the best of two."""
        before = self.section("Pure against SQLite")
        self.assertNotIn("## Noise", self.text())
        for path in sorted(self.raw.glob("matrix-ram-w1-sqlitegrouped-4-r*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            record.update(cell="ram-w1-sqlitegrouped-twin-4", label="sqlitegrouped-twin", order=record["order"] + 1000)
            record["figures"]["tx_per_s"] *= 2
            (self.raw / path.name.replace("-4-r", "-twin-4-r")).write_text(json.dumps(record), encoding="utf-8")
        self.assertEqual(self.section("Pure against SQLite"), before)
        row = self.cells("Noise", "ram, W=1, sqlitegrouped-twin, 4")
        self.assertEqual((row["the same as"], row["transactions/s"]), ("sqlitegrouped, 4", "2.00 (2.00-2.00)"))

    def test_units(self):
        for r in (1, 2, 3):
            self.change(f"matrix-ram-w1-sqlite-1-r{r}.json", lambda x: x["figures"].update(
                latency_ns_p50_new_order=1_234_567, latency_ns_p99_new_order=98_765_432, rss_bytes=50 * 2**20, state_bytes=20 * 2**20))
        row = self.cells("Matrix on ram", "sqlite, 1")
        self.assertEqual((row["New-Order p50 (ms)"], row["New-Order p99 (ms)"]), ("1.23 / -", "98.8 / -"))
        row = self.cells("Memory", "ram, W=1, sqlite")
        self.assertEqual((row["resident (MiB)"], row["resident / state"]), ("50 (50-50)", "2.50 (2.50-2.50)"))

    def test_missing_figure_has_its_reason_below(self):
        row = self.cells("Matrix on ram", "sqlite, 1")
        mark = row["owner's share of a core"].split(" / ")[0]
        self.assertRegex(mark, r"^n/a \(\d\)$")
        note = mark.split()[1] + " owner_core_share is not available: the engine has no thread that applies all writes  "
        self.assertIn(note, self.section("Matrix on ram"))

    def test_figure_missing_in_one_round(self):
        row = self.cells("Matrix on ram", "pure, 4")
        self.assertRegex(row["CPU per transaction (us)"], r"^[\d.]+ / [\d.]+ \(\d\)$")
        self.assertTrue(any("in 1 of 2 runs: reading /proc/self/stat" in line for line in self.section("Matrix on ram")))

    def test_chosen_candidate_is_the_one_that_the_matrix_ran_with(self):
        chosen = [line for line in self.section("Tuning on sd") if "(chosen)" in line]
        self.assertEqual(len(chosen), 1)
        self.assertIn("page_size=1024", chosen[0])

    def test_three_digits(self):
        for value, want in ((0, "0"), (0.00123456, "0.00123"), (0.012345, "0.0123"), (0.99949, "0.999"), (0.9996, "1.00"), (9.994, "9.99"),
                            (9.996, "10.0"), (99.94, "99.9"), (99.96, "100"), (12345.4, "12,345")):
            self.assertEqual(tables.three_digits(value), want)


class Failures(Fixture):
    def test_failed_runs_are_listed_and_in_no_table(self):
        failed = self.section("Failed")
        self.assertIn("- `matrix-ram-w4-pure-4-r3`: consistency: clause 3.3.2.1 does not hold: warehouse 1", failed)
        self.assertIn("- `matrix-sd-w1-sqlite-1-r1`: crash: the process was killed", failed)
        before = self.text()
        self.change("matrix-ram-w4-pure-4-r3.json", lambda r: r["figures"].update(tx_per_s=123456789))
        self.assertEqual(self.text(), before)
        self.assertTrue(self.cells("Matrix on ram", "pure, 4")["transactions/s, W=4"].endswith("n=2"))

    def test_runs_of_an_unequal_w_are_in_no_table(self):
        self.assertNotIn("transactions/s, W=2", self.text())
        self.assertIn("- all runs at W=2 (3): the engines' rows were not equal at that W", self.section("Failed"))
        self.change("gate-equal-w2.json", lambda g: g.update(status="ok"))
        self.assertIn("transactions/s, W=2", self.text())

    def test_digests_are_compared_here(self):
        self.change("gate-equal-w1.json", lambda g: g["engines"][2].update(rows_digest="99"))
        self.assertEqual(self.cells("Gates", "equal-w1")["digest of all rows"], "**different**")

    def test_warnings_are_listed(self):
        self.assertIn("- the machine was 20 % slower after the run than before (1 run: `matrix-sd-w1-pure-4-r2`)", self.section("Warnings"))


class FiguresAsJSON(Fixture):
    def test_json_has_the_figures_of_the_tables(self):
        status, out, err = run_main(self.folder, "--json")
        self.assertEqual((status, err), (0, ""))
        got = json.loads(out)
        self.assertEqual((got["study"], got["standing"]), ("whole", "registered"))
        self.assertEqual(got["cells"]["ram-w1-pure-4"]["tx_per_s"], {"n": 3, "median": 51000, "min": 50500, "max": 51500})
        self.assertEqual(got["cells"]["ram-w4-pure-4"]["tx_per_s"]["n"], 2)  # the third broke a gate
        self.assertNotIn("ram-w2-pure-4", got["cells"])  # its equality gate failed
        self.assertNotIn("owner_core_share", got["cells"]["ram-w1-sqlite-1"])  # not measured
        ratio = got["ratios"]["ram-w1-pure-4 over ram-w1-sqlitegrouped-4"]["tx_per_s"]
        self.assertAlmostEqual(ratio["median"], 51000 / 9600)
        self.assertEqual(got["tuning"]["ram sqlitegrouped tuned"], 11250)

    def test_json_says_what_the_study_counts_as(self):
        _, out, _ = run_main(FIXTURES / "quick", "--json")
        self.assertEqual(json.loads(out)["standing"], "exploratory quick")


class BadInput(Fixture):
    """Each is one line that names the file, and exit status 2; nothing is printed."""

    NAME = "matrix-ram-w1-pure-4-r1.json"

    def refused(self, *words, name=NAME):
        status, out, err = run_main(self.folder)
        self.assertEqual((status, out), (2, ""))
        self.assertEqual(err.count("\n"), 1)
        for word in (name,) + words:
            self.assertIn(word, err)

    def test_truncated(self):
        path = self.raw / self.NAME
        whole = path.read_bytes()
        for cut in (0, 1, len(whole) // 2, len(whole) - 3):
            path.write_bytes(whole[:cut])
            self.refused("not JSON, or cut short")

    def test_not_text(self):
        (self.raw / self.NAME).write_bytes(b"\xff\xfe{}")
        self.refused("not JSON")

    def test_not_a_record(self):
        (self.raw / self.NAME).write_text("[]", encoding="utf-8")
        self.refused("not a raw record")

    def test_other_format(self):
        self.change(self.NAME, lambda r: r.update(format="x"))
        self.refused("format 'x' version 3")

    def test_other_version(self):
        for version in (0, 4, "1", None, True):
            self.change(self.NAME, lambda r: r.update(version=version))
            self.refused("this program reads 'tpccbench.run' version 1 or 2 or 3")

    def test_version_1_gives_the_same_tables_without_temporary_files(self):
        later = ("gc_", "busy_", "checkpoint_", "temp_", "latency_ns_p99_in_", "latency_ns_p99_outside_")

        def older(record):
            record["version"] = 1
            for key in ("figures", "missing"):
                record[key] = {n: v for n, v in record[key].items() if not n.startswith(later)}

        newest = self.text()
        for name in os.listdir(self.raw):
            if not name.startswith("gate-"):
                self.change(name, older)
        text = self.text()
        self.assertIn("## Tuning on ram", text)
        self.assertNotIn("temporary files", text)
        start, end = newest.index("## Tuning on ram"), newest.index("## Tuning on sd")
        self.assertEqual(text[:text.index("## Tuning on ram")], newest[:start])
        self.assertEqual(text[text.index("## Tuning on sd"):], newest[end:])

    def test_another_load_is_another_row_and_is_compared_with_its_like(self):
        for n in (1, 2, 3):
            self.change(f"matrix-ram-w1-pure-4-r{n}.json", lambda r: r["spec"].update(rate_tx_per_s=500.5, arrivals="fixed", transport="http"))
        self.assertTrue(self.cells("Matrix on ram", "pure-rate500.5-fixed-http, 4"))
        compared = "\n".join(self.section("Pure against SQLite"))
        self.assertIn("| ram, W=4, pure, 4 |", compared)
        self.assertNotIn("pure-rate500.5-fixed-http", compared)
        for n in (1, 2, 3):
            self.change(f"matrix-ram-w1-sqlitegrouped-4-r{n}.json", lambda r: r["spec"].update(rate_tx_per_s=500.5, arrivals="fixed", transport="http"))
        compared = "\n".join(self.section("Pure against SQLite"))
        self.assertIn("| ram, W=1, pure-rate500.5-fixed-http, 4 | **sqlitegrouped-rate500.5-fixed-http, 4 (best)** |", compared)

    def test_temporary_files_of_a_memory_device(self):
        rows = self.section("Tuning on ram")
        self.assertIn("bytes written to temporary files per transaction, kB", "\n".join(rows))
        spilled = [line for line in rows if line.startswith("| defaults")]
        self.assertEqual(len(spilled), 1)
        self.assertIn("[41.9]", spilled[0])
        self.assertEqual(sum("[41.9]" in line for line in rows), 1)

    def test_missing_key(self):
        self.change(self.NAME, lambda r: r["spec"].pop("terminals"))
        self.refused("spec.terminals is missing")

    def test_wrong_kind(self):
        self.change(self.NAME, lambda r: r["figures"].update(tx_per_s="fast"))
        self.refused("figures is", "not of the right kind")

    def test_figure_neither_measured_nor_missing(self):
        self.change(self.NAME, lambda r: r["figures"].pop("tx_per_s"))
        self.refused("figure tx_per_s must be either measured or missing with a reason")

    def test_figure_measured_and_missing(self):
        self.change(self.NAME, lambda r: r["missing"].update(tx_per_s="x"))
        self.refused("figure tx_per_s must be either measured or missing with a reason")

    def test_not_a_number(self):
        self.change(self.NAME, lambda r: r["figures"].update(tx_per_s=float("nan")))
        self.refused("NaN is no number")

    def test_unknown_status(self):
        self.change(self.NAME, lambda r: r.update(status="fine"))
        self.refused("status is 'fine'")

    def test_failed_without_a_reason(self):
        self.change(self.NAME, lambda r: r.update(status="failed", gate="crash"))
        self.refused("must name its gate and reason")

    def test_other_name(self):
        (self.raw / self.NAME).rename(self.raw / "matrix-x-r1.json")
        self.refused("the record inside is matrix-ram-w1-pure-4-r1", name="matrix-x-r1.json")

    def test_two_studies(self):
        self.change(self.NAME, lambda r: r.update(study="other"))
        self.refused("a record of study 'other' among those of 'whole'")

    def test_bad_gate(self):
        self.change("gate-equal-w1.json", lambda g: g["engines"][1].pop("rollbacks"))
        self.refused("engines[1].rollbacks is missing", name="gate-equal-w1.json")

    def test_no_records(self):
        shutil.rmtree(self.raw)
        self.refused("No such file or directory", name="raw")
        self.raw.mkdir()
        self.refused("there are no records", name="raw")

    def test_files_that_are_no_records_are_passed_over(self):
        before = self.text()
        (self.raw / ".tmp-1.json").write_text("half", encoding="utf-8")
        (self.raw / "notes.txt").write_text("notes", encoding="utf-8")
        self.assertEqual(self.text(), before)


class WriteAndCheck(Fixture):
    def test_write_then_check(self):
        (self.folder / "tables.md").unlink()
        self.assertEqual(run_main(self.folder, "--write"), (0, "", ""))
        self.assertEqual((self.folder / "tables.md").read_text(encoding="utf-8"), self.text())
        self.assertEqual(run_main(self.folder, "--check"), (0, "", ""))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["raw", "tables.md"])

    def test_check_shows_the_difference(self):
        self.change("matrix-ram-w1-sqlite-1-r2.json", lambda r: r["figures"].update(tx_per_s=777))
        status, out, err = run_main(self.folder, "--check")
        self.assertEqual(status, 1)
        self.assertRegex(out, r"(?m)^-\| sqlite, 1 \|")
        self.assertRegex(out, r"(?m)^\+\| sqlite, 1 \|.*\(777-")
        self.assertIn("--write", err)

    def test_check_sees_line_ends(self):
        path = self.folder / "tables.md"
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        self.assertEqual(run_main(self.folder, "--check")[0], 1)

    def test_check_without_tables(self):
        (self.folder / "tables.md").unlink()
        status, out, err = run_main(self.folder, "--check")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("tables.md: No such file", err)


class Deterministic(Fixture):
    def test_order_of_keys_and_files_does_not_count(self):
        before = self.text()
        for path in sorted(self.raw.glob("*.json"), reverse=True):
            record = json.loads(path.read_text(encoding="utf-8"))
            path.unlink()
            path.write_text(json.dumps(record, sort_keys=True, indent=2), encoding="utf-8")
        self.assertEqual(self.text(), before)


class Quoted(unittest.TestCase):
    """The tables that the pages quote between their marks are those of the study that is named there, row by row."""

    def test_rows(self):
        for page in "README.md", "STORES.md":
            blocks = pathlib.Path(page).read_text(encoding="utf-8").split("<!-- results -->")[1:]
            self.assertGreater(len(blocks), 0, f"{page} quotes nothing")
            for block in blocks:
                quoted, end, _ = block.partition("<!-- end of results -->")
                self.assertTrue(end, f"{page}: the quotation has no end")
                study = re.search(r"\]\((results/[a-z0-9-]+/tables\.md)\)", quoted)
                self.assertIsNotNone(study, f"{page} names no study beside its results")
                rows = [line for line in quoted.splitlines() if line.startswith("|")]
                self.assertGreater(len(rows), 2)
                known = pathlib.Path(study[1]).read_text(encoding="utf-8").splitlines()
                for row in rows:
                    self.assertTrue(row in known, f"{page}: {study[1]} has no row {row}")


if __name__ == "__main__":
    unittest.main()
