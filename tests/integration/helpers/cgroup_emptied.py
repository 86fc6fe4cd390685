"""Waits until the last process has left a cgroup, as systemd does before it removes one that it made, and
prints whether the exit record was there by then: cgroup_emptied.py CGROUP_V2_FOLDER EXIT_RECORD"""
import os
import select
import sys

with open(os.path.join(sys.argv[1], "cgroup.events"), encoding="ascii") as events:
    waiting = select.poll()
    waiting.register(events, select.POLLPRI)
    while "populated 0" not in events.read():
        waiting.poll(20000)
        events.seek(0)
print("recorded" if os.path.exists(sys.argv[2]) else "not recorded")
