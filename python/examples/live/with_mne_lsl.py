"""
Decisions on an LSL stream, with MNE-LSL
========================================

``python with_mne_lsl.py model.stiefel S001 STREAM`` reads the stream of that name. ``StreamLSL`` collects samples in the background; the session takes those
that are new.
"""

import sys
import time

import numpy as np
from mne_lsl.stream import StreamLSL

from stiefel import live

model, domain, name = sys.argv[1:4]
stream = StreamLSL(bufsize=5, name=name).connect()
session = live.Session(model, domain=domain, channels=stream.ch_names, rate=stream.info["sfreq"], unit="V")
last = -np.inf
while True:
    time.sleep(0.05)
    samples, times = stream.get_data(winsize=5)
    new = times > max(last, 0)
    if new.any():
        last = times[-1]
        for said in session.push(samples[:, new].T, times[new]):
            print(said)
