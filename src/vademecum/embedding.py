"""Embedders made of other embedders: two joined, or one that outlives failures.

Source: MnemoLite ADR-002 (a model for code beside one for text). The joint vector has one part per embedder. A document
fills its own embedder's part and a question fills both, so their inner product is the cosine that the document's own
embedder computes:

    code   (d, 0)        prose  (0, d)        question  (q_code, q_prose) / sqrt(2)

Cosines of two models do not compare: for one model 0.3 is near, for another every cosine is above 0.5. So each model is
measured once on a few calibration texts: questions, each with an answer of the model's own kind. The measurement gives
`far`, the mean document and the mean question, and `near`, the closeness of an answer to its question after `far` is
subtracted:

    d' = unit(d - far_documents)    q' = unit(q - far_questions)    score = q'd' / near

For both models 0 then means "as near as any two texts", and 1 "as near as an answer". The scale does not depend on the
indexed texts, so much code does not drown a handful of documents, as it would if scores were standardised within each
kind. The price: within one kind, centred cosines decide the order, not raw ones (Mu and Viswanath, "All-but-the-Top",
ICLR 2018, found the mean to carry no meaning).

An embedder that keeps working while its inner embedder fails.

Memory needs it: records and recall must not depend on a server. While the inner embedder fails, texts get the zero
vector, so they are near nothing and words alone decide. The name then changes, so no one takes such vectors for the
inner embedder's, and the next process makes them again.

Calibration texts: questions, each with code and prose that answer it.

`dual_embedder` scales embedders' cosines by these texts. They are about everyday topics that any model knows, in the
languages and the tone of repositories. No search returns them and nothing is tuned on them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vademecum.digests import blake2b
from vademecum.errors import EmbedError, StoreCorruptError
from vademecum.index.arrays import save_arrays, stored_arrays
from vademecum.private import private_folder
from vademecum.protocols import Embedder
from vademecum.result import Err, Ok, Result, attempt
from vademecum.types import EmbedKind, Passage

Side = Literal["code", "prose"]
FORMAT = "1"  # increment when the texts change, so that scales are measured again

# A question, code that answers it, prose that answers it.
TOPICS: tuple[tuple[str, str, str], ...] = (
    (
        "where is a configuration file read and parsed",
        "def load_config(path):\n    with open(path) as file:\n        return yaml.safe_load(file)",
        "Settings are read from a configuration file in the home directory when the program starts. Values that are missing take their defaults.",
    ),
    (
        "how are failed requests tried again",
        "async function retry(call, attempts) {\n  for (let n = 0; n < attempts; n++) {\n    try { return await call(); } catch (e) { await sleep(2 ** n * 100); }\n  }\n}",
        "A request that fails is tried again up to three times. The pause between two attempts doubles each time.",
    ),
    (
        "check a user's password at login",
        "func (s *Auth) Login(name, password string) (*User, error) {\n\tuser := s.users[name]\n\treturn user, bcrypt.CompareHashAndPassword(user.Hash, []byte(password))\n}",
        "To log in, users enter their name and password. Passwords are stored as hashes and compared with the one that was entered.",
    ),
    (
        "connect to the database",
        "public Connection open(String url) throws SQLException {\n    return DriverManager.getConnection(url, properties);\n}",
        "The address of the database is given as a connection string. Connections are kept in a pool and reused.",
    ),
    (
        "sort items by date, newest first",
        "items.sort(key=lambda item: item.created_at, reverse=True)\nreturn items[:limit]",
        "Lists show the newest entries first. Click on a column's head to order by another value.",
    ),
    (
        "write a message to the log",
        "void log_message(int level, const char *format, ...) {\n  va_list args;\n  va_start(args, format);\n  vfprintf(stderr, format, args);\n}",
        "Messages are written to a log file. The level says how much is logged: errors, warnings, or everything.",
    ),
    (
        "compute the distance between two points",
        "def distance(a, b):\n    return math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2)",
        "The distance between two points on the map is shown as a straight line, in kilometres.",
    ),
    (
        "upload an image to storage",
        "const uploadImage = async (file) => {\n  const body = new FormData();\n  body.append('image', file);\n  return fetch('/api/images', { method: 'POST', body });\n};",
        "Pictures up to ten megabytes can be uploaded. They are kept in object storage and shown in several sizes.",
    ),
    (
        "draw the window's menu bar",
        'void MainWindow::createMenus() {\n  auto *file = menuBar()->addMenu(tr("&File"));\n  file->addAction(openAction);\n}',
        "The menu at the top of the window has entries to open, save and print documents.",
    ),
    (
        "send an e-mail to confirm an order",
        "class OrderMailer < ApplicationMailer\n  def confirmation(order)\n    mail(to: order.customer.email, subject: 'Your order')\n  end\nend",
        "After an order is placed the customer receives an e-mail that confirms it, with a list of what was bought.",
    ),
    (
        "cache results for some minutes",
        "func (c *Cache) Get(key string) (any, bool) {\n\titem, ok := c.items[key]\n\treturn item.value, ok && time.Now().Before(item.expires)\n}",
        "Answers are cached for five minutes. Clear the cache to see changes at once.",
    ),
    (
        "split text into words",
        "fn tokenize(text: &str) -> Vec<String> {\n    text.split_whitespace().map(|w| w.to_lowercase()).collect()\n}",
        "The text is split into words at spaces and punctuation, and capital letters are made small.",
    ),
    (
        "which licence does the project have",
        "parser.add_argument('--license', action='store_true', help='print the licence and exit')",
        "This project is published under the MIT licence. You may use, copy and change it freely.",
    ),
    (
        "install the package",
        "setup(name='app', version='1.0', packages=find_packages(), install_requires=['requests'])",
        "To install the package, run the command below in a terminal. Python 3.10 or newer is needed.",
    ),
    (
        "train a neural network on images",
        "for images, labels in loader:\n    loss = criterion(model(images), labels)\n    loss.backward()\n    optimizer.step()",
        "The model is trained for ten epochs on photographs with labels. Training takes about an hour on one graphics card.",
    ),
    (
        "parse command line arguments",
        'int main(int argc, char **argv) {\n  int option;\n  while ((option = getopt(argc, argv, "vo:")) != -1) handle(option);\n}',
        "Options are given on the command line. With -v more is printed; -o names the file that is written.",
    ),
    (
        "encrypt data before it is stored",
        "public byte[] Encrypt(byte[] data, byte[] key) {\n    using var aes = Aes.Create();\n    return aes.CreateEncryptor(key, iv).TransformFinalBlock(data, 0, data.Length);\n}",
        "All data is encrypted before it is written to the disk. The key never leaves the server.",
    ),
    (
        "run tests in continuous integration",
        "test:\n\tpython -m pytest --cov=src tests/\n\tflake8 src",
        "Tests run automatically for every change that is proposed. A change is merged when all of them pass.",
    ),
    (
        "limit how many requests a client may send",
        "if bucket.tokens < 1:\n    raise TooManyRequests(retry_after=bucket.refill_in())\nbucket.tokens -= 1",
        "Each client may send sixty requests a minute. Those above that are answered with status 429.",
    ),
    (
        "walk a tree of directories",
        "filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {\n\tfiles = append(files, path)\n\treturn err\n})",
        "All folders below the one that is named are searched. Hidden files are left out.",
    ),
    (
        "translate the interface into other languages",
        "export function t(key, locale) {\n  return messages[locale][key] ?? messages.en[key] ?? key;\n}",
        "The interface is available in twelve languages. Translators add a file of phrases for each.",
    ),
    (
        "delete old backups",
        "find \"$BACKUPS\" -name '*.tar.gz' -mtime +30 -delete",
        "Backups are made every night. Those older than thirty days are deleted to save room.",
    ),
    (
        "convert temperatures between units",
        "double toFahrenheit(double celsius) => celsius * 9 / 5 + 32;",
        "Temperatures can be shown in degrees Celsius or Fahrenheit. Change the unit in the settings.",
    ),
    (
        "who decided to move to another message queue and why",
        "class KafkaQueue(Queue):\n    def publish(self, topic, message):\n        self.producer.send(topic, message.encode())",
        "We decided to replace the message queue, because messages were lost when a node went down. The new one keeps copies on three machines.",
    ),
)
# The calibration texts of each side's embedder: questions with their answers.
ANCHORS: Mapping[Side, tuple[tuple[str, str], ...]] = {
    "code": tuple((question, code) for question, code, _ in TOPICS),
    "prose": tuple((question, prose) for question, _, prose in TOPICS),
}


REST_S = 60.0  # pause after a failure, so that not every call waits for a failing embedder
WITH_GAPS = "+gaps"


class SteadyEmbedder:
    """A wrapper that returns zero vectors while an embedder fails."""

    def __init__(self, inner: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._inner, self._clock = inner, clock
        self.remote = inner.remote
        self.problem = ""  # the reason that some texts have no vector, or ""
        self._failed_at: float | None = None
        self._width = 0

    @property
    def name(self) -> str:
        """The inner embedder's name, with a suffix after a failure."""
        return self._inner.name + (WITH_GAPS if self.problem else "")

    @property
    def dim(self) -> int:
        """The width of the vectors; 1 where the embedder failed to answer."""
        if not self._width:
            match self._inner.embed([Passage("width")], "query"):
                case Ok(vectors):
                    self._width = int(vectors.shape[1])
                case Err(error):
                    self._width = 1
                    self._fail(str(error))
        return self._width

    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Result[NDArray[np.float32], EmbedError]:
        """Return float32 (passages, dim), zeros while failing and for REST_S after."""
        nothing = np.zeros((len(passages), self.dim), np.float32)
        if not passages or (self._failed_at is not None and self._clock() - self._failed_at < REST_S):
            return Ok(nothing)
        match self._inner.embed(passages, kind):
            case Ok(vectors) if vectors.shape == nothing.shape:
                self._failed_at = None
                return Ok(vectors)
            case Err(error):
                self._fail(str(error))
            case _:
                self._fail("its vectors have another width than before")
        return Ok(nothing)

    def _fail(self, said: str) -> None:
        self.problem, self._failed_at = " ".join(said.split()), self._clock()


Matrix = NDArray[np.float32]
LEAST_NEAR = 0.05  # limits the scaling of a model that cannot tell answers from other texts


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of one embedder's cosines.

    `far` is the mean question and document, each float32 (dim,), and `near` the closeness of an answer to its question.
    """

    far: Mapping[EmbedKind, Matrix]
    near: float

    def read(self, vectors: Matrix, kind: EmbedKind) -> Matrix:
        """Return centred vectors of unit length; zeros stay zeros."""
        said = vectors.any(axis=1, keepdims=True)
        return _unit((vectors - self.far[kind]) * said)


def scale_of(questions: Matrix, answers: Matrix) -> Scale:
    """Return an embedder's scale from questions and their answers.

    Both are vectors, float32 (n, dim).

    >>> one = np.eye(4, dtype=np.float32)
    >>> round(scale_of(one, one).near, 2)
    1.33
    """
    far: dict[EmbedKind, Matrix] = {"query": questions.mean(axis=0), "document": answers.mean(axis=0)}
    centred = _unit(questions - far["query"]) @ _unit(answers - far["document"]).T
    own = np.eye(len(centred), dtype=bool)
    near = float(centred[own].mean() - centred[~own].mean())
    return Scale(far, max(near, LEAST_NEAR))


class DualEmbedder:
    """An embedder that reads code and marked prose with different embedders.

    The directory `kept` stores scales, so that each model is measured once.
    """

    def __init__(self, code: Embedder, prose: Embedder, kept: Path) -> None:
        self.code, self.prose = code, prose
        self.name = f"dual:{code.name}+{prose.name}"
        self.remote = code.remote or prose.remote
        self._kept = kept
        self._scales: dict[Side, Scale] = {}

    @property
    def dim(self) -> int:
        """The sum of both widths."""
        return self.code.dim + self.prose.dim

    @attempt(EmbedError, EmbedError)
    def embed(self, passages: Sequence[Passage], kind: EmbedKind) -> Matrix:
        """Return float32 (passages, dim): documents by one embedder, questions by both."""
        sides: list[Side] = ["code", "prose"]
        found = np.zeros((len(passages), self.dim), np.float32)
        for side in sides:
            places = [n for n, each in enumerate(passages) if kind == "query" or each.prose == (side == "prose")]
            vectors = self._of(side).embed([passages[n] for n in places], kind).unwrap()
            found[places] += self.joined(vectors, side, kind).unwrap()
        return _unit(found) if kind == "query" else found

    @attempt(EmbedError, EmbedError)
    def joined(self, vectors: Matrix, side: Side, kind: EmbedKind) -> Matrix:
        """Return one embedder's vectors in the joint space, float32 (n, dim)."""
        scale = self.scale(side).unwrap()
        own = scale.read(vectors, kind)
        if kind == "query":  # a document has one side, so both sides' scales can be applied to the question
            own /= np.float32(scale.near)
        wide = np.zeros((len(own), self.dim), np.float32)
        first = 0 if side == "code" else self.code.dim
        wide[:, first : first + own.shape[1]] = own
        return wide

    @attempt(EmbedError, EmbedError)
    def scale(self, side: Side) -> Scale:
        """Return the scale of one side, measured once per model, and stored."""
        if side not in self._scales:
            self._scales[side] = self._known(side)
        return self._scales[side]

    def _of(self, side: Side) -> Embedder:
        return self.code if side == "code" else self.prose

    def _known(self, side: Side) -> Scale:
        embedder = self._of(side)
        digest = blake2b(f"{FORMAT}\0{side}\0{embedder.name}".encode(), digest_size=12).hexdigest()
        path = self._kept / f"scale-{digest}.safetensors"
        try:
            with stored_arrays(path) as (arrays, _):
                far: dict[EmbedKind, Matrix] = {
                    "query": np.array(arrays["query"], np.float32),
                    "document": np.array(arrays["document"], np.float32),
                }
                return Scale(far, float(np.array(arrays["near"], np.float32)[0]))
        except StoreCorruptError:  # missing or damaged
            pass
        questions, answers = zip(*ANCHORS[side], strict=True)
        asked = embedder.embed([Passage(question) for question in questions], "query").unwrap()
        said = embedder.embed([Passage(answer, prose=side == "prose") for answer in answers], "document").unwrap()
        scale = scale_of(asked, said)
        private_folder(self._kept)
        save_arrays(
            path,
            {
                "query": scale.far["query"],
                "document": scale.far["document"],
                "near": np.array([scale.near], np.float32),
            },
            {"embedder": embedder.name},
        )
        return scale


def _unit(vectors: Matrix) -> Matrix:
    norm = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(vectors / np.where(norm > 0, norm, 1), np.float32)
