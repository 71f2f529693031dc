package receiptlog

import (
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Names of the entries' level in a tile's path: C2SP's, and that of x/mod.
const (
	entriesLevel = "entries"
	dataLevel    = "data"
)

// ParseTile reads a tile's coordinates as C2SP tlog-tiles writes them after "tile/":
// <L>/<N>[.p/<W>], where L is "entries" for the entries.
func ParseTile(path string) (tlog.Tile, error) {
	level, rest, _ := strings.Cut(path, "/")
	switch level {
	case entriesLevel:
		path = dataLevel + "/" + rest
	case dataLevel:
		path = ""
	}
	return tlog.ParseTilePath("tile/" + strconv.Itoa(tileHeight) + "/" + path)
}

// TilePath is the inverse of ParseTile: the path of a tile below "tile/", as a client
// requests it.
func TilePath(t tlog.Tile) string {
	path := strings.TrimPrefix(t.Path(), "tile/"+strconv.Itoa(tileHeight)+"/")
	if rest, ok := strings.CutPrefix(path, dataLevel+"/"); ok {
		return entriesLevel + "/" + rest
	}
	return path
}
