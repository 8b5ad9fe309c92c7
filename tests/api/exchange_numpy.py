"""Arrays exchanged with NumPy itself, through files and through DLPack: exchange_numpy.py LIBRARY FOLDER."""
import ctypes
import os
import sys

import numpy

lib = ctypes.CDLL(sys.argv[1])
path = os.path.join(sys.argv[2], "exchange.%d.npy" % os.getpid())
pointer, python = ctypes.c_void_p, ctypes.pythonapi

for name in "sn_open sn_load_npy sn_to_dlpack_unversioned sn_from_dlpack_unversioned".split():
    getattr(lib, name).restype = pointer
lib.sn_message.restype = ctypes.c_char_p
lib.sn_bytes.restype = ctypes.c_size_t
lib.sn_array_extent.restype = ctypes.c_int64
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [pointer, ctypes.c_char_p, pointer]
python.PyCapsule_GetPointer.restype = pointer
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = b"used_dltensor"

cx = pointer(lib.sn_open(None))
assert cx.value, "no context"


def check(address):
    assert address, lib.sn_message(cx).decode()
    return pointer(address)


def read(array, dtype):
    """The array's elements, copied out by the library."""
    shape = tuple(lib.sn_array_extent(array, d) for d in range(lib.sn_array_rank(array)))
    out = numpy.empty(shape, dtype)
    assert lib.sn_bytes(array) == out.nbytes
    assert lib.sn_read(array, pointer(out.ctypes.data), ctypes.c_size_t(out.nbytes)) == 0, lib.sn_message(cx)
    return out


class Tensor:
    """What numpy.from_dlpack takes."""

    def __init__(self, address):
        self.address = address

    def __dlpack__(self, stream=None):
        return python.PyCapsule_New(self.address, b"dltensor", None)

    def __dlpack_device__(self):
        return 1, 0


def through_file(a):
    numpy.save(path, a)
    array = check(lib.sn_load_npy(cx, path.encode()))
    native = a.dtype.newbyteorder("=")
    assert numpy.array_equal(read(array, native), a), a.dtype
    os.remove(path)
    assert lib.sn_save_npy(array, path.encode()) == 0, lib.sn_message(cx)
    lib.sn_free(array)
    back = numpy.load(path)
    assert back.dtype == native and back.shape == a.shape and numpy.array_equal(back, a), a.dtype
    os.remove(path)


def through_dlpack(a):
    capsule = a.__dlpack__()
    array = check(lib.sn_from_dlpack_unversioned(cx, pointer(python.PyCapsule_GetPointer(capsule, b"dltensor"))))
    python.PyCapsule_SetName(capsule, USED)
    assert numpy.array_equal(read(array, a.dtype), a), a.dtype
    back = numpy.from_dlpack(Tensor(check(lib.sn_to_dlpack_unversioned(array)).value))
    lib.sn_free(array)
    assert back.dtype == a.dtype and numpy.array_equal(back, a), a.dtype
    whole = a.flags.c_contiguous and a.flags.aligned
    assert numpy.shares_memory(a, back) == (whole and a.size > 0), (a.dtype, a.strides)


def as_text(a):
    """sn_format writes what NumPy prints."""
    numpy.save(path, a)
    array = check(lib.sn_load_npy(cx, path.encode()))
    os.remove(path)
    length = lib.sn_format(array, None, ctypes.c_size_t(0))
    room = ctypes.create_string_buffer(length + 1)
    assert lib.sn_format(array, room, ctypes.c_size_t(length + 1)) == length
    lib.sn_free(array)
    with numpy.printoptions(threshold=1000, edgeitems=3, linewidth=75, precision=8):
        expected = str(a)
    assert room.value.decode() == expected, "%s %s\n%s\n%s" % (a.dtype, a.shape, room.value.decode(), expected)


def all_texts():
    random = numpy.random.default_rng(1)
    shapes = (), (1,), (7,), (40,), (1000,), (1001,), (3, 5), (2, 3, 4), (40, 50), (7, 2000), (12, 12, 12), (0,), (3, 0), (2, 600, 1, 2)
    for shape in shapes:
        for kind in "i1 i4 i8 u1 u8 bool".split():
            as_text(random.integers(-100 if kind[0] == "i" else 0, 2 if kind == "bool" else 100, shape).astype(kind))
        for kind in "f4", "f8":
            for scale in 1, 1e3, 1e-7, 1e12, 1e-300 if kind == "f8" else 1e-40:
                a = (random.standard_normal(shape) * scale).astype(kind)
                as_text(a)
                as_text(numpy.round(a))
                as_text(numpy.where(a > scale, numpy.inf, numpy.where(a < -scale, -numpy.inf, a)).astype(kind))
                as_text(numpy.where(a > 0, numpy.nan, numpy.floor(a)).astype(kind))
            as_text(random.integers(-5, 5, shape).astype(kind))
            as_text((random.integers(-500, 500, shape) / 64).astype(kind))
            as_text(numpy.full(shape, numpy.nan, kind))
            as_text(numpy.zeros(shape, kind))
    as_text(numpy.array([[-9223372036854775808, 9223372036854775807]]))
    as_text(numpy.array([1e8, 1, -1e-4, 12345678.9]))
    as_text(numpy.array([1e100, -1e-100, 0]))
    as_text(numpy.array(list("s\u00e4mi\U0001f600'\n\t\\"), dtype="U1"))


lib.sn_format.restype = ctypes.c_int64
all_texts()
numbers = numpy.arange(2 * 3 * 4).reshape(2, 3, 4)
count = 0
for kind in "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 bool".split():
    base = (numbers % 2 if kind == "bool" else numbers * 5 - 3).astype(kind)
    layouts = base, base.T, base[:, ::2], base[::-1, :, ::-1], base[:0], base[1, 2, 3:].reshape(()), base.copy("F")
    for a in layouts:
        through_file(a)
        through_file(a.astype(a.dtype.newbyteorder(">")))
        if kind != "bool" or int(numpy.__version__.split(".")[0]) >= 2:  # NumPy 1 gives no bools out
            through_dlpack(a)
        count += 1
through_file(numpy.array(list("s\u00e4mi\U0001f600"), dtype="U1"))
lib.sn_close(cx)
print("%d arrays exchanged with NumPy %s" % (count, numpy.__version__))
