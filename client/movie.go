package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/ground/atomicfile"
)

// MovieFile is the movie in a folder of frames.
const MovieFile = "movie.mp4"

// ErrMovieNotReady means that no worker has encoded a movie in time. [Client.Movie] still waits
// for it.
var ErrMovieNotReady = errors.New("the movie is not encoded yet")

// movieWait bounds the wait for a movie: half a second for each frame, a minute at least, and ten
// at most. Workers encode only while no frame waits for them.
func movieWait(frames int) time.Duration {
	return min(time.Minute+time.Duration(frames)*time.Second/2, 10*time.Minute)
}

// SaveMovie puts the movie of a completed job into a folder as movie.mp4, whole or not at all, if
// the scene's output is a movie, and returns its path. Otherwise path is "". It waits for a worker
// to encode the movie, but no longer than ten minutes. The frames are complete without it, and
// nothing proves it. Errors: ErrMovieNotReady, *Error with movie_unavailable, and those of the
// file system.
func (c *Client) SaveMovie(ctx context.Context, job *Job, folder string) (path string, err error) {
	if job.MovieURL == "" {
		return "", nil
	}
	waiting, stop := context.WithTimeout(ctx, movieWait(job.FrameCount))
	defer stop()
	movie, err := c.Movie(waiting, job.JobID)
	if err != nil {
		if ctx.Err() == nil && waiting.Err() != nil {
			err = ErrMovieNotReady
		}
		return "", err
	}
	defer movie.Close()
	path = filepath.Join(folder, MovieFile)
	if err := writeWhole(path, movie); err != nil {
		return "", fmt.Errorf("save %s: %w", MovieFile, err)
	}
	return path, nil
}

// writeWhole writes a file that appears whole or not at all.
func writeWhole(path string, from io.Reader) error {
	part := path + ".part"
	to, err := os.Create(part)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err == nil {
		return atomicfile.Publish(part, path)
	}
	return errors.Join(err, os.Remove(part))
}
