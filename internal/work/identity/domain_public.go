package identity

import (
	"slices"
	"strings"
)

// publicMail reports whether anyone can get an address at a domain. The list has the largest
// services; an operator bars others.
func publicMail(domain string) bool {
	if slices.Contains(publicDomains, domain) {
		return true
	}
	// These have a domain in many countries, such as yahoo.co.uk.
	name, country, _ := strings.Cut(domain, ".")
	return slices.Contains(publicNames, name) && len(country) <= len("com.br")
}

var publicNames = []string{"aol", "gmail", "gmx", "googlemail", "hotmail", "live", "outlook", "protonmail", "yahoo", "yandex"}

var publicDomains = []string{
	"126.com", "163.com", "139.com", "188.com", "aliyun.com", "foxmail.com", "qq.com", "sina.com", "sina.cn", "sohu.com", "yeah.net",
	"daum.net", "hanmail.net", "naver.com", "nate.com", "docomo.ne.jp", "ezweb.ne.jp", "rediffmail.com",
	"att.net", "bellsouth.net", "charter.net", "comcast.net", "cox.net", "earthlink.net", "sbcglobal.net", "verizon.net", "rogers.com", "shaw.ca", "sympatico.ca",
	"bigpond.com", "optusnet.com.au", "xtra.co.nz", "bol.com.br", "terra.com.br", "uol.com.br", "ig.com.br",
	"bluewin.ch", "hispeed.ch", "btinternet.com", "blueyonder.co.uk", "ntlworld.com", "sky.com", "talktalk.net", "virginmedia.com",
	"arcor.de", "freenet.de", "mail.de", "online.de", "posteo.de", "posteo.net", "t-online.de", "web.de", "mailbox.org", "aon.at", "chello.at",
	"free.fr", "laposte.net", "neuf.fr", "numericable.fr", "orange.fr", "sfr.fr", "wanadoo.fr", "skynet.be", "telenet.be",
	"alice.it", "libero.it", "tim.it", "tin.it", "tiscali.it", "virgilio.it", "telefonica.net", "terra.es", "sapo.pt",
	"home.nl", "kpnmail.nl", "planet.nl", "ziggo.nl", "telia.com", "online.no", "centrum.cz", "email.cz", "seznam.cz", "azet.sk", "freemail.hu", "citromail.hu",
	"interia.pl", "o2.pl", "onet.pl", "op.pl", "wp.pl", "abv.bg", "ukr.net", "bk.ru", "inbox.ru", "internet.ru", "list.ru", "mail.ru", "rambler.ru", "ya.ru",
	"duck.com", "fastmail.com", "fastmail.fm", "hey.com", "hushmail.com", "icloud.com", "inbox.com", "mac.com", "mail.com", "mailinator.com", "me.com", "msn.com", "passport.com",
	"pm.me", "privaterelay.appleid.com", "proton.me", "riseup.net", "rocketmail.com", "tuta.com", "tuta.io", "tutamail.com", "tutanota.com", "tutanota.de",
	"users.noreply.github.com", "ymail.com", "zoho.com", "zohomail.com", "zohomail.eu",
}
