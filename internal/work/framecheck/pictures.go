package framecheck

import (
	"fmt"
	"strings"

	"svc.example/internal/render/pixels"
)

// PicturesMarkdown prints what is looked at in a delivered picture, by format.
func PicturesMarkdown() string {
	var b strings.Builder
	b.WriteString("# What is checked in a picture\n\nPrinted from `internal/render/pixels` by `make generate`; do not edit.\n\n" +
		"If you choose a file format, this page says what the service checks in it. It reads every picture that a worker delivers. It checks the lease, then the size that the scene requires, then that the bytes have the scene's format, whatever the file is called. Only then does it decode the picture. A format that is not in this table is refused.\n\n" +
		"The list of frames and the receipt say what was checked, as `checked`: `pixels` where the pixels were decoded, `structure` where the service only walked through the file. In every format, a truncated file is refused, and so are extra bytes after the picture.\n\n" +
		"| format | Blender's name | extension | what is looked at |\n|---|---|---|---|\n")
	for _, f := range pixels.Formats() {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | %s |\n", f.Name, strings.Join(f.Blender, "`, `"), strings.Join(f.Extensions, "`, `"), f.Looked)
	}
	b.WriteString("\n- The hash of the pixels (`pixel_sha256`) is compared for PNG, JPEG, IRIS and OpenEXR. In the other formats, and in OpenEXR of one layer in DWAA or DWAB, it is the worker's word.\n" +
		"- In formats that are not decoded, the worker's Blender reports black, magenta, blank and infinite values. Such a report is a [finding](findings.md). It never causes a second rendering.\n" +
		"- Decoding takes at most 64 MiB, or 20 times the file's size if that is more. It takes at most 10 seconds, plus one second for each 8 MiB of the file. It stops when the worker disconnects. A picture that needs more memory is refused, except a JPEG or WebP: then the structure is checked.\n" +
		"- Any bytes of the right number are pixels in B44, so only the hash protects such a picture.\n")
	return b.String()
}
