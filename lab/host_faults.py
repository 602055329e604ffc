# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What breaks something inside a running host: scripts for its root, each failing when there is nothing to break."""

from __future__ import annotations

#: Ends all running containers of the host, as the kernel does: no chance to say goodbye.
KILL_ENGINE = """\
running=$(docker ps --quiet)
[ -n "$running" ] || { echo 'no container runs here' >&2; exit 1; }
docker kill $running
"""

#: Ends the worker processes inside, and leaves the engine's own process alone. The double has no such process: it is
#: told to behave as if, on its control port.
KILL_WORKER = """\
workers=$(pgrep --full '^VLLM::Worker' || :)
if [ -n "$workers" ]; then
  kill -KILL $workers
else
  curl --silent --show-error --fail --request POST http://127.0.0.1:18999/fault/kill-worker
fi
"""

#: Ends the processes that watch the ranks; the engines stay.
KILL_SUPERVISOR = """\
units=$(systemctl list-units --plain --no-legend --state=running 'dgxspark-replica@*.service' | cut -d ' ' -f 1)
[ -n "$units" ] || { echo 'no supervisor runs here' >&2; exit 1; }
systemctl kill --kill-whom=main --signal=KILL $units
"""

#: Ends all containers of the host, in order, and starts Docker again.
RESTART_DOCKER = "systemctl restart docker\n"

# The processes of the host's ranks: all of them are there and none does anything.
_SIGNAL_ENGINE = """\
running=$(docker ps --quiet --filter name=^dgxspark-)
[ -n "$running" ] || {{ echo 'no engine runs here' >&2; exit 1; }}
for one in $running; do docker top $one -o pid | tail -n +2; done | xargs kill -{signal}
"""

#: Stops all processes of the engine; none ends, its connections stay open and nobody answers.
FREEZE_ENGINE = _SIGNAL_ENGINE.format(signal="STOP")

#: Lets a frozen engine go on.
THAW_ENGINE = _SIGNAL_ENGINE.format(signal="CONT")

#: Has the double take requests and make no token; its `/health` stays fine.
HANG_ENGINE = "curl --silent --show-error --fail --request POST http://127.0.0.1:18999/fault/hang\n"
