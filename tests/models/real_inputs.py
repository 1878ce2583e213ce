#!/usr/bin/env python3
"""Writes inputs that mean something for a model and prints NAME=FILE.npy for each. Needs numpy and onnx.

real_inputs.py photo|speech|tokens MODEL.onnx DATA_FOLDER OUT_FOLDER
"""
import pathlib
import sys
import wave

import numpy as np


def save(folder, name, array):
    path = pathlib.Path(folder) / ("real_" + "".join(c if c.isalnum() else "_" for c in name) + ".npy")
    np.save(path, np.ascontiguousarray(array))
    print(f"{name}={path}")


def enlarged(image, size):
    """Bilinear."""
    at = np.clip((np.arange(size) + 0.5) * image.shape[0] / size - 0.5, 0, image.shape[0] - 1)
    low = at.astype(int)
    high, part = np.minimum(low + 1, image.shape[0] - 1), (at - low)[:, None, None]
    rows = image[low] * (1 - part) + image[high] * part
    part = (at - low)[None, :, None]
    return rows[:, low] * (1 - part) + rows[:, high] * part


def photo(model, data, folder):
    import onnx

    tensor = onnx.load(model, load_external_data=False).graph.input[0]
    size = tensor.type.tensor_type.shape.dim[2].dim_value
    image = enlarged(np.load(pathlib.Path(data) / "cifar10_2000.npz")["x"][4].astype(np.float64) / 255, size)
    if "mobilenet" in pathlib.Path(model).name:
        image = (image - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    save(folder, tensor.name, image.transpose(2, 0, 1)[None].astype(np.float32))


def speech(model, data, folder):
    with wave.open(str(pathlib.Path(data) / "audio" / "speech.wav")) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)[:: file.getnchannels()]
    begin = int(np.argmax(np.convolve(np.abs(samples.astype(np.float32)), np.ones(576), "valid")))
    save(folder, "input", samples[begin:begin + 576][None].astype(np.float32) / 32768)
    save(folder, "state", np.zeros((2, 1, 128), np.float32))
    save(folder, "sr", np.array(16000, np.int64))


def tokens(model, data, folder):
    from wordpiece import WordPiece

    ids = WordPiece(pathlib.Path(data) / "text" / "vocab.txt").encode("A man with a hard hat is dancing on the street in Berlin.")
    save(folder, "input_ids", np.array([ids], np.int64))
    save(folder, "attention_mask", np.ones((1, len(ids)), np.int64))
    save(folder, "token_type_ids", np.zeros((1, len(ids)), np.int64))


if __name__ == "__main__":
    {"photo": photo, "speech": speech, "tokens": tokens}[sys.argv[1]](*sys.argv[2:])
