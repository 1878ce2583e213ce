"""BERT's uncased tokenizer: words, then the longest known pieces of each."""

import unicodedata


def _is_punctuation(c):
    return 33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 or 123 <= ord(c) <= 126 or unicodedata.category(c)[0] == "P"


def words_of(text):
    """Lower case, no accents, punctuation and CJK characters as words of their own."""
    text = unicodedata.normalize("NFD", text.lower())
    out = []
    for c in text:
        category = unicodedata.category(c)
        if category == "Mn" or (category[0] == "C" and c not in "\t\n\r"):
            continue
        out.append(f" {c} " if _is_punctuation(c) or 0x4E00 <= ord(c) <= 0x9FFF else c)
    return "".join(out).split()


class WordPiece:
    def __init__(self, vocabulary_file):
        with open(vocabulary_file, encoding="utf-8") as f:
            self.ids = {line.rstrip("\n"): i for i, line in enumerate(f)}

    def pieces_of(self, word):
        out, at = [], 0
        while at < len(word):
            end = len(word)
            while end > at and ("##" if at else "") + word[at:end] not in self.ids:
                end -= 1
            if end == at or len(word) > 100:
                return [self.ids["[UNK]"]]
            out.append(self.ids[("##" if at else "") + word[at:end]])
            at = end
        return out

    def encode(self, text, most):
        """Ids with [CLS] and [SEP], at most `most` of them."""
        ids = [i for w in words_of(text) for i in self.pieces_of(w)]
        return [self.ids["[CLS]"]] + ids[: most - 2] + [self.ids["[SEP]"]]
