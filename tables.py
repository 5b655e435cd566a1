#!/usr/bin/env python3
"""Markdown tables of a study, from its raw records alone.

    python3 tables.py results/NAME            print them
    python3 tables.py results/NAME --write    write them to results/NAME/tables.md
    python3 tables.py results/NAME --check    compare them with results/NAME/tables.md
    python3 tables.py results/NAME --json     print the figures of the tables as they are, to compare with another program's

Python 3.9 or later, standard library only. Everything is computed from results/NAME/raw/*.json, the same bytes for the
same records. Runs that broke a gate are listed with their reason and are in no table.

Exit status: 0; 1 if --check found a difference; 2 if there are no records or one of them is not what it should be.
"""

import argparse
import difflib
import json
import os
import statistics
import sys

RUN_FORMAT, GATE_FORMAT = "tpccbench.run", "tpccbench.gate"
# Versions that are read. A run of version 1 lacks the figures that came later, temp_bytes_per_tx among those used here.
VERSIONS = {RUN_FORMAT: (1, 2, 3), GATE_FORMAT: (1,)}

# Figures that the tables use. Each is in every record, either measured or missing with a reason.
FIGURES = (
    "tx_per_s", "nopm", "attempts", "commits", "rollbacks", "failures", "count_new_order", "latency_ns_p50_new_order",
    "latency_ns_p99_new_order", "cpu_us_per_tx", "owner_core_share", "rss_bytes", "peak_rss_bytes", "state_bytes",
    "store_bytes", "device_bytes_per_tx", "device_flushes_per_tx",
)


class BadRecord(Exception):
    """A raw record that cannot be used. The text names the file."""


# ---- Reading ------------------------------------------------------------------------------------------------------


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text(value):
    return isinstance(value, str)


def is_bool(value):
    return isinstance(value, bool)


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_texts(value):
    return isinstance(value, dict) and all(is_text(v) for v in value.values())


def is_numbers(value):
    return isinstance(value, dict) and all(is_number(v) for v in value.values())


def is_list(value):
    return isinstance(value, list)


SPEC_KEYS = {
    "engine": is_text, "settings": is_texts, "device": is_text, "device_kind": is_text, "w": is_whole,
    "terminals": is_whole, "seconds": is_number, "seed": is_whole,
}
REGISTRATION_KEYS = {"exploratory": is_bool, "quick": is_bool}
RUN_KEYS = {
    "study": is_text, "phase": is_text, "cell": is_text, "round": is_whole, "order": is_whole, "spec": SPEC_KEYS,
    "status": is_text, "started": is_text, "ended": is_text, "figures": is_numbers, "missing": is_texts,
    "build": {"tool_commit": is_text}, "registration": REGISTRATION_KEYS,
}
ENGINE_KEYS = {
    "engine": is_text, "commits": is_whole, "rollbacks": is_whole, "skipped_deliveries": is_whole,
    "failures": is_whole, "rows_digest": is_text,
}
GATE_KEYS = {
    "study": is_text, "name": is_text, "w": is_whole, "seed": is_whole, "transactions": is_whole, "status": is_text,
    "started": is_text, "ended": is_text, "engines": is_list, "build": {"tool_commit": is_text},
    "registration": REGISTRATION_KEYS,
}


def check_keys(path, value, keys, where=""):
    """Raises BadRecord unless value has all keys, each of its kind."""
    if not isinstance(value, dict):
        raise BadRecord(f"{path}: {where or 'the record'} is not an object")
    for key, kind in keys.items():
        name = f"{where}.{key}" if where else key
        # A nil map or list of the writer is null.
        if key not in value:
            raise BadRecord(f"{path}: {name} is missing")
        item = value[key]
        if item is None and kind in (is_texts, is_numbers, is_list):
            item = value[key] = [] if kind is is_list else {}
        if isinstance(kind, dict):
            check_keys(path, item, kind, name)
        elif not kind(item):
            raise BadRecord(f"{path}: {name} is {json.dumps(item)[:60]}, not of the right kind")


def no_constant(name):
    raise ValueError(f"{name} is no number")


def read_record(path):
    """Reads one raw record, of a run or of an equality gate, and checks it."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        record = json.loads(text, parse_constant=no_constant)
    except OSError as err:
        raise BadRecord(f"{path}: {err.strerror}") from None
    except ValueError as err:
        raise BadRecord(f"{path}: not JSON, or cut short: {err}") from None
    if not isinstance(record, dict):
        raise BadRecord(f"{path}: not a raw record")
    record_format, version = record.get("format"), record.get("version")
    if not is_text(record_format) or not is_whole(version) or version not in VERSIONS.get(record_format, ()):
        raise BadRecord(f"{path}: format {record_format!r} version {version!r}; this program reads "
                        + " and ".join(f"{f!r} version {' or '.join(map(str, v))}" for f, v in VERSIONS.items()))
    if record_format == RUN_FORMAT:
        check_run(path, record)
        name = run_name(record)
    else:
        check_keys(path, record, GATE_KEYS)
        for i, engine in enumerate(record["engines"]):
            check_keys(path, engine, ENGINE_KEYS, f"engines[{i}]")
        name = f"gate-{record['name']}"
    if record["status"] not in ("ok", "failed"):
        raise BadRecord(f"{path}: status is {record['status']!r}; it must be 'ok' or 'failed'")
    if os.path.basename(path) != name + ".json":
        raise BadRecord(f"{path}: the record inside is {name}")
    return record


def check_run(path, run):
    check_keys(path, run, RUN_KEYS)
    for name in FIGURES:
        has, lacks = name in run["figures"], name in run["missing"]
        if has == lacks:
            raise BadRecord(f"{path}: figure {name} must be either measured or missing with a reason")
    if run["status"] == "failed" and not (run.get("gate") and run.get("reason")):
        raise BadRecord(f"{path}: a failed run must name its gate and reason")


def run_name(run):
    return f"{run['phase']}-{run['cell']}-r{run['round']}"


def read_study(folder):
    """Returns the runs and the equality gates of results/NAME, each in name order."""
    raw = os.path.join(folder, "raw")
    try:
        names = sorted(os.listdir(raw))
    except OSError as err:
        raise BadRecord(f"{raw}: {err.strerror}; give the folder of a study, results/NAME") from None
    names = [n for n in names if n.endswith(".json") and not n.startswith(".")]
    records = [read_record(os.path.join(raw, n)) for n in names]
    if not records:
        raise BadRecord(f"{raw}: there are no records")
    for name, record in zip(names, records):
        if record["study"] != records[0]["study"]:
            raise BadRecord(f"{os.path.join(raw, name)}: a record of study {record['study']!r} among those of "
                            f"{records[0]['study']!r}")
    return ([r for r in records if r["format"] == RUN_FORMAT], [r for r in records if r["format"] == GATE_FORMAT])


# ---- Formatting ---------------------------------------------------------------------------------------------------


def whole(x):
    return f"{x:,.0f}"


def three_digits(x):
    """Three significant digits, without an exponent; whole numbers from 100 on."""
    if x == 0:
        return "0"
    if abs(x) >= 99.95:
        return whole(x)
    if abs(x) >= 9.995:
        return f"{x:.1f}"
    if abs(x) >= 0.9995:
        return f"{x:.2f}"
    places = 3
    while places < 9 and abs(x) < 0.9995 * 10 ** (2 - places):
        places += 1
    return f"{x:.{places}f}"


def decimals(places):
    return lambda x: f"{x:,.{places}f}"


def counted(n, what):
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def spread(values, form):
    """median (lowest-highest), or the one value."""
    text = form(statistics.median(values))
    if len(values) == 1:
        return text
    return f"{text} ({form(min(values))}-{form(max(values))})"


def table(header, rows):
    """A markdown table; the first column is left-aligned, the others right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    for row in rows:
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return lines


class Notes:
    """Numbered footnotes below a table; the same text has one number."""

    def __init__(self):
        self.texts = []

    def mark(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return f"({self.texts.index(text) + 1})"

    def lines(self):
        if not self.texts:
            return []
        return [""] + [f"({i}) {text}  " for i, text in enumerate(self.texts, 1)]


def one_line(text):
    return " ".join(text.split())


# ---- Selecting ----------------------------------------------------------------------------------------------------


def load(run):
    """How transactions come, as in the names of cells: rate and transport; empty for a closed loop in-process."""
    spec, parts = run["spec"], []
    if spec.get("rate_tx_per_s"):
        parts.append(f"rate{spec['rate_tx_per_s']:.15g}")
        if spec.get("arrivals") != "poisson":
            parts.append(spec.get("arrivals", ""))
    if spec.get("transport", "inproc") not in ("inproc", "in-process"):
        parts.append(spec["transport"])
    return "-".join(parts)


def row_label(run):
    """The row of the tables: rows of one label that differ in their load are not the same."""
    return "-".join(filter(None, (run.get("label") or run["spec"]["engine"], load(run))))


def devices(runs):
    """(kind, name) of the devices: those in memory first."""
    found = {(r["spec"]["device_kind"], r["spec"]["device"]) for r in runs}
    return sorted(found, key=lambda d: (d[0] != "memory", d))


def emulation(run):
    """The profile of the emulated card that the run was made on, or an empty text."""
    return ((run.get("storage") or {}).get("emulation") or {}).get("profile", "")


def device_title(device, runs):
    """The device's name, with the emulated card if it was one."""
    profiles = sorted({emulation(r) for r in runs} - {""})
    return f"{device} (emulated: {', '.join(profiles)})" if profiles else device


def on(runs, device):
    return [r for r in runs if r["spec"]["device"] == device]


def group(runs, key):
    """The runs by key, keys in ascending order, runs in the order of their rounds."""
    groups = {}
    for run in sorted(runs, key=lambda r: (r["round"], r["cell"])):
        groups.setdefault(key(run), []).append(run)
    return dict(sorted(groups.items()))


def cells_of(runs):
    """The runs by (label, terminals, W)."""
    return group(runs, lambda r: (row_label(r), r["spec"]["terminals"], r["spec"]["w"]))


def twins(cells):
    """The A/A pairs: (twin, original) of cells that are the same in all but the label. The original has the engine's name."""
    alike = {}
    for key, runs in cells.items():
        spec = runs[0]["spec"]
        same = (key[1:], spec["engine"], tuple(sorted(spec["settings"].items())), load(runs[0]))
        alike.setdefault(same, []).append(key)
    pairs = []
    for keys in alike.values():
        original, *others = sorted(keys, key=lambda k: (k[0] != cells[k][0]["spec"]["engine"], k[0]))
        pairs += [(other, original) for other in others]
    return sorted(pairs)


def measured(runs, name, notes, scale=1.0):
    """The figure of each run that has it; what is missing gets a note, whose mark is the second value."""
    values = [r["figures"][name] * scale for r in runs if name in r["figures"]]
    reasons = sorted({one_line(r["missing"][name]) for r in runs if name in r["missing"]})
    mark = ""
    if reasons:
        share = "" if not values else f" in {len(runs) - len(values)} of {len(runs)} runs"
        mark = notes.mark(f"{name} is not available{share}: {'; '.join(reasons)}")
    return values, mark


def figure(runs, name, notes, form, scale=1.0, show=spread):
    """The figure over the runs of one cell as text."""
    if not runs:
        return "-"
    values, mark = measured(runs, name, notes, scale)
    if not values:
        return f"n/a {mark}"
    return " ".join(filter(None, [show(values, form), mark]))


def middle(values, form):
    return form(statistics.median(values))


# ---- The tables ---------------------------------------------------------------------------------------------------


def standing(records):
    """registered, or exploratory, quick or both."""
    marks = [m for m in ("exploratory", "quick") if any(r["registration"][m] for r in records)]
    return " ".join(marks) or "registered"


def heading(runs, gates):
    everything = runs + gates
    study = everything[0]["study"]
    lines = []
    marks = []
    if "exploratory" in standing(everything):
        marks.append("*exploratory*: not every record was made with plan and program committed unchanged before")
    if "quick" in standing(everything):
        marks.append("*quick*: made with short runs, which are no results")
    emulated = sorted({f"{r['spec']['device']} ({profile})" for r in runs if (profile := emulation(r))})
    if emulated:
        marks.append(f"*emulation*, no real card: {', '.join(emulated)}")
    if marks:
        lines += ["; ".join(marks) + ".", ""]
    lines += [f"# Tables of {study}", ""]

    def values(*path):
        found = set()
        for record in everything:
            item = record
            for key in path:
                item = item.get(key) or {}
            if item:
                found.add(item)
        return ", ".join(sorted(found)) or "unknown"

    failed = [r for r in everything if r["status"] != "ok"]
    lines += [
        "Made by `python3 tables.py` from the raw records alone. A figure is the median over the rounds, with the range "
        "from the lowest to the highest where it is given; a ratio is taken within each round first.",
        "",
        f"- records: {counted(len(runs), 'run')} and {counted(len(gates), 'equality gate')}, {len(failed)} of them failed; "
        f"from {min(r['started'] for r in everything)[:16]} to {max(r['ended'] for r in everything)[:16]} UTC",
        f"- plan: SHA-256 {values('registration', 'plan_sha256')}, commit {values('registration', 'plan_commit')}",
        f"- program: commit {values('build', 'tool_commit')}, {values('build', 'go_version')}",
        "",
    ]
    return lines


def gate_table(gates, runs):
    lines = ["## Gates", ""]
    rows = []
    for gate in sorted(gates, key=lambda g: (g["w"], g["name"])):
        engines = gate["engines"]

        def same(key):
            numbers = [e[key] for e in engines]
            return whole(numbers[0]) if len(set(numbers)) == 1 else " / ".join(whole(n) for n in numbers)

        rollbacks = same("rollbacks")
        if engines and gate["transactions"]:
            rollbacks += f" ({100 * engines[0]['rollbacks'] / gate['transactions']:.2f} %)"
        digests = {e["rows_digest"] for e in engines}
        equal = len(digests) == 1 and "" not in digests
        rows.append([
            gate["name"], str(gate["w"]), ", ".join(e["engine"] for e in engines) or "-", whole(gate["transactions"]),
            rollbacks if engines else "-", same("failures") if engines else "-",
            f"equal ({sorted(digests)[0][:12]})" if equal else "**different**",
            "passed" if gate["status"] == "ok" else "**failed**",
        ])
    if rows:
        lines += table(["equality gate", "W", "engines", "transactions", "rollbacks by specification (% of transactions)",
                        "failures", "digest of all rows", "outcome"], rows) + [""]
    ok = [r for r in runs if r["status"] == "ok"]
    if runs:
        total = {k: sum(r["figures"].get(k, 0) for r in ok) for k in ("attempts", "rollbacks", "failures", "count_new_order")}
        share = f" ({100 * total['rollbacks'] / total['count_new_order']:.2f} % of the New-Orders)" if total["count_new_order"] else ""
        lines += [f"{len(ok)} of {counted(len(runs), 'timed run')} passed every gate after the run: {whole(total['attempts'])} transactions, "
                  f"{whole(total['rollbacks'])} rolled back by specification{share}, {whole(total['failures'])} failed.", ""]
    return lines


def tuned_together(runs):
    """The runs of one device by tuning: engines that share a candidate were tuned together. Lists of engines and runs."""
    groups = []
    for candidate in group(runs, lambda r: r.get("candidate", "")).values():
        engines = {r["spec"]["engine"] for r in candidate}
        for other in [g for g in groups if g & engines]:
            groups.remove(other)
            engines |= other
        groups.append(engines)
    return [(sorted(g), [r for r in runs if r["spec"]["engine"] in g]) for g in sorted(groups, key=min)]


def tuning_tables(tuning, matrix):
    lines = []
    places = [(kind, device, engines, runs) for kind, device in devices(tuning) for engines, runs in tuned_together(on(tuning, device))]
    for kind, device, engines, runs in places:
        whom = f" of {', '.join(engines)}" if sum(d == device for _, d, _, _ in places) > 1 else ""
        notes = Notes()
        columns = sorted({(r["spec"]["engine"], r["spec"]["terminals"]) for r in runs})
        tuned = {engine for engine, _ in columns}
        chosen = [r["spec"]["settings"] for r in on(matrix, device) if row_label(r) in tuned]
        ws = ", ".join(f"W={w}" for w in sorted({r["spec"]["w"] for r in runs}))
        seconds = ", ".join(f"{s:g} s" for s in sorted({r["spec"]["seconds"] for r in runs}))
        # The choice is by a mean over the runs of one engine: show it for those with more than one.
        means = [e for e in sorted({e for e, _ in columns}) if sum(e == other for other, _ in columns) > 1]
        # What is written beside the log: on a disk all of it, in memory what goes to temporary files (from version 2 on).
        beside, what = "device_bytes_per_tx", "device bytes per transaction, kB"
        if kind == "memory":
            beside, what = "temp_bytes_per_tx", "bytes written to temporary files per transaction, kB"
            if not any(beside in r["figures"] for r in runs):
                beside = ""
        by_candidate = group(runs, lambda r: (len(r["spec"]["settings"]), r.get("candidate", "")))
        rows = []
        for (_, candidate), theirs in by_candidate.items():
            settings = theirs[0]["spec"]["settings"]
            row = [f"**{candidate}** (chosen)" if settings in chosen else candidate]
            for engine, terminals in columns:
                cell = [r for r in theirs if (r["spec"]["engine"], r["spec"]["terminals"]) == (engine, terminals)]
                text = figure(cell, "tx_per_s", notes, whole)
                if cell and beside:
                    text += f" [{figure(cell, beside, notes, decimals(1), 1e-3, middle)}]"
                row.append(text)
            for engine in means:
                rates = [r["figures"]["tx_per_s"] for r in theirs if r["spec"]["engine"] == engine and "tx_per_s" in r["figures"]]
                row.append(whole(statistics.fmean(rates)) if rates else "-")
            row.append(" ".join(f"{k}={v}" for k, v in sorted(settings.items())) or "defaults")
            rows.append(row)
        unit = f"transactions/s [{what}]" if beside else "transactions/s"
        lines += [f"## Tuning{whom} on {device_title(device, runs)}", "", f"{ws}, {seconds} a run; {unit}, by engine and terminals.", ""]
        lines += table(["candidate"] + [f"{e}, {n}" for e, n in columns] + [f"{e}, mean" for e in means] + ["settings"], rows) + notes.lines() + [""]
    return lines


def matrix_tables(matrix):
    lines = []
    for kind, device in devices(matrix):
        runs = on(matrix, device)
        notes = Notes()
        cells = cells_of(runs)
        ws = sorted({w for _, _, w in cells})
        rounds = len({r["round"] for r in runs})
        seconds = ", ".join(f"{s:g} s" for s in sorted({r["spec"]["seconds"] for r in runs}))
        by_w = " / ".join(f"W={w}" for w in ws)

        def rate(cell):
            text = figure(cell, "tx_per_s", notes, whole)
            if cell and len(cell) < rounds:
                text += f" n={len(cell)}"
            return text

        def each(label, terminals, name, form, scale=1.0):
            texts = [figure(cells.get((label, terminals, w), []), name, notes, form, scale, middle) for w in ws]
            return texts[0] if len(set(texts)) == 1 and texts[0].startswith("n/a") else " / ".join(texts)

        rows = []
        for label, terminals in sorted({(l, n) for l, n, _ in cells}):
            row = [f"{label}, {terminals}"]
            row += [rate(cells.get((label, terminals, w), [])) for w in ws]
            row += [
                each(label, terminals, "latency_ns_p50_new_order", three_digits, 1e-6),
                each(label, terminals, "latency_ns_p99_new_order", three_digits, 1e-6),
                each(label, terminals, "cpu_us_per_tx", decimals(1)),
                each(label, terminals, "owner_core_share", decimals(2)),
                each(label, terminals, "device_bytes_per_tx", whole),
                each(label, terminals, "device_flushes_per_tx", three_digits),
            ]
            rows.append(row)
        lines += [f"## Matrix on {device_title(device, runs)}", "", f"{seconds} a run, {counted(rounds, 'round')}; engine and terminals; {by_w}."]
        if any(len(cell) < rounds for cell in cells.values()):
            lines[-1] += " n: rounds in which the cell passed its gates, where that is not all of them."
        lines += [""]
        lines += table(
            ["engine, terminals"] + [f"transactions/s, W={w}" for w in ws]
            + ["New-Order p50 (ms)", "New-Order p99 (ms)", "CPU per transaction (us)", "owner's share of a core",
               "device bytes per transaction (B)", "device flushes per transaction"], rows)
        lines += notes.lines()
        if kind == "memory":
            lines += ["", "Device bytes and flushes are those of the device behind the temporary directory: what spills to it."]
        lines += [""]
    return lines


def memory_table(matrix):
    if not matrix:
        return []
    notes = Notes()
    rows = []
    mib = 1 / 2**20
    for _, device in devices(matrix):
        by_engine = group(on(matrix, device), lambda r: (r["spec"]["w"], row_label(r)))
        for (w, label), runs in by_engine.items():
            both = [r for r in runs if "rss_bytes" in r["figures"] and r["figures"].get("state_bytes", 0) > 0]
            ratios = [r["figures"]["rss_bytes"] / r["figures"]["state_bytes"] for r in both]
            rows.append([
                f"{device}, W={w}, {label}",
                figure(runs, "rss_bytes", notes, whole, mib), figure(runs, "peak_rss_bytes", notes, whole, mib),
                figure(runs, "state_bytes", notes, whole, mib),
                spread(ratios, decimals(2)) if ratios else "n/a " + notes.mark("the ratio needs rss_bytes and state_bytes"),
                figure(runs, "store_bytes", notes, whole, mib),
            ])
    lines = ["## Memory", "", "At the end of the window, over all terminals and rounds; the process contains the driver.", ""]
    return lines + table(["device, W, engine", "resident (MiB)", "peak resident (MiB)", "state (MiB)", "resident / state",
                          "store's files (MiB)"], rows) + notes.lines() + [""]


def within_rounds(over, under, name):
    """The ratio over/under of a figure in each round in which both have it."""
    values = {r["round"]: r["figures"][name] for r in under if r["figures"].get(name)}
    return [r["figures"][name] / values[r["round"]] for r in over if name in r["figures"] and r["round"] in values]


def median_rate(runs):
    return statistics.median([r["figures"]["tx_per_s"] for r in runs if "tx_per_s" in r["figures"]] or [0])


def comparison_table(matrix):
    rows = []
    notes = Notes()
    only_sqlite = True

    def ratio(values, what):
        return spread(values, three_digits) if values else "n/a " + notes.mark(what)

    def compare(where, pure, other, name):
        # On a memory device the bytes are those of another device and of whoever else writes there.
        on_disk = pure[0]["spec"]["device_kind"] != "memory"
        return [
            where, name, ratio(within_rounds(pure, other, "tx_per_s"), "no round has both"),
            ratio(within_rounds(other, pure, "device_bytes_per_tx"), "no round has device bytes of both") if on_disk else "-",
            ratio(within_rounds(other, pure, "cpu_us_per_tx"), "no round has the CPU time of both"),
        ]

    for _, device in devices(matrix):
        cells = cells_of(on(matrix, device))
        for twin, _ in twins(cells):  # there for the noise, not to be the best of two
            del cells[twin]
        pures = {k: v for k, v in cells.items() if v[0]["spec"]["engine"] == "pure"}
        others = {k: v for k, v in cells.items() if v[0]["spec"]["engine"] not in ("pure", "null")}
        only_sqlite = only_sqlite and all(v[0]["spec"]["engine"].startswith("sqlite") for v in others.values())
        for w, how in sorted({(k[2], load(v[0])) for k, v in pures.items()}):  # what comes otherwise is not compared
            ours = {k: v for k, v in pures.items() if k[2] == w and load(v[0]) == how}
            theirs = {k: v for k, v in others.items() if k[2] == w and load(v[0]) == how}
            for (label, terminals, _), pure in ours.items():
                rivals = {k: v for k, v in theirs.items() if k[1] == terminals}
                best = max(rivals, key=lambda k: median_rate(rivals[k]), default=None)
                for key, runs in rivals.items():
                    name = f"**{key[0]}, {terminals} (best)**" if key == best else f"{key[0]}, {terminals}"
                    rows.append(compare(f"{device}, W={w}, {label}, {terminals}", pure, runs, name))
            any_pure = max(ours, key=lambda k: median_rate(ours[k]))
            any_other = max(theirs, key=lambda k: median_rate(theirs[k]), default=None)
            if any_other and any_other[1] != any_pure[1]:  # at equal terminals it is there already
                rows.append(compare(f"{device}, W={w}, {any_pure[0]}, {any_pure[1]} (its best)", pures[any_pure], others[any_other],
                                    f"{any_other[0]}, {any_other[1]} (best at any number of terminals)"))
    if not rows:
        return []
    lines = ["## Pure against SQLite" if only_sqlite else "## Pure against the other engines", "",
             "At the same number of terminals, and the best of each where their numbers differ; a ratio above 1 is in favour of pure.", ""]
    return lines + table(["device, W, row, terminals", "against", "transactions/s, pure / other",
                          "device bytes per transaction, other / pure", "CPU per transaction, other / pure"], rows) + notes.lines() + [""]


def noise_table(matrix):
    rows = []
    for _, device in devices(matrix):
        cells = cells_of(on(matrix, device))
        for twin, original in twins(cells):
            names = ("tx_per_s", "cpu_us_per_tx", "latency_ns_p99_new_order")
            ratios = [within_rounds(cells[twin], cells[original], name) for name in names]
            rows.append([f"{device}, W={twin[2]}, {twin[0]}, {twin[1]}", f"{original[0]}, {original[1]}"]
                        + [spread(r, three_digits) if r else "n/a" for r in ratios])
    if not rows:
        return []
    lines = ["## Noise", "", "Rows that are the same engine with the same settings under two names: what their ratios are besides 1 is noise.", ""]
    return lines + table(["device, W, row, terminals", "the same as", "transactions/s", "CPU per transaction", "New-Order p99"], rows) + [""]


def failed_list(runs, gates, unequal):
    failed = [(run_name(r), r["gate"], r["reason"]) for r in runs if r["status"] != "ok"]
    failed += [(f"gate-{g['name']}", "equal", g.get("reason") or g.get("difference") or "no reason was recorded")
               for g in gates if g["status"] != "ok"]
    lines = ["## Failed", ""]
    if not failed:
        return lines + ["None.", ""]
    lines += ["Runs named here are in no table above.", ""]
    lines += [f"- `{name}`: {gate}: {one_line(reason)}" for name, gate, reason in failed]
    for w in sorted(unequal):
        lines.append(f"- all runs at W={w} ({sum(r['spec']['w'] == w for r in runs)}): the engines' rows were not equal at that W")
    return lines + [""]


def warning_list(runs):
    by_text = {}
    for run in runs:
        for text in run.get("warnings") or []:
            by_text.setdefault(one_line(text), []).append(run_name(run))
    if not by_text:
        return []
    lines = ["## Warnings", ""]
    for text, names in sorted(by_text.items()):
        where = ", ".join(f"`{n}`" for n in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        lines.append(f"- {text} ({counted(len(names), 'run')}: {where})")
    return lines + [""]


def published(runs, gates):
    """The runs that count, and the W whose equality gate failed: no run there is published."""
    unequal = {g["w"] for g in gates if g["status"] != "ok"}
    return [r for r in runs if r["status"] == "ok" and r["spec"]["w"] not in unequal], unequal


def figures(folder):
    """The figures of the tables: of each cell, over the rounds, and within rounds of each two cells of a device and W."""
    runs, gates = read_study(folder)
    ok, _ = published(runs, gates)
    matrix = [r for r in ok if r["phase"] == "matrix"]

    def summary(values):
        return {"n": len(values), "median": statistics.median(values), "min": min(values), "max": max(values)}

    cells, ratios = {}, {}
    by_cell = group(matrix, lambda r: r["cell"])
    for cell, theirs in by_cell.items():
        cells[cell] = {}
        for name in FIGURES:
            values, _ = measured(theirs, name, Notes())
            if values:
                cells[cell][name] = summary(values)
    for cell, theirs in by_cell.items():
        for other, others in by_cell.items():
            place = [(r["spec"]["device"], r["spec"]["w"]) for r in (theirs[0], others[0])]
            if cell == other or place[0] != place[1]:
                continue
            for name in ("tx_per_s", "device_bytes_per_tx", "cpu_us_per_tx"):
                values = within_rounds(theirs, others, name)
                if values:
                    ratios.setdefault(f"{cell} over {other}", {})[name] = summary(values)
    tuning = [r for r in ok if r["phase"] == "tuning" and "tx_per_s" in r["figures"]]
    by_candidate = group(tuning, lambda r: " ".join((r["spec"]["device"], r["spec"]["engine"], r.get("candidate", ""))))
    means = {key: statistics.fmean(r["figures"]["tx_per_s"] for r in theirs) for key, theirs in by_candidate.items()}
    return {"study": (runs + gates)[0]["study"], "standing": standing(runs + gates), "cells": cells, "ratios": ratios, "tuning": means}


def tables(folder):
    """The text of tables.md of results/NAME."""
    runs, gates = read_study(folder)
    ok, unequal = published(runs, gates)
    matrix = [r for r in ok if r["phase"] == "matrix"]
    tuning = [r for r in ok if r["phase"] == "tuning"]
    lines = heading(runs, gates)
    lines += gate_table(gates, runs)
    lines += tuning_tables(tuning, matrix)
    lines += matrix_tables(matrix)
    lines += comparison_table(matrix)
    lines += noise_table(matrix)
    lines += memory_table(matrix)
    lines += failed_list(runs, gates, unequal)
    lines += warning_list(ok)
    return "\n".join(lines).rstrip("\n") + "\n"


def write_whole(path, text):
    """Writes the file so that it is there whole or not at all."""
    temporary = path + ".tmp"
    with open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.replace(temporary, path)


def main(arguments):
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the locale says
    parser = argparse.ArgumentParser(description="Markdown tables of a study, from its raw records alone.")
    parser.add_argument("folder", metavar="results/NAME", help="folder of the study, which has raw/*.json")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true", help="write them to tables.md of that folder")
    action.add_argument("--check", action="store_true", help="compare them with tables.md of that folder; exit 1 if they differ")
    action.add_argument("--json", action="store_true", help="print the figures of the tables as they are")
    options = parser.parse_args(arguments)
    path = os.path.join(options.folder, "tables.md")
    try:
        if options.json:
            print(json.dumps(figures(options.folder), indent=1))
            return 0
        text = tables(options.folder)
        if options.write:
            write_whole(path, text)
            return 0
        if options.check:
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                committed = file.read()
    except BadRecord as err:
        print(f"tables.py: {err}", file=sys.stderr)
        return 2
    except OSError as err:
        print(f"tables.py: {path}: {err.strerror}", file=sys.stderr)
        return 2
    if not options.check:
        sys.stdout.write(text)
        return 0
    if committed == text:
        return 0
    sys.stdout.writelines(difflib.unified_diff(committed.splitlines(keepends=True), text.splitlines(keepends=True), path, "from the raw records"))
    print(f"tables.py: {path} is not what the raw records give; --write writes it anew", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
