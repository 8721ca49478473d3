"""
Decisions on an LSL stream, with pylsl
======================================

``python with_pylsl.py model.stiefel S001`` reads the first EEG stream it finds. The session is
given every sample with its time, so that it sees gaps.
The names of the channels and their unit come from the description of the stream.
"""

import sys

import pylsl

from stiefel import live

model, domain = sys.argv[1:3]
found = pylsl.resolve_byprop("type", "EEG", timeout=10)
if not found:
    sys.exit("There is no EEG stream.")
# Times of another machine become times of this one.
inlet = pylsl.StreamInlet(found[0], processing_flags=pylsl.proc_clocksync)
info = inlet.info()
channel, names, unit = info.desc().child("channels").child("channel"), [], None
while not channel.empty():
    names.append(channel.child_value("label"))
    unit = channel.child_value("unit") or None
    channel = channel.next_sibling("channel")

session = live.Session(
    model, domain=domain, channels=names or None, rate=info.nominal_srate(), unit=unit
)
print(*session.notes, sep="\n")
while True:
    samples, times = inlet.pull_chunk(timeout=0.2, max_samples=32)
    if times:
        for said in session.push(samples, times):
            print(said)
