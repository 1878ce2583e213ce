"""Mote's C interface for the scripts here: a program that runs on numpy arrays."""
import ctypes as c

import numpy as np

DTYPES = {1: np.float32, 2: np.float64, 3: np.float16, 5: np.int8, 6: np.uint8, 7: np.int16, 8: np.uint16, 9: np.int32, 10: np.uint32,
          11: np.int64, 12: np.uint64, 13: np.bool_}


class TensorInfo(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("name", c.c_char_p), ("dtype", c.c_int), ("rank", c.c_uint32), ("dims", c.c_int32 * 8),
                ("dynamic", c.c_uint32), ("quantized", c.c_uint32), ("scale", c.c_float), ("zero_point", c.c_int32),
                ("bytes", c.c_uint64), ("in_bank", c.c_uint32)]


class Program:
    def __init__(self, library, path):
        self.lib = c.CDLL(str(library))
        self.lib.mote_error_create.restype = c.c_void_p
        self.lib.mote_error_message.restype = c.c_char_p
        self.error = c.c_void_p(self.lib.mote_error_create())
        self.program, self.instance = c.c_void_p(), c.c_void_p()
        self.check(self.lib.mote_program_open_file(str(path).encode(), None, c.byref(self.program), self.error))
        self.check(self.lib.mote_instance_create(self.program, None, c.byref(self.instance), self.error))
        self.inputs = [self.info(self.lib.mote_program_input_info, i) for i in range(self.lib.mote_program_input_count(self.program, 0))]
        self.outputs = [self.info(self.lib.mote_program_output_info, i) for i in range(self.lib.mote_program_output_count(self.program, 0))]

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.lib.mote_error_message(self.error).decode())

    def info(self, ask, index):
        info = TensorInfo()
        info.struct_size = c.sizeof(info)
        self.check(ask(self.program, 0, index, c.byref(info)))
        return info

    def run(self, *arrays):
        """Arrays in the order of the inputs; returns those of the outputs."""
        for i, array in enumerate(arrays):
            array = np.asarray(array, DTYPES[self.inputs[i].dtype], order="C")
            dims = (c.c_int32 * 8)(*array.shape)
            self.check(self.lib.mote_instance_set_input_dims(self.instance, 0, i, dims, array.ndim, self.error))
            self.check(self.lib.mote_instance_set_input(self.instance, 0, i, array.ctypes.data_as(c.c_void_p), c.c_uint64(array.nbytes),
                                                        self.error))
        self.check(self.lib.mote_instance_own_io(self.instance, 0, self.error))
        self.check(self.lib.mote_instance_run(self.instance, 0, None, self.error))
        return [self.output(i) for i in range(len(self.outputs))]

    def output(self, index):
        info = self.outputs[index]
        dims, rank, size = (c.c_int32 * 8)(), c.c_uint32(), c.c_uint64()
        self.check(self.lib.mote_instance_output_dims(self.instance, 0, index, dims, c.byref(rank)))
        flat = np.empty(info.bytes // np.dtype(DTYPES[info.dtype]).itemsize, DTYPES[info.dtype])
        self.check(self.lib.mote_instance_get_output(self.instance, 0, index, flat.ctypes.data_as(c.c_void_p), c.c_uint64(flat.nbytes),
                                                     c.byref(size), self.error))
        shape = dims[: rank.value]
        return flat[: int(np.prod(shape, dtype=np.int64))].reshape(shape)
