# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How `vllm serve` reads its flags."""

from engine_double.serve_parser import make_arg_parser, validate_parsed_serve_args

__all__ = ["make_arg_parser", "validate_parsed_serve_args"]
