#!/usr/bin/env python3
"""Writes inputs that mean something for a model and prints NAME=FILE.npy for each. Needs numpy, onnx, pillow.

real_inputs.py photo:FILE[:SIZE]|speech|tokens|bytes MODEL.onnx DATA_FOLDER OUT_FOLDER
"""
import pathlib
import sys
import wave

import numpy as np


def save(folder, name, array):
    path = pathlib.Path(folder) / ("real_" + "".join(c if c.isalnum() else "_" for c in name) + ".npy")
    np.save(path, np.asarray(array, order="C"))
    print(f"{name}={path}")


def photo(model, data, folder, name, size=None):
    """A photograph, resized, RGB in 0..1 (ImageNet's mean and deviation for classifiers), planes first."""
    import onnx
    from PIL import Image

    tensor = onnx.load(model, load_external_data=False).graph.input[0]
    size = int(size or tensor.type.tensor_type.shape.dim[2].dim_value)
    picture = Image.open(pathlib.Path(data) / "images" / name).convert("RGB")
    image = np.asarray(picture.resize((size, size), Image.BILINEAR), np.float64) / 255
    if "mobilenet" in pathlib.Path(model).name:
        image = (image - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    if "yunet" in pathlib.Path(model).name:
        image = image[:, :, ::-1] * 255
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


def file_bytes(model, data, folder):
    """The beginning and end of a text file, as Magika looks at it."""
    text = np.frombuffer((pathlib.Path(data) / "README.md").read_bytes(), np.uint8)
    save(folder, "bytes", np.concatenate([text[:1024], text[-1024:]])[None].astype(np.int32))


KINDS = {"photo": photo, "speech": speech, "tokens": tokens, "bytes": file_bytes}

if __name__ == "__main__":
    kind, *more = sys.argv[1].split(":")
    KINDS[kind](*sys.argv[2:], *more)
