"""Builds the wheel with the standard library alone, so that no network is needed: by hand,
``python build.py FOLDER``, or by pip, whose build backend this is (PEP 517). The same source
gives the same bytes."""

import base64
import hashlib
import os
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "svc_render"


def _read(path):
    with open(os.path.join(HERE, path), "rb") as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel (PEP 427) and returns its name."""
    version = re.search(r'^VERSION = "([^"]+)"$', _read(PACKAGE + "/transport.py").decode(), re.M).group(1)
    info = "%s-%s.dist-info" % (PACKAGE, version)
    metadata = ("Metadata-Version: 2.1\nName: svc-render\nVersion: %s\n"
                "Summary: The Python SDK of svc, a render service for Blender files\n"
                "Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n" % version)
    files = {"%s/%s" % (PACKAGE, name): _read("%s/%s" % (PACKAGE, name))
             for name in os.listdir(os.path.join(HERE, PACKAGE)) if name.endswith((".py", "py.typed"))}
    files[info + "/METADATA"] = metadata.encode() + _read("README.md")
    files[info + "/LICENSE"] = _read("LICENSE")
    files[info + "/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: svc\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join("%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("="),
                                            len(content)) for name, content in sorted(files.items()))
    files[info + "/RECORD"] = (record + info + "/RECORD,,\n").encode()
    name = "%s-%s-py3-none-any.whl" % (PACKAGE, version)
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_STORED) as wheel:
        for path in sorted(files, key=lambda path: (path.startswith(info), path)):
            entry = zipfile.ZipInfo(path)  # 1980, whatever the clock says
            entry.external_attr, entry.create_system = 0o644 << 16, 3
            wheel.writestr(entry, files[path])
    return name


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
