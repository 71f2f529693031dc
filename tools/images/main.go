// Images writes one container image as an OCI archive. It needs no container engine and
// no network. The same input gives the same bytes.
//
//	images -out svc.tar -name svc:1.2.0 -created 1795000000 -layer root.tar \
//	  -file svc=/usr/local/bin/svc -folder 65532:755:/data -user 65532:65532 \
//	  -env SVC_DATA=/data -entrypoint /usr/local/bin/svc -- serve --listen :8080
//
// It prints the digest of the image. Start reading at run.
package main

import (
	"archive/tar"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// words is a flag that may be given more than once.
type words []string

func (w *words) String() string { return strings.Join(*w, " ") }

func (w *words) Set(word string) error {
	*w = append(*w, word)
	return nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// description is what the flags say of an image.
type description struct {
	out, name, user, entrypoint, source, revision string
	created                                       int64
	layers, files, folders, env                   words
	command                                       []string
}

func run(args []string) error {
	var d description
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.StringVar(&d.out, "out", "", "the archive to write")
	flags.StringVar(&d.name, "name", "", "the image's name and tag")
	flags.Int64Var(&d.created, "created", 0, "the age of the image and its files, in seconds since 1970")
	flags.StringVar(&d.revision, "revision", "", "the commit that it is made of")
	flags.StringVar(&d.user, "user", "", "who runs in it: UID:GID")
	flags.StringVar(&d.entrypoint, "entrypoint", "", "the program that runs in it")
	flags.Var(&d.layers, "layer", "a tar file that lies below the files; may be given again")
	flags.Var(&d.files, "file", "SOURCE=/TARGET: a file, or a folder with all in it; may be given again")
	flags.Var(&d.folders, "folder", "UID:MODE:/PATH: an empty folder; may be given again")
	flags.Var(&d.env, "env", "NAME=VALUE; may be given again")
	if err := flags.Parse(args); err != nil {
		return err
	}
	d.command = flags.Args()
	if d.out == "" || d.name == "" {
		return errors.New("-out and -name are needed")
	}
	folder, err := os.MkdirTemp(filepath.Dir(d.out), ".images-")
	if err != nil {
		return err
	}
	err = d.make(folder)
	return errors.Join(err, os.RemoveAll(folder))
}

// make makes the image in a folder of its own, and prints its digest once it is whole.
func (d *description) make(folder string) error {
	image, err := d.image(folder)
	if err != nil {
		return err
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	if err := d.write(folder, image); err != nil {
		return err
	}
	fmt.Println(digest)
	return nil
}

// image puts the layers together: those of other programs below, ours above. Ours lies in
// the folder, for Blender is too large for memory.
func (d *description) image(folder string) (v1.Image, error) {
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	own := filepath.Join(folder, "files.tar")
	if err := d.writeFiles(own); err != nil {
		return nil, err
	}
	for _, name := range append(d.layers, own) {
		layer, err := tarball.LayerFromFile(name, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, err
		}
	}
	created := v1.Time{Time: time.Unix(d.created, 0).UTC()}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.Created, file.OS, file.Architecture = created, "linux", "amd64"
	for i := range file.History {
		file.History[i] = v1.History{Created: created}
	}
	title, version, _ := strings.Cut(d.name, ":")
	file.Config = v1.Config{
		User: d.user, Env: d.env, Entrypoint: []string{d.entrypoint}, Cmd: d.command, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title": title, "org.opencontainers.image.version": version, "org.opencontainers.image.revision": d.revision,
		},
	}
	return mutate.ConfigFile(image, file)
}

// writeFiles writes a tar of the files and folders that the flags name, in their order.
func (d *description) writeFiles(name string) (err error) {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(out)
	defer func() { err = errors.Join(err, archive.Close(), out.Close()) }()
	when := time.Unix(d.created, 0)
	for _, folder := range d.folders {
		parts := strings.SplitN(folder, ":", 3)
		if len(parts) != 3 {
			return fmt.Errorf("-folder %s is no UID:MODE:/PATH", folder)
		}
		uid, err := strconv.Atoi(parts[0])
		if err != nil {
			return fmt.Errorf("-folder %s: %w", folder, err)
		}
		mode, err := strconv.ParseInt(parts[1], 8, 64)
		if err != nil {
			return fmt.Errorf("-folder %s: %w", folder, err)
		}
		header := &tar.Header{Typeflag: tar.TypeDir, Name: inArchive(parts[2]) + "/", Mode: mode, Uid: uid, Gid: uid, ModTime: when}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
	}
	for _, file := range d.files {
		source, target, ok := strings.Cut(file, "=")
		if !ok {
			return fmt.Errorf("-file %s is no SOURCE=/TARGET", file)
		}
		if err := add(archive, source, inArchive(target), when); err != nil {
			return err
		}
	}
	return nil
}

// inArchive is a path as archives have it: without the slash at its front.
func inArchive(target string) string { return strings.TrimPrefix(path.Clean(target), "/") }

// add writes a file, or a folder and all in it in the order of names. Everything belongs
// to root. The modes are 755 and 644, so that this machine's umask changes nothing.
func add(archive *tar.Writer, source, target string, when time.Time) error {
	return filepath.WalkDir(source, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, name)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(target, filepath.ToSlash(relative)), Mode: 0o644, ModTime: when}
		switch {
		case header.Name == ".":
			return nil // the archive's own root
		case info.IsDir():
			header.Typeflag, header.Mode = tar.TypeDir, 0o755
			header.Name += "/"
			return archive.WriteHeader(header)
		case info.Mode()&fs.ModeSymlink != 0:
			header.Typeflag, header.Mode = tar.TypeSymlink, 0o777
			if header.Linkname, err = os.Readlink(name); err != nil {
				return err
			}
			return archive.WriteHeader(header)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is neither a file, a folder nor a link", name)
		}
		if info.Mode()&0o111 != 0 {
			header.Mode = 0o755
		}
		header.Size = info.Size()
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(archive, file)
		return errors.Join(err, file.Close())
	})
}

// write writes the image's OCI layout as one archive, which is there whole or not at all.
func (d *description) write(folder string, image v1.Image) error {
	root, err := layout.Write(filepath.Join(folder, "layout"), empty.Index)
	if err != nil {
		return err
	}
	if err := root.AppendImage(image, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": d.name})); err != nil {
		return err
	}
	part := filepath.Join(folder, "archive")
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(file)
	err = add(archive, string(root), "", time.Unix(d.created, 0))
	if err := errors.Join(err, archive.Close(), file.Close()); err != nil {
		return err
	}
	return os.Rename(part, d.out)
}
