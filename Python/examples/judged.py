"""A controller in Python, judged in ten lines: mine.py beside Islet's PID, on the same people with the same luck.

    python3 Python/examples/judged.py results/judged-mine

Usage: judged.py OUT [PEOPLE [DURATION]]
"""

import os
import sys

import islet

OUT, PEOPLE, DURATION = (sys.argv[1:] + ["20", "3d"][len(sys.argv) - 2:])[:3]
MINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mine.py")

study = islet.Study({
    "study": "mine", "duration": DURATION, "cohort": {"generate": {"count": int(PEOPLE)}}, "scenario": {"preset": "life"},
    "arms": [{"name": "pid", "algorithm": "pid-insulin-feedback"}, {"name": "mine", "algorithm": {"python": MINE, "gain": 0.4}}],
    "primary": ["tir_70_180_percent", "tbr_54_percent"],
})
results = study.run(OUT, allow_algorithm=True).using("rows")
for one in results.comparisons:
    if one["family"] == "primary":
        print("%s: %+.2f [%s, %s] of mine less pid, p %s" % (
            one["metric"], one["difference"], one["ci95_low"], one["ci95_high"], one["p_adjusted"]))
