#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin of the same name."""

from __future__ import annotations

DOCUMENTATION = r"""
module: benchmark_import
short_description: Make a result of this collection from one of another benchmark
version_added: 0.1.0
description:
  - >-
    Reads what C(vllm bench serve --save-result) (the Python program), C(vllm-rs bench serve --save-result) (the Rust
    program) or C(llama-benchy --format json) has saved, and writes C(result.json) and the reports, so that figures of
    others can be laid beside ours.
  - >-
    Figures go by our names where they mean the same. What such a file does not say is null, with the reason. It is one
    round, so a comparison with it is inconclusive.
  - A result of C(vllm bench serve --save-detailed) has the requests themselves, of which figures are made in our way.
  - Runs on the controller.
extends_documentation_fragment:
  - dgxspark.serving.attributes
options:
  src:
    description: The file on the controller.
    type: path
    required: true
  dest:
    description: Folder on the controller, in which the result gets a folder of its own.
    type: path
    default: results
  label:
    description: A word for the reports and the folder's name.
    type: str
    default: ""
  model:
    description: The model, where the tool was told another name. Otherwise what the file says.
    type: str
    default: ""
  target:
    description: A name for what was measured; results are compared where it is the same.
    type: str
    default: imported
  via:
    description: Whether the engine was asked, or a gateway before it.
    type: str
    choices: [direct, gateway]
    default: direct
  case:
    description:
      - The case that it corresponds to, such as V(short-en), so that it is laid beside that.
      - Otherwise it is named after what the file says.
    type: str
    default: ""
  pictures:
    description: Draw pictures into the HTML page.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Lay somebody's figures beside ours
  dgxspark.serving.benchmark_import:
    src: openai-chat-infqps-concurrency8.json
    label: forum
    target: gateway
    via: gateway
    case: short-en
  delegate_to: localhost
"""

RETURN = r"""
folder:
  description: Folder of the result.
  returned: success
  type: str
paths:
  description: The files in it.
  returned: success
  type: list
  elements: str
tool:
  description: The tool that has saved the file.
  returned: success
  type: str
points:
  description: Number of points.
  returned: success
  type: int
notes:
  description: How the figures differ from ours.
  returned: success
  type: list
  elements: str
"""
