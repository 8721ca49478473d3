"""
Decisions on an LSL stream, with MNE-LSL
========================================

``python with_mne_lsl.py model.stiefel S001 STREAM`` reads the stream of that name. ``StreamLSL`` is
asked for new samples and counts them. Their times cannot tell
which samples are new, because the times of two chunks may overlap. Samples are in the unit in which
the stream sends them; MNE-LSL knows it as a power of ten of
volts.
"""

import sys
import time

from mne_lsl.stream import StreamLSL

from stiefel import live

model, domain, name = sys.argv[1:4]
stream = StreamLSL(bufsize=5, name=name).connect(
    acquisition_delay=None, processing_flags=["clocksync"], timeout=10
)
powers = {power for _, power in stream.get_channel_units()}
if len(powers) > 1:
    sys.exit("The channels have different units: choose those of one unit with stream.pick.")
unit = {0: "V", -3: "mV", -6: "uV", -9: "nV"}[powers.pop()]
session = live.Session(
    model, domain=domain, channels=stream.ch_names, rate=stream.info["sfreq"], unit=unit
)
print(*session.notes, sep="\n")
while True:
    time.sleep(0.02)
    stream.acquire()
    new = stream.n_new_samples
    if new:
        samples, times = stream.get_data()
        for said in session.push(samples[:, -new:].T, times[-new:]):
            print(said)
