package pixels_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// tinyEXR writes an uncompressed OpenEXR picture of one half-float channel whose
// bytes all are fill; a remark becomes an attribute that means nothing.
func tinyEXR(width, height int, fill byte, remarks ...string) []byte {
	var out bytes.Buffer
	le := binary.LittleEndian
	attribute := func(name, kind string, value []byte) {
		out.WriteString(name + "\x00" + kind + "\x00")
		out.Write(le.AppendUint32(nil, uint32(len(value))))
		out.Write(value)
	}
	out.Write([]byte{0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0})
	window := le.AppendUint32(le.AppendUint32(make([]byte, 8), uint32(width-1)), uint32(height-1))
	attribute("channels", "chlist", append([]byte("Y\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00"), 0))
	attribute("compression", "compression", []byte{0})
	attribute("dataWindow", "box2i", window)
	attribute("displayWindow", "box2i", window)
	attribute("lineOrder", "lineOrder", []byte{0})
	for _, remark := range remarks {
		attribute("Date", "string", []byte(remark))
	}
	out.WriteByte(0)
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
