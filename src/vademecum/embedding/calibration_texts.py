"""Calibration texts: questions, each with code and prose that answer it.

`dual_embedder` scales embedders' cosines by these texts. They are about everyday topics that any model knows, in the
languages and the tone of repositories. No search returns them and nothing is tuned on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

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
