package receiptlog

import (
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Words for the level of the entries in a tile's path: that of C2SP, and that of
// x/mod.
const (
	entriesLevel = "entries"
	dataLevel    = "data"
)

// ParseTile reads a tile's coordinates as C2SP tlog-tiles writes them behind
// "tile/": <L>/<N>[.p/<W>], where L is "entries" for the entries.
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

// TilePath is the reverse of ParseTile.
func TilePath(t tlog.Tile) string {
	path := strings.TrimPrefix(t.Path(), "tile/"+strconv.Itoa(tileHeight)+"/")
	if rest, ok := strings.CutPrefix(path, dataLevel+"/"); ok {
		return entriesLevel + "/" + rest
	}
	return path
}
