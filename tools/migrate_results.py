"""Rename what the stored runs call by old names, line by line; the numbers stay. Run once: python tools/migrate_results.py

`crc32` goes; `version` and `fingerprint` come, null where a run is older than fingerprints.
"""

import json
import re
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[1] / "results"
SETTING = {"knob": "hyperparameter"}
RESULT = {
    "01_act_controls_class": {"thinks": "steps", "one": "one_step"},
    "01_": {"n_updates": "steps"},
    "04_": {"shares": "fractions"},
    "06_": {"trained": "cpu_seconds"},
}


def renamed(row: dict, names: dict[str, str]) -> dict:
    """Return the row with its columns renamed, in their order."""
    new = {names.get(name, name): value for name, value in row.items()}
    if len(new) < len(row):
        raise ValueError(f"two columns would have one name: {sorted(row)}")
    return new


def migrated(line: str, stem: str) -> str:
    """Return a line of the file with this stem in the new names."""
    row = json.loads(line)
    if row.keys() != {"setting", "result", "seconds", "made_with", "crc32"}:
        raise ValueError(f"{stem}: a line has {sorted(row)}")
    names = next((names for start, names in RESULT.items() if stem.startswith(start)), {})
    row["setting"] = renamed(row["setting"], SETTING)
    row["result"] = renamed(row["result"], names)
    del row["crc32"]
    return json.dumps(row | {"version": "0.1.0", "fingerprint": None})


def values(line: str) -> list[str]:
    """Return everything in a line but the names of columns, as text, in order."""
    row = json.loads(line, parse_float=str, parse_int=str)
    found = []

    def walk(part: object) -> None:
        for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            walk(value)
        if not isinstance(part, dict | list):
            found.append(str(part))

    walk({name: row[name] for name in ("setting", "result", "seconds", "made_with")})
    return found


def main() -> None:
    """Migrate every file, check its values against the old ones, and give it its new name."""
    for path in sorted(RESULTS.glob("*.jsonl")):
        old = path.read_text(encoding="utf-8").splitlines()
        new = [migrated(line, path.stem) for line in old]
        if [values(line) for line in old] != [values(line) for line in new]:
            raise ValueError(f"{path.name}: a value has changed")
        path.write_text("".join(f"{line}\n" for line in new), encoding="utf-8")
        path.rename(path.with_stem(re.sub("knobs$", "hyperparameters", path.stem)))


if __name__ == "__main__":
    main()
