# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A result as JUnit XML, for pipelines: a test case for each point, and one for each row of the comparison."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import figure, interval

# XML 1.0 has no way to write these, and an engine's words may hold them.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(result: Mapping[str, Any]) -> str:
    """The file."""
    root = ET.Element("testsuites", name=_clean(f"benchmark {result['run']['id']}"))
    points = ET.SubElement(root, "testsuite", name="points")
    for point in result["points"]:
        _point(points, point)
    comparison = result["comparison"]
    if comparison:
        rows = ET.SubElement(root, "testsuite", name="comparison")
        for row in comparison["rows"]:
            _row(rows, row)
        for one in comparison.get("only_in_baseline") or ():
            if one["asked"]:
                _lost(rows, one)
    for suite in root:
        _count(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _point(suite: ET.Element, point: Mapping[str, Any]) -> None:
    seconds = sum(one.get("seconds") or 0.0 for one in point["rounds"])
    case = ET.SubElement(
        suite, "testcase", classname=_clean(f"points.{point['case']}"), name=_clean(point["id"]), time=f"{seconds:.3f}"
    )
    errors = sum(point["errors"].values())
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(point["errors"].items()))
    said = [] if point["valid"] else ["The point is not valid: " + " ".join(point["invalid_reasons"])]
    said += [f"{errors} requests failed: {kinds}."] if errors else []
    if said:
        failure = ET.SubElement(
            case, "failure", type="invalid" if not point["valid"] else "errors", message=_clean(said[0])
        )
        samples = [f"{one['kind']}: {one['message']}" for one in point["error_samples"]]
        failure.text = _clean("\n".join([*said, *samples]))


def _row(suite: ET.Element, row: Mapping[str, Any]) -> None:
    # A point's id is unlike any other; case, target and users are not: it may be a step of a ladder, or not streamed.
    name = f"{row['metric']} {row['point']}"
    case = ET.SubElement(
        suite, "testcase", classname=_clean(f"comparison.{row['case']}"), name=_clean(name), time="0.000"
    )
    before, now, ratio = (figure(row[key]) for key in ("baseline", "candidate", "ratio"))
    said = f"{row['metric']}: {before} before, {now} now, ratio {ratio}"
    said += f" ({interval(row['ci95'])})" if interval(row["ci95"]) else ""
    if row["verdict"] == "regression":
        ET.SubElement(case, "failure", type="regression", message=_clean(said)).text = _clean(said)
    elif row["verdict"] == "inconclusive":
        more = row["needed_rounds"]
        said += f"; {more} rounds on each side would settle it" if more else ""
        ET.SubElement(case, "skipped", message=_clean(f"inconclusive: {said}"))
    else:
        ET.SubElement(case, "system-out").text = _clean(f"{row['verdict']}: {said}")


def _lost(suite: ET.Element, point: Mapping[str, Any]) -> None:
    """A point of the baseline that was to be measured and was not; one that nobody asked for is no test."""
    name, said = f"measured {point['point']}", f"inconclusive: in the baseline, and not measured now. {point['why']}"
    case = ET.SubElement(
        suite, "testcase", classname=_clean(f"comparison.{point['case']}"), name=_clean(name), time="0.000"
    )
    ET.SubElement(case, "skipped", message=_clean(said))


def _count(suite: ET.Element) -> None:
    cases = list(suite)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", "0")
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")


def _clean(said: str) -> str:
    return _NOT_XML.sub("\ufffd", said)
