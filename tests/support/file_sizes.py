"""Statistics of file lengths, printed at the end of every test run."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
FIRST_PARTY = ("audit", "benchmarks", "drill", "oracle_site", "sandbox", "tests", "verdicts")


def file_sizes() -> dict[str, int]:
    """Lines of each first-party Python file, without empty files and migrations."""
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for package in FIRST_PARTY
        for path in (ROOT / package).rglob("*.py")
        if "migrations" not in path.parts
    }
    return {name: size for name, size in sizes.items() if size}


def size_report() -> str:
    sizes = file_sizes()
    lengths = sorted(sizes.values())
    longest = max(sizes, key=lambda name: sizes[name])
    return (
        f"{len(lengths)} files: median {lengths[len(lengths) // 2]} lines, "
        f"nine in ten under {lengths[len(lengths) * 9 // 10] + 1}, "
        f"longest {longest} with {lengths[-1]}"
    )
