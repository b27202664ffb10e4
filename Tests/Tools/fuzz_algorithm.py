#!/usr/bin/env python3
"""Frames with anything wrong in them, told to Python's side of `islet-step/1`: each ends in an answer or in one error, never otherwise.

    python3 Tests/Tools/fuzz_algorithm.py --frames 1000000

The module is asked within this process: its reads come from a list, its answers go to another. What may come of a damaged frame is
ValueError (it is none), KeyError (somebody who has not begun) or struct.error, and of a whole one an answer that is a whole frame.
"""

import argparse
import io
import os
import random
import struct
import sys
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYOUT_FILE = os.path.join(ROOT, "docs", "algorithm-fields.md")


def layouts():
    """Of each row, names and types, from the page."""
    rows, name = {}, None
    for line in open(LAYOUT_FILE):
        if line.startswith("## `"):
            name = line.split("`")[1]
            rows[name] = []
        elif name and line.startswith("| ") and line.split("|")[1].strip().isdigit():
            cells = line.split("|")
            rows[name].append([cells[2].strip().strip("`"), "<f8" if cells[3].strip() == "float64" else "<i8", ""])
    return rows


def frame(kind, rows, body):
    text = struct.pack("<4sIII", b"ISL1", kind, rows, len(body)) + body
    return text + struct.pack("<I", zlib.crc32(text))


def row(layout, values):
    return b"".join(
        struct.pack("<d", values.get(name, float("nan"))) if cell == "<f8" else struct.pack("<q", values.get(name, -(2**63)))
        for name, cell, _ in layout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--frames", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # The module leads standard output to standard error: what is printed here keeps its own way.
    out = os.fdopen(os.dup(1), "w")
    sys.path.insert(0, os.path.join(ROOT, "Python"))
    import islet.algorithm as ia

    class Mine(ia.Algorithm):
        runs = "together"
        _numbers = ["a"]

        def begin(self, person):
            self.sum = 0.0

        def step(self, s):
            self.sum += s.cgm or 0.0
            return ia.Dose(basal=s.therapy.basal / 12, meal=s.meal_grams / s.therapy.cr, own={"a": s.cgm})

    fields = layouts()
    for place, (name, cell, _) in enumerate(fields["step"]):
        setattr(ia.Step, name, ia._field(place, cell, name))
    person = dict(handle=0, seed=1, flags=0, weight=70.0, basal=1.0, cr=10.0, cf=50.0, tdi=40.0, maximum_bolus=30.0,
                  target=120.0, **{"subject%d" % part: 0 for part in range(8)})
    step = dict(handle=0, step=3, flags=1, now=900 * 10**9, cgm=120.0, target=120.0, basal_multiplier=1.0, bolus_id=-1,
                shortfall_step=-1, dropped_step=-1, multiplier_steps=0, bolus_cut_by=0)
    begin = frame(1, 2, row(fields["begin"], person) + row(fields["begin"], dict(person, handle=1)))
    asked = frame(3, 2, row(fields["step"], step) + row(fields["step"], dict(step, handle=1)))
    past = frame(2, 1, row(fields["history"], dict(handle=0, complete=0, since=0, until=1, amount=1.0, user=0.0, manual=0.0)))
    luck, counts, said = random.Random(options.seed), {}, []
    ia._write = said.append
    sys.stderr = io.StringIO()
    for number in range(options.frames):
        whole = luck.choice([begin, asked, asked, past])
        damaged = bytearray(whole)
        for _ in range(luck.randint(1, 3)):
            place = luck.randrange(len(damaged))
            what = luck.randrange(4)
            if what == 0:
                damaged[place] = luck.randrange(256)
            elif what == 1:
                del damaged[place:place + luck.randint(1, 16)]
            elif what == 2:
                damaged[place:place] = bytes(luck.randrange(256) for _ in range(luck.randint(1, 8)))
            else:
                struct.pack_into("<I", damaged, min(place, len(damaged) - 4) // 4 * 4, luck.choice([0, 1, 2**31, 2**32 - 1]))
            if len(damaged) < 24:
                break
        if number % 2 and len(damaged) >= 20:
            struct.pack_into("<I", damaged, len(damaged) - 4, zlib.crc32(bytes(damaged[:-4])))
        pipe = ia._Pipe()
        parts = [begin + bytes(damaged) + asked]

        def more(parts=parts, pipe=pipe):
            if not parts:
                raise ia._Ended
            pipe.bytes += parts.pop()

        pipe.more = more
        del said[:]
        try:
            ia._serve_each(Mine, dict(fields), pipe)
            found = "went on"
        except ia._Ended:
            found = "ended"
        except (ValueError, KeyError, struct.error) as error:
            found = type(error).__name__
        counts[found] = counts.get(found, 0) + 1
        for text in said:
            place = 0
            while place < len(text):
                magic, kind, rows, length = struct.unpack_from("<4sIII", text, place)
                end = place + 16 + length
                assert magic == b"ISL1" and kind in (4, 5, 6, 8), (number, kind)
                assert zlib.crc32(text[place:end]) == struct.unpack_from("<I", text, end)[0], number
                place = end + 4
        if number % 1000 == 0:
            sys.stderr = io.StringIO()
    out.write("%d frames: %s\n" % (options.frames, ", ".join("%d %s" % (n, k) for k, n in sorted(counts.items()))))
    out.write("1 passed, 0 failed\n")
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
