package blob

import (
	"fmt"
	"strings"
)

// Attachment returns a Content-Disposition that has browsers save a file under its name:
// in ASCII for old ones, and whole for all others (RFC 6266, RFC 8187).
func Attachment(name string) string {
	var ascii, whole strings.Builder
	for _, r := range name {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%`, r) {
			r = '_'
		}
		ascii.WriteRune(r)
	}
	for i := range len(name) {
		if c := name[i]; c < 0x80 && (strings.IndexByte("!#$&+-.^_`|~", c) >= 0 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			whole.WriteByte(c)
		} else {
			fmt.Fprintf(&whole, "%%%02X", c)
		}
	}
	return fmt.Sprintf(`attachment; filename="%s"; filename*=UTF-8''%s`, ascii.String(), whole.String())
}
