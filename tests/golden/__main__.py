"""Compare the draws of every sampler with the stored hashes.

python -m tests.golden               compare; exit 1 if anything differs
python -m tests.golden --write       store the hashes (only when draws are meant to change)
python -m tests.golden --no-actors   without Ray
"""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from tests.golden.runs import CASES, MODES, hashes, machine, run_in_mode, two_nodes

FILE = Path(__file__).with_name("hashes.json")


def main(arguments: list[str]) -> int:
    """Print one row per case and whether all modes give the stored hashes."""
    modes = [mode for mode in MODES if not (mode == "2 actors" and "--no-actors" in arguments)]
    known = {"machine": machine(), "cases": {}} if "--write" in arguments else json.loads(FILE.read_text())
    bits_apply = known["machine"] == machine()
    print(f"{machine()}{'' if bits_apply else ': other machine, whole numbers are compared'}")
    differing = 0
    with two_nodes() if "2 actors" in modes else nullcontext():
        for name, case in CASES.items():
            found = {}
            for mode in modes:
                with tempfile.TemporaryDirectory() as folder:
                    found[mode] = hashes(run_in_mode(case, mode, Path(folder)))
            if "--write" in arguments:
                known["cases"][name] = list(found["1 thread"])
            expected = known["cases"][name]
            wrong = [
                mode
                for mode, (whole, every) in found.items()
                if whole != expected[0] or (bits_apply and expected[1] not in (None, every))
            ]
            differing += len(wrong)
            verdict = f"differs: {', '.join(wrong)}" if wrong else f"equal: {', '.join(found)}"
            print(f"{name:<38}{expected[1] or 'unknown bits':<16}  {verdict}", flush=True)
    if "--write" in arguments:
        FILE.write_text(json.dumps(known, indent=1) + "\n")
    print(f"{len(CASES) * len(modes)} runs, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
