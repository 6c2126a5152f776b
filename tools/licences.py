"""List the licences of everything that headspan and its extras require on this platform.

    python tools/licences.py

Fails if a package names no licence, or one that is not on the list below.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ALLOWED = """
    0BSD Apache-2.0 BSD BSD-2-Clause BSD-3-Clause BSL-1.0 CC0-1.0 CNRI-Python ISC MIT MIT-CMU
    MPL-2.0 PSF-2.0 Zlib
""".split()
EXCEPTIONS = {
    "udtools": "the oracle of the scorer's tests, required by stanza; nothing in src imports it",
    "udapi": "required by udtools; nothing in src imports it",
}
# How packages without an SPDX expression spell their licence.
SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The MIT License (MIT)": "MIT",
}


def needed(name: str = "headspan") -> tuple[list[Distribution], set[str]]:
    """Packages that a package and all its extras require here, and names of those not installed."""
    installed: dict[str, Distribution] = {}
    missing: set[str] = set()
    waiting = [(name, frozenset(distribution(name).metadata.get_all("Provides-Extra", [])))]
    seen = set(waiting)
    while waiting:
        name, extras = waiting.pop()
        try:
            installed[name] = distribution(name)
        except PackageNotFoundError:
            missing.add(name)
            continue
        for requirement in map(Requirement, installed[name].requires or []):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in ("", *extras)):
                required = canonicalize_name(requirement.name), frozenset(requirement.extras)
                waiting.extend({required} - seen)
                seen.add(required)
    return [installed[name] for name in sorted(installed)], missing


def licence(package: Distribution) -> str:
    """The licence that a package names, as an SPDX expression if it is a known one."""
    about = package.metadata
    if expression := about.get("License-Expression"):
        return expression
    classifiers = set(about.get_all("Classifier", [])) - {"License :: DFSG approved"}  # names none
    named = [c.rpartition(" :: ")[2] for c in sorted(classifiers) if c.startswith("License ::")]
    if not named:
        named = (about.get("License") or "none named").strip().splitlines()[:1]
    return " AND ".join(SPELLINGS.get(name, name) for name in named)


def is_allowed(expression: str) -> bool:
    """Return whether every licence of an expression is on the list, including alternatives."""
    parts = re.split(r" AND | OR |[()]", expression)
    return all(p.removesuffix(" WITH LLVM-exception").strip() in (*ALLOWED, "") for p in parts)


def main() -> None:
    """Print the table, and fail if a licence is refused."""
    packages, missing = needed()
    refused = []
    for package in packages:
        name, expression = canonicalize_name(package.name), licence(package)
        why = EXCEPTIONS.get(name, "")
        if not why and not is_allowed(expression):
            refused.append(f"{name}: licence is {expression!r}; expected {' '.join(ALLOWED)}")
        print(f"{name:27} {package.version:12} {expression}{why and f' (exception: {why})'}")
    if missing:
        print(f"not installed here: {' '.join(sorted(missing))}")
    if refused:
        sys.exit("\n".join(refused))


if __name__ == "__main__":
    main()
