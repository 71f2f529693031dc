package benchmark

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are letters of other alphabets that look like Latin ones, as Unicode's table of
// confusables (UTS 39) has them: those of Cyrillic, Greek and Armenian whose like is a
// letter or a digit in names of GPUs.
const (
	lookalikes = "АВЕЅІЈКМНОРСТУХҮԌԚԜаеіјорсухѕԁһӏԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοιαυνρՕՍօսոԼ"
	latin      = "ABESIJKMHOPCTYXYGQWaeijopcyxsdhlqwABEZHIKMNOPTYXoiauvpOUounL"
)

// marksOfTrade go before compatible forms are made one: "™" would become two letters.
var marksOfTrade = strings.NewReplacer("®", " ", "™", " ", "©", " ", "℠", " ")

// Fold writes a name as one of many that look alike: compatible forms are one (NFKC, and then
// without marks), other alphabets' letters are the Latin ones that they look like, invisible
// characters are removed, every space becomes one space, every hyphen "-", and after a digit O
// becomes 0 and I and l become 1.
func Fold(name string) string {
	from, to := []rune(lookalikes), []rune(latin)
	like := make(map[rune]rune, len(from))
	for i, r := range from {
		like[r] = to[i]
	}
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Cc, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Pd, r):
			return '-'
		}
		if seen, ok := like[r]; ok {
			return seen
		}
		return r
	}, norm.NFKD.String(marksOfTrade.Replace(name)))
	return strings.Join(strings.Fields(digits(text)), " ")
}

// digits replaces letters that look like digits, if they follow one and no other letter
// follows.
func digits(text string) string {
	like := map[rune]rune{'O': '0', 'o': '0', 'I': '1', 'l': '1'}
	runes := []rune(text)
	for i, r := range runes {
		seen, ok := like[r]
		if !ok || i == 0 || !unicode.IsDigit(runes[i-1]) {
			continue
		}
		end := i // of the letters that look alike
		for end < len(runes) && like[runes[end]] != 0 {
			end++
		}
		if end == len(runes) || !unicode.IsLetter(runes[end]) {
			runes[i] = seen
		}
	}
	return string(runes)
}
