package pixels_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"svc.example/internal/test/pixelstest"
)

// tinyEXR writes an uncompressed OpenEXR picture of one half-float channel whose
// bytes all are fill; a remark becomes an attribute that means nothing.
func tinyEXR(width, height int, fill byte, remarks ...string) []byte {
	var out bytes.Buffer
	le := binary.LittleEndian
	out.Write(pixelstest.EXRHeader(width, height, "Y", pixelstest.Half, 0, remarks...))
	out.Write(make([]byte, 8*height))
	for y := range height {
		out.Write(le.AppendUint32(le.AppendUint32(nil, uint32(y)), uint32(2*width)))
		out.Write(bytes.Repeat([]byte{fill}, 2*width))
	}
	return out.Bytes()
}

// fixCRC makes the checksum of a PNG's header right again.
func fixCRC(file []byte) []byte {
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
	return file
}
