"""Every shared model as somebody tries it first: with no option; where that is refused, with what the error proposes.

A model whose only open dimension is the batch compiles at once and says what it took; the others with the first proposal.
"""
import pathlib
import re
import shlex
import sys
import tempfile

from model_list import Models

PROPOSAL = re.compile(r"this compiles: add(.*?) \(or fix")


def attempts(models, model, folder):
    """How many commands it took, and what was added; 0 when the second did not do either."""
    first = models.compile(model, [], folder)
    if first.returncode == 0:
        return 1, ""
    found = PROPOSAL.search(first.stderr)
    if found is None:
        return 0, first.stderr.strip()
    words = shlex.split(found.group(1))
    second = models.compile(model, words, folder)
    return (2, found.group(1).strip()) if second.returncode == 0 else (0, second.stderr.strip())


def main():
    models = Models()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        for model in models.files:
            count, text = attempts(models, model, pathlib.Path(name))
            failed += count == 0
            if count != 1:
                print(f"{model.name}: {'compiles with ' + text if count else 'FAILED: ' + text}")
    print(f"{len(models.files)} models, {failed} that neither compile at once nor with what is proposed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
