// Package pixelstest writes pictures for tests in forms that Go's library does not.
// Start reading at EXRHeader.
package pixelstest

import (
	"bytes"
	"encoding/binary"
)

// Half and Float are the types of an OpenEXR channel's values.
const (
	Half  = 1
	Float = 2
)

// EXRHeader returns an OpenEXR file of one channel up to its table of offsets:
// magic number, version and attributes. values is Half or Float. Each remark
// becomes an attribute that says nothing about the pixels, as a render's date does.
func EXRHeader(width, height int, channel string, values, compression byte, remarks ...string) []byte {
	return EXRHeaderOf(width, height, []string{channel}, values, compression, remarks...)
}

// EXRHeaderOf is EXRHeader of several channels, which must be sorted by name.
func EXRHeaderOf(width, height int, channels []string, values, compression byte, remarks ...string) []byte {
	var out bytes.Buffer
	le := binary.LittleEndian
	attribute := func(name, kind string, value []byte) {
		out.WriteString(name + "\x00" + kind + "\x00")
		out.Write(le.AppendUint32(nil, uint32(len(value))))
		out.Write(value)
	}
	out.Write([]byte{0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0})
	window := le.AppendUint32(le.AppendUint32(make([]byte, 8), uint32(width-1)), uint32(height-1))
	var list []byte
	for _, channel := range channels {
		list = append(append(list, channel+"\x00"...), values, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
	}
	attribute("channels", "chlist", append(list, 0))
	attribute("compression", "compression", []byte{compression})
	attribute("dataWindow", "box2i", window)
	attribute("displayWindow", "box2i", window)
	attribute("lineOrder", "lineOrder", []byte{0})
	for _, remark := range remarks {
		attribute("Date", "string", []byte(remark))
	}
	out.WriteByte(0)
	return out.Bytes()
}
