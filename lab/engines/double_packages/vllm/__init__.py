# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The double's `vllm`: its version and its command line's parser, where vLLM 0.32 has them."""

from engine_double import VERSION as __version__

__all__ = ["__version__"]
