"""BERT's uncased tokenizer: words, punctuation by itself, accents dropped, then the longest pieces of the vocabulary."""
import unicodedata


class WordPiece:
    def __init__(self, vocabulary):
        with open(vocabulary, encoding="utf-8") as file:
            self.ids = {line.rstrip("\n"): i for i, line in enumerate(file)}

    def encode(self, text, most=128):
        ids = [i for word in self.words(text) for i in self.pieces(word)]
        return [self.ids["[CLS]"], *ids[: most - 2], self.ids["[SEP]"]]

    @staticmethod
    def words(text):
        """Splits at blanks and around punctuation and CJK characters."""
        text = unicodedata.normalize("NFD", text.lower())
        out, word = [], ""
        for c in text:
            kind = unicodedata.category(c)
            code = ord(c)
            # ASCII symbols such as $ and ^ count as punctuation.
            alone = kind.startswith("P") or 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
            alone = alone or 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF
            if kind == "Mn" or code in (0, 0xFFFD) or (kind.startswith("C") and c not in "\t\n\r"):
                continue
            if alone or c.isspace():
                if word:
                    out.append(word)
                word = ""
                if alone:
                    out.append(c)
            else:
                word += c
        return out + [word] if word else out

    def pieces(self, word):
        if len(word) > 100:
            return [self.ids["[UNK]"]]
        out, begin = [], 0
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = ("##" if begin else "") + word[begin:end]
                if piece in self.ids:
                    out.append(self.ids[piece])
                    begin = end
                    break
            else:
                return [self.ids["[UNK]"]]
        return out
