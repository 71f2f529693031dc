package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
)

// upload is a form that is sent byte by byte as the story says.
type upload struct {
	filename string
	content  io.Reader
	declared int64 // content bytes that Content-Length promises; below 0 none is sent
	cutOff   bool  // the sender goes away after the content, before the form ends
	fields   map[string]string
}

// whole is a file, sent as it should be.
func whole(file []byte) upload {
	return upload{content: bytes.NewReader(file), declared: int64(len(file))}
}

func TestARefusedUploadLeavesNothing(t *testing.T) {
	scene := demo.Scene()
	tooLarge := int64(contract.MaxUploadBytes + 1)
	stories := map[string]struct {
		upload func() upload
		status int
		code   string
	}{
		"it breaks off": {func() upload {
			return upload{content: bytes.NewReader(scene[:len(scene)/2]), declared: int64(len(scene)), cutOff: true}
		}, 400, "body_truncated"},
		"it breaks off where the form ends early": {func() upload {
			return upload{content: bytes.NewReader(scene[:len(scene)/2]), declared: int64(len(scene) / 2)}
		}, 400, "file_damaged"},
		"it is declared too large": {func() upload {
			return upload{content: strings.NewReader(""), declared: 2 * tooLarge}
		}, 413, "upload_too_large"},
		"it is too large and does not say": {func() upload {
			return upload{content: blendOf(tooLarge), declared: -1}
		}, 413, "upload_too_large"},
		"it is not a .blend": {func() upload {
			return upload{content: strings.NewReader("%PDF-1.7"), declared: 8}
		}, 400, "unsupported_file"},
		"it is not for Cycles": {func() upload {
			return whole(bytes.ReplaceAll(apptest.PlainScene(t), []byte("CYCLES\x00"), []byte("EEVEE\x00\x00")))
		}, 400, "engine_not_supported"},
		"a newer Blender saved it": {func() upload {
			file := apptest.PlainScene(t)
			copy(file, "BLENDER-v501")
			return whole(file)
		}, 400, "file_too_new"},
		"it is not called a .blend": {func() upload {
			return upload{filename: "scene.pdf", content: bytes.NewReader(scene), declared: int64(len(scene))}
		}, 400, "unsupported_file"},
		"its frames are too many": {func() upload {
			return upload{content: bytes.NewReader(scene), declared: int64(len(scene)), fields: map[string]string{"frame_start": "1", "frame_end": "10001"}}
		}, 400, "frame_range_too_large"},
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.StartLone(t, config) // a balancer may lose an answer that is sent before a body is read
		c := svc.Caller(0)
		for name, scenario := range stories {
			status, code := sendUpload(c, svc.URL, scenario.upload())
			if status != scenario.status || code != scenario.code {
				t.Errorf("%s: answered %d %s, want %d %s", name, status, code, scenario.status, scenario.code)
			}
			wantNoUpload(svc)
		}
	})
}

// TestTheLargestUploadPassesAndOneByteMoreLeavesNothing sends a real scene with
// zeros after its end, up to the limit, and then one byte more.
func TestTheLargestUploadPassesAndOneByteMoreLeavesNothing(t *testing.T) {
	padded := func(size int64) io.Reader {
		scene := demo.Scene()
		return io.MultiReader(bytes.NewReader(scene), io.LimitReader(zeros{}, size-int64(len(scene))))
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(0)
		for name, declared := range map[string]int64{"declared": contract.MaxUploadBytes + 1, "not declared": -1} {
			status, code := sendUpload(c, svc.URL, upload{content: padded(contract.MaxUploadBytes + 1), declared: declared})
			if status != 413 || code != "upload_too_large" {
				t.Errorf("one byte more, %s: %d %s", name, status, code)
			}
			wantNoUpload(svc)
		}
		status, code := sendUpload(c, svc.URL, upload{content: padded(contract.MaxUploadBytes), declared: contract.MaxUploadBytes})
		if status != 200 {
			t.Fatalf("the largest: %d %s", status, code)
		}
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			keys, err := tx.ContentKeys(ctx)
			if err != nil || len(keys) != 1 {
				t.Fatalf("the uploads %v are kept, %v", keys, err)
			}
			kept, err := svc.App.Blobs.Open(ctx, keys[0])
			if err != nil {
				return err
			}
			defer func() { _ = kept.Close() }()
			if n, err := kept.Seek(0, io.SeekEnd); err != nil || n != contract.MaxUploadBytes {
				t.Errorf("%d bytes are kept, %v", n, err)
			}
			return nil
		})
	})
}

// blendOf is a plain .blend of so many bytes: a header, and one block that
// extends to the end.
func blendOf(size int64) io.Reader {
	var head bytes.Buffer
	head.WriteString("BLENDER-v401")
	head.WriteString("DATA")
	_ = binary.Write(&head, binary.LittleEndian, struct {
		Size         int32
		Pointer      uint64
		Index, Count int32
	}{Size: int32(size), Count: 1}) // a buffer takes everything
	return io.MultiReader(&head, io.LimitReader(zeros{}, size-int64(head.Len())))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// sendUpload speaks HTTP by hand, since clients keep what these forms break.
func sendUpload(c story.Caller, url string, u upload) (status int, code string) {
	c.T.Helper()
	if u.filename == "" {
		u.filename = demo.Filename
	}
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for name, value := range u.fields {
		if err := parts.WriteField(name, value); err != nil {
			c.T.Fatal(err)
		}
	}
	if _, err := parts.CreateFormFile("file", u.filename); err != nil {
		c.T.Fatal(err)
	}
	head := form.String()
	form.Reset()
	if err := parts.Close(); err != nil {
		c.T.Fatal(err)
	}
	tail := form.String()

	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	length := fmt.Sprintf("Content-Length: %d", int64(len(head)+len(tail))+u.declared)
	out := bufio.NewWriterSize(conn, 1<<20)
	if u.declared < 0 {
		length = "Transfer-Encoding: chunked"
	}
	fmt.Fprintf(out, "POST /node/v1/uploads/inspect HTTP/1.1\r\nHost: story\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s\r\n\r\n",
		c.Agent.Secret, parts.FormDataContentType(), length)
	var body io.WriteCloser = unchunked{out}
	if u.declared < 0 {
		body = chunked{out}
	}
	if u.cutOff {
		tail = ""
	}
	_, err = io.Copy(body, io.MultiReader(strings.NewReader(head), u.content, strings.NewReader(tail)))
	if err == nil && !u.cutOff {
		err = body.Close()
	}
	if err == nil {
		err = out.Flush()
	}
	if err == nil && u.cutOff {
		err = conn.(*net.TCPConn).CloseWrite()
	}
	if err != nil {
		c.T.Fatalf("send the form: %v", err)
	}
	return readCode(c.T, conn)
}

// unchunked writes a body as it is.
type unchunked struct{ io.Writer }

func (unchunked) Close() error { return nil }

// chunked writes a body of unknown length.
type chunked struct{ io.Writer }

func (c chunked) Write(p []byte) (int, error) {
	if _, err := fmt.Fprintf(c.Writer, "%x\r\n", len(p)); err != nil {
		return 0, err
	}
	n, err := c.Writer.Write(p)
	if err == nil {
		_, err = io.WriteString(c.Writer, "\r\n")
	}
	return n, err
}

func (c chunked) Close() error {
	_, err := io.WriteString(c.Writer, "0\r\n\r\n")
	return err
}

func readCode(t *testing.T, conn net.Conn) (status int, code string) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, answer.Error.Code
}

// wantNoUpload checks that neither a file nor a row is kept.
func wantNoUpload(svc *story.Service) {
	svc.T.Helper()
	for _, key := range svc.Files("") {
		svc.T.Errorf("%s is left", key)
	}
	if unfinished, _ := filepath.Glob(filepath.Join(svc.Config.Data, "incoming", "*")); len(unfinished) > 0 {
		svc.T.Errorf("%v are left", unfinished)
	}
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		keys, err := tx.ContentKeys(ctx)
		if len(keys) > 0 {
			svc.T.Errorf("the uploads %v are left", keys)
		}
		return err
	})
}
