package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// bill is a bill of materials in CycloneDX 1.6, with the members that we know.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// billOfMaterials reads out of a binary what it is made of: the linker wrote there every
// module of which it holds code, so nothing can be forgotten.
func billOfMaterials(binary string, when time.Time) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(program)
	text, err := json.MarshalIndent(listMaterials(info, hex.EncodeToString(digest[:]), when), "", "  ")
	return append(text, '\n'), err
}

// listMaterials adds Go's own library to the modules: its mistakes are in the binary too.
func listMaterials(info *debug.BuildInfo, sha256 string, when time.Time) bill {
	program := library(info.Main.Path, info.Main.Version)
	program.Type, program.Name = "application", "svc"
	program.Hashes = []hash{{"SHA-256", sha256}}
	made := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{when.Format(time.RFC3339), program}}
	made.Components = []component{library("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		m = cmp.Or(m.Replace, m)
		made.Components = append(made.Components, library(m.Path, m.Version))
	}
	return made
}

func library(path, version string) component {
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: "library", Ref: url, Name: path, Version: version, PURL: url}
}
