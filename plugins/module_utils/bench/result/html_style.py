# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's style sheet: light and dark, wide and narrow. Pictures take their colours from it, too."""

from __future__ import annotations

# Told apart by people who see colours otherwise, on both grounds; lines differ in dash and marker besides.
SERIES = 6

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f5f6f8; --ink: #1b1f24; --faint: #5b6470; --rule: #d5dae1; --link: #0b5cad;
  --good: #19703a; --bad: #b3261e; --unsure: #8a5a00; --even: #4a5563;
  --series-1: #0067b1; --series-2: #c2500a; --series-3: #00805e;
  --series-4: #a3398f; --series-5: #7a6200; --series-6: #5a55c9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --raised: #1d2127; --ink: #e4e7eb; --faint: #9aa4b1; --rule: #363d47; --link: #7db8f0;
    --good: #6fd08c; --bad: #ff8a80; --unsure: #f0bd55; --even: #b4bdc9;
    --series-1: #62b0f5; --series-2: #f79a55; --series-3: #43cfa4;
    --series-4: #e38bd3; --series-5: #d8c04a; --series-6: #a9a4ff;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 76rem; padding: 1rem clamp(0.9rem, 3vw, 2rem) 3rem;
  background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 0.6rem; padding-top: 0.6rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 0.4rem; }
p { margin: 0.5rem 0; max-width: 48rem; }
ul { margin: 0.5rem 0; padding-left: 1.3rem; }
li { margin: 0.25rem 0; max-width: 60rem; }
a { color: var(--link); }
.faint, figcaption, .more { color: var(--faint); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; list-style: none; padding: 0; font-size: 0.9rem; }
nav li { margin: 0; }
.warnings { border-left: 4px solid var(--bad); background: var(--raised); padding: 0.3rem 0.9rem; margin: 0.8rem 0; }
.scroll { overflow-x: auto; margin: 0.6rem 0; border: 1px solid var(--rule); border-radius: 6px; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table {
  width: 100%; border-collapse: separate; border-spacing: 0;
  font-size: 0.875rem; font-variant-numeric: tabular-nums;
}
th, td { padding: 0.35rem 0.65rem; text-align: left; vertical-align: top; overflow-wrap: normal; white-space: nowrap; }
th { background: var(--raised); vertical-align: bottom; font-weight: 600; white-space: normal; min-width: 4.2rem; }
tbody tr + tr td { border-top: 1px solid var(--rule); }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--ground); }
th:first-child { background: var(--raised); }
.number { text-align: right; }
abbr { text-decoration-color: var(--faint); cursor: help; }
.badge { font-weight: 600; white-space: nowrap; color: var(--even); }
.badge.regression, .badge.worse, .badge.error, .badge.no { color: var(--bad); }
.badge.improvement, .badge.better { color: var(--good); }
.badge.inconclusive, .badge.warning { color: var(--unsure); }
.pictures {
  display: grid; gap: 1rem; margin: 0.8rem 0;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr));
}
figure { margin: 0; padding: 0.6rem; border: 1px solid var(--rule); border-radius: 6px; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 34rem; margin: 0.4rem auto 0; }
figcaption { font-size: 0.85rem; }
figcaption b { color: var(--ink); }
dl { margin: 0.5rem 0; max-width: 60rem; }
dt { font-weight: 600; margin-top: 0.6rem; }
dd { margin: 0 0 0 1rem; }
code { font: 0.85em ui-monospace, monospace; }
pre {
  margin: 0.4rem 0; padding: 0.6rem; border-radius: 6px; background: var(--raised);
  white-space: pre-wrap; overflow-wrap: anywhere;
}
details { margin: 0.4rem 0; }
summary { cursor: pointer; }
@media print { .scroll { overflow: visible; border: 0; } figure, tr { break-inside: avoid; } nav { display: none; } }
"""
