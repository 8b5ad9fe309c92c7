#!/usr/bin/env python3
"""Writes data/table.npy: the leading 48 x 48 block of the stiffness matrix data/bcsstk13.mtx, dense, f64.

    tools/make-table.py

Needs nothing but Python: the file is small enough to write NumPy's format by hand. The program examples/rowstats.c reads it.
"""
import os
import struct

SIZE = 48
data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")

table = [0.0] * (SIZE * SIZE)
with open(os.path.join(data, "bcsstk13.mtx")) as matrix:
    lines = [line for line in matrix if not line.startswith("%")]
for line in lines[1:]:  # the first says how many there are
    row, column, value = line.split()
    i, j = int(row) - 1, int(column) - 1
    if i < SIZE and j < SIZE:
        table[i * SIZE + j] = table[j * SIZE + i] = float(value)  # only one triangle is stored

header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (SIZE, SIZE)
header += " " * (-(10 + len(header) + 1) % 64) + "\n"
with open(os.path.join(data, "table.npy"), "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    out.write(struct.pack("<%dd" % len(table), *table))
