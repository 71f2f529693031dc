package receipt

import "strings"

// looseOutputs is a look at loose files that are outputs of a receipt.
type looseOutputs struct {
	sums  map[string]string   // by name
	names map[string][]string // by SHA-256
	here  map[string]bool     // by name
}

func outputsOf(r Receipt) looseOutputs {
	l := looseOutputs{map[string]string{}, map[string][]string{}, map[string]bool{}}
	for _, f := range r.Frames {
		for _, o := range f.Outputs {
			l.sums[o.Name] = o.SHA256
			l.names[o.SHA256] = append(l.names[o.SHA256], o.Name)
		}
	}
	return l
}

// look reports whether a file is to be an output of the receipt: by its path, or by its bytes unless
// they are those of a frame. why says what is wrong with it.
func (l *looseOutputs) look(path, sum string, isFrame bool) (is bool, why string) {
	if name, claims := l.claimed(path); claims {
		if l.sums[name] != sum {
			return true, "it is not the output of the receipt"
		}
		l.here[name] = true
		return true, ""
	}
	if isFrame {
		return false, ""
	}
	for _, name := range l.names[sum] {
		l.here[name] = true
	}
	return len(l.names[sum]) > 0, ""
}

// claimed is the output whose place in the ZIP a path has, in any folder.
func (l *looseOutputs) claimed(path string) (name string, claims bool) {
	folder := OutputEntry("")
	for at := 0; at < len(path); {
		i := strings.Index(path[at:], folder)
		if i < 0 {
			return "", false
		}
		begin := at + i
		at = begin + len(folder)
		if _, known := l.sums[path[at:]]; known && (begin == 0 || path[begin-1] == '/') {
			return path[at:], true
		}
	}
	return "", false
}
