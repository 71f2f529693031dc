package blender_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/render/blender"
)

func TestFormatsThatGoCannotDecodeAreHashedByBlender(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"bmp", "targa", "tiff", "open_exr", "hdr", "webp"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p, _ := open(t, "format_"+kind, blender.Options{})
			first, again, other := render(t, p, 3), render(t, p, 3), render(t, p, 9)
			if len(first.PixelSHA256) != 64 || first.PixelSHA256 != again.PixelSHA256 {
				t.Errorf("two renders of a frame: %q and %q", first.PixelSHA256, again.PixelSHA256)
			}
			if first.PixelSHA256 == other.PixelSHA256 {
				t.Error("two frames have the same hash")
			}
			if first.Width != 64 || first.Height != 48 {
				t.Errorf("%dx%d, want 64x48", first.Width, first.Height)
			}
		})
	}
}

// A Targa of this scene is 24 bits, bottom row first and plain or run-length
// coded: little enough to read here by hand, as a second opinion on the driver.
func TestFloatFormIsTheDocumentedOne(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "format_targa", blender.Options{})
	f := render(t, p, 3)
	file, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	rows := targaRows(t, file, f.Width, f.Height)
	sum := sha256.New()
	fmt.Fprintf(sum, "svc-pixels-f32-v1 %d %d %d\n", f.Width, f.Height, 4)
	for _, row := range rows {
		for _, px := range row {
			for _, v := range px {
				sum.Write(binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(v)*float32(1.0/255))))
			}
		}
	}
	if want := hex.EncodeToString(sum.Sum(nil)); f.PixelSHA256 != want {
		t.Errorf("the driver says %s, by the documented form it is %s", f.PixelSHA256, want)
	}
}

// targaRows decodes a true-colour Targa into rows of red, green, blue, alpha,
// the top row first.
func targaRows(t *testing.T, file []byte, width, height int) [][][4]byte {
	t.Helper()
	bytesPerPixel, coded, topFirst := int(file[16])/8, file[2] == 10, file[17]&0x20 != 0
	data := bytes.NewReader(file[18+int(file[0]):])
	one := func() (px [4]byte) {
		raw := make([]byte, bytesPerPixel)
		if _, err := data.Read(raw); err != nil {
			t.Fatal(err)
		}
		px = [4]byte{raw[2], raw[1], raw[0], 255}
		if bytesPerPixel == 4 {
			px[3] = raw[3]
		}
		return px
	}
	var all [][4]byte
	for len(all) < width*height {
		if !coded {
			all = append(all, one())
			continue
		}
		packet, err := data.ReadByte()
		if err != nil {
			t.Fatal(err)
		}
		repeated := packet&0x80 != 0
		px := one()
		for i := range int(packet&0x7f) + 1 {
			if i > 0 && !repeated {
				px = one()
			}
			all = append(all, px)
		}
	}
	rows := make([][][4]byte, height)
	for y := range rows {
		from := y
		if !topFirst {
			from = height - 1 - y
		}
		rows[y] = all[from*width : (from+1)*width]
	}
	return rows
}

func TestMultiLayerPicturesAreHashedAsStored(t *testing.T) {
	t.Parallel()
	p, opened := open(t, "format_open_exr_multilayer", blender.Options{})
	if opened.Format != "OPEN_EXR_MULTILAYER" {
		t.Fatalf("format %s", opened.Format)
	}
	first, file := picture(t, render(t, p, 3).Path), render(t, p, 3)
	again, other := picture(t, file.Path), picture(t, render(t, p, 9).Path)
	if first != again || first.SHA256 == other.SHA256 {
		t.Errorf("frame 3: %+v and %+v; frame 9: %+v", first, again, other)
	}
	if first.Width != 64 || first.Height != 48 || file.PixelSHA256 != "" {
		t.Errorf("%+v, want 64x48 and no hash of the driver's", first)
	}
}

func TestProcessSeesNothingOfOurEnvironment(t *testing.T) {
	t.Setenv("SVC_NODE_KEY", "a secret")
	p := start(t, blender.Options{})
	env, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.PID()), "environ"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(env), "a secret") || !strings.Contains(string(env), "HOME=") {
		t.Errorf("Blender's environment: %q", env)
	}
}

// The parent is this test's binary, run again as a helper that lets a Blender
// render, prints its id and, told to by a line, kills itself without any farewell.
// A Blender that waits would see the end of its pipe; one that renders does not.
func TestBlenderDiesWithItsParent(t *testing.T) {
	t.Parallel()
	if file := os.Getenv("BLENDER_TEST_PARENT"); file != "" {
		parentOf(t, file)
	}
	parent := exec.Command(os.Args[0], "-test.run", "^TestBlenderDiesWithItsParent$")
	parent.Env = append(os.Environ(), "BLENDER_TEST_PARENT="+scene(t, "slow"), "TMPDIR="+t.TempDir())
	said, err1 := parent.StdoutPipe()
	tell, err2 := parent.StdinPipe()
	if err := errors.Join(err1, err2, parent.Start()); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanf(said, "pid=%d\n", &pid); err != nil {
		t.Fatalf("the helper did not say Blender's id: %v", err)
	}
	// A reader of the pipe that Blender prints into sees its end when Blender,
	// the only one that writes, is gone.
	printed, err := os.Open(fmt.Sprintf("/proc/%d/fd/1", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer printed.Close()
	if err := printed.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(tell)
	if _, err := io.Copy(io.Discard, printed); err != nil {
		t.Errorf("Blender lives on without its parent: %v", err)
	}
	_ = parent.Wait() // killed: an error is what should come
}

// parentOf starts a Blender on a long frame and dies when it is told to.
func parentOf(t *testing.T, file string) {
	p, err := blender.Start(t.Context(), blender.Options{Path: find(t), Temp: t.TempDir(), Out: t.TempDir(), Device: blender.CPU})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(t.Context(), blender.SingleFile(file)); err != nil {
		t.Fatal(err)
	}
	err = whileRendering(t.Context(), p, func() {
		fmt.Printf("pid=%d\n", p.PID())
		_, _ = fmt.Scanln()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
	t.Fatalf("the frame ended too early: %v", err)
}
