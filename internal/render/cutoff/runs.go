package cutoff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ends reports that an error is the end of the file, and not that it could not be read.
func ends(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// pass passes over bytes of a file.
func pass(in *bufio.Reader, bytes int64) error {
	_, err := io.CopyN(io.Discard, in, bytes)
	return err
}

// cutTarga counts the pixels after the header, a text and a palette, or follows the runs of
// packed ones: a byte with their number, and one pixel or all.
func cutTarga(f file) bool {
	const header, most = 18, 1 << 28
	if f.lacks(header) || f.at(1) > 1 {
		return f.lacks(header)
	}
	pixel, pixels := (int64(f.at(16))+7)/8, int64(f.little16(12))*int64(f.little16(14))
	from := header + int64(f.at(0)) + int64(f.at(1))*int64(f.little16(5))*((int64(f.at(7))+7)/8)
	if pixel < 1 || pixel > 4 || pixels > most {
		return false
	}
	switch f.at(2) {
	case 1, 2, 3:
		return f.lacks(from + pixels*pixel)
	case 9, 10, 11:
	default:
		return false
	}
	in := f.whole()
	if in == nil {
		return false
	}
	for err := pass(in, from); ; {
		var run byte
		if err == nil {
			run, err = in.ReadByte()
		}
		if err != nil {
			return ends(err)
		}
		n := int64(run&0x7f) + 1
		if pixels -= n; run < 0x80 {
			err = pass(in, n*pixel)
		} else {
			err = pass(in, pixel)
		}
		if pixels <= 0 {
			return err != nil && ends(err)
		}
	}
}

// cutRadiance follows the rows after lines of text, an empty one and one with the size.
func cutRadiance(f file) bool {
	in := f.whole()
	if in == nil {
		return false
	}
	line := ""
	for n := 0; ; n++ {
		text, err := in.ReadSlice('\n')
		switch {
		case err != nil:
			return ends(err)
		case n > 1000:
			return false
		}
		empty := line == ""
		if line = strings.TrimRight(string(text), "\r\n"); empty && n > 0 {
			break
		}
	}
	var down, across string
	var rows, width int
	if n, err := fmt.Sscanf(line, "%s %d %s %d", &down, &rows, &across, &width); n < 4 || err != nil || rows > 1<<20 || width > 1<<20 {
		return false
	}
	for range rows {
		if err := radianceRow(in, width); err != nil {
			return ends(err)
		}
	}
	return false
}

// radianceRow passes over a row: either the four channels of it, each in runs, or pixels, where
// 1, 1, 1, n repeats the last one.
func radianceRow(in *bufio.Reader, width int) error {
	head, err := in.Peek(4)
	if err != nil {
		return err
	}
	if width < 8 || width > 0x7fff || head[0] != 2 || head[1] != 2 || head[2] > 0x7f {
		return oldRadianceRow(in, width)
	}
	if err := pass(in, 4); err != nil {
		return err
	}
	for range 4 {
		for left := width; left > 0; {
			run, err := in.ReadByte()
			if err != nil {
				return err
			}
			n := int(run)
			switch {
			case n == 0:
				return errDamaged
			case n > 0x80:
				n -= 0x80
				err = pass(in, 1)
			default:
				err = pass(in, int64(n))
			}
			if left -= n; err != nil {
				return err
			}
		}
	}
	return nil
}

var errDamaged = errors.New("it is damaged")

func oldRadianceRow(in *bufio.Reader, width int) error {
	for shift := 0; width > 0; {
		var p [4]byte
		if _, err := io.ReadFull(in, p[:]); err != nil {
			return err
		}
		if n := int(p[3]) << shift; p[0] == 1 && p[1] == 1 && p[2] == 1 && shift <= 16 {
			width, shift = width-n, shift+8
		} else {
			width, shift = width-1, 0
		}
	}
	return nil
}

// cutIES counts the numbers after the line that says how a lamp tilts: ten, three, the angles, and
// the light at each pair of them.
func cutIES(f file) bool {
	const header, tilt, most = 13, "TILT=", 1 << 20
	if f.size > most {
		return false
	}
	in := f.whole()
	if in == nil {
		return false
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return false
	}
	_, rest, tilted := bytes.Cut(content, []byte(tilt))
	mode, numbers, ended := bytes.Cut(rest, []byte("\n"))
	if !tilted || !ended {
		return bytes.HasPrefix(content, []byte("IES")) // its first line names the standard
	}
	if string(bytes.TrimSpace(mode)) == "INCLUDE" { // its own numbers come first
		return false
	}
	fields := bytes.FieldsFunc(numbers, func(r rune) bool { return strings.ContainsRune(" \t\r\n,", r) })
	if len(fields) < header {
		return true
	}
	vertical, horizontal := 0, 0
	if n, err := fmt.Sscan(string(fields[3])+" "+string(fields[4]), &vertical, &horizontal); n < 2 || err != nil || min(vertical, horizontal) < 0 || max(vertical, horizontal) > most {
		return false
	}
	return len(fields) < header+vertical+horizontal+vertical*horizontal
}

// cutUSDA reads a stage as text: what is opened in it is closed in it. Texts are between quotes,
// or three of them, files between @, and remarks follow #.
func cutUSDA(f file) bool {
	in := f.whole()
	if in == nil {
		return false
	}
	for open := 0; ; {
		c, err := in.ReadByte()
		if err != nil {
			return ends(err) && open > 0
		}
		switch c {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open--
		case '#':
			for err == nil && c != '\n' {
				c, err = in.ReadByte()
			}
		case '"', '\'', '@':
			if err := passText(in, c); err != nil {
				return ends(err)
			}
		}
	}
}

// passText passes over a text whose first quote was read. A backslash makes a mere letter of what
// follows it.
func passText(in *bufio.Reader, quote byte) error {
	two := []byte{quote, quote}
	three := false
	if next, err := in.Peek(2); err == nil && bytes.Equal(next, two) {
		three = true
		_, _ = in.Discard(2) // they are there
	}
	for {
		c, err := in.ReadByte()
		switch {
		case err != nil:
			return err
		case c == '\\' && quote != '@':
			_, err = in.ReadByte()
		case c == quote && !three:
			return nil
		case c == quote:
			if next, _ := in.Peek(2); bytes.Equal(next, two) {
				return pass(in, 2)
			}
		}
		if err != nil {
			return err
		}
	}
}
