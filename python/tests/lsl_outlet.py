"""A sender of samples and markers for the tests: `python lsl_outlet.py PLAN.json`.

Waits for its readers, sends every sample with the time it has on an exact grid, faster than that
time passes, says `sent` and stays until it is ended.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pylsl

plan = json.loads(Path(sys.argv[1]).read_text())
samples = np.load(plan["samples"])
times = np.array(plan["times"]) if "times" in plan else np.arange(len(samples)) / plan["rate"]
info = pylsl.StreamInfo(
    plan["name"], "EEG", samples.shape[1], plan["rate"], pylsl.cf_double64, plan["name"]
)
channels = info.desc().append_child("channels")
for name in plan["channels"]:
    channel = channels.append_child("channel")
    channel.append_child_value("label", name)
    channel.append_child_value("unit", plan.get("unit", "microvolts"))
    channel.append_child_value("type", "EEG")
outlet = pylsl.StreamOutlet(info)
marked = pylsl.StreamInfo(
    plan["name"] + " markers", "Markers", 1, 0, pylsl.cf_string, plan["name"] + " markers"
)
markers = pylsl.StreamOutlet(marked) if plan.get("markers") is not None else None
print("ready", flush=True)
while not (outlet.have_consumers() and (markers is None or markers.have_consumers())):
    time.sleep(0.01)
time.sleep(0.3)
start, todo = pylsl.local_clock(), list(plan.get("markers") or [])
for first in range(0, len(samples), 16):
    for t in range(first, min(first + 16, len(samples))):
        while todo and todo[0][0] <= t:
            markers.push_sample([todo[0][1]], start + times[todo.pop(0)[0]])
        outlet.push_sample(samples[t], start + times[t])
    time.sleep(16 / plan["rate"] / plan.get("speed", 20))
print("sent", flush=True)
time.sleep(600)
