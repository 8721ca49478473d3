"""
Decisions on a BrainFlow board
==============================

``python with_brainflow.py model.stiefel S001`` reads BrainFlow's synthetic board; for a real one,
change the board and its parameters. Samples are in microvolts and come
with their times. The model must have been trained at the rate of the board (250 Hz) and on channels
that it has: ``stiefel prepare --rate 250 --channels C3,Cz,C4,…``.
"""

import sys
import time

from brainflow.board_shim import BoardIds, BoardShim, BrainFlowInputParams

from stiefel import live

model, domain = sys.argv[1:3]
board_id = BoardIds.SYNTHETIC_BOARD.value
eeg, names = BoardShim.get_eeg_channels(board_id), BoardShim.get_eeg_names(board_id)
session = live.Session(
    model, domain=domain, channels=names, rate=BoardShim.get_sampling_rate(board_id), unit="uV"
)
board, clock = (
    BoardShim(board_id, BrainFlowInputParams()),
    BoardShim.get_timestamp_channel(board_id),
)
board.prepare_session()
board.start_stream()
try:
    while True:
        time.sleep(0.05)
        data = board.get_board_data()
        for said in session.push(data[eeg].T, data[clock]):
            print(said)
finally:
    board.stop_stream()
    board.release_session()
