"""Prints the names of methods of Rust's library.

python names_rust.py $(rustc --print sysroot)/share/doc/rust/html
"""

import re
import sys
from pathlib import Path

LEFT_OUT = re.compile(r"/arch/|simd|std/os/|/intrinsics/|std/ffi/c_")  # of one processor or system, or no methods
pages = (page for page in Path(sys.argv[1], "std").rglob("*.html") if not LEFT_OUT.search(page.as_posix()))
written = re.compile(r'id="(?:ty)?method\.([a-z_][a-z_0-9]{2,}?)(?:-\d+)?"')
print("\n".join(sorted({name for page in pages for name in written.findall(page.read_text(errors="replace"))})))
