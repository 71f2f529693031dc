package web

import (
	"fmt"
	"net/http"

	"svc.example/internal/ground/contract"
)

// startView is the first page: what is offered, and the ways to it.
type startView struct {
	Price, Currency, Blender string
	Frames, MiB              int64
}

func (p *pages) start(*http.Request) (view, error) {
	return view{Template: "start", Title: "Blender Cycles renders at a locked price", Start: true, Content: startView{
		Price: fmt.Sprintf("%d.%02d", contract.CentsPerFrame/100, contract.CentsPerFrame%100), Currency: contract.Currency, Blender: contract.BlenderVersion,
		Frames: contract.MaxFrames, MiB: contract.MaxUploadBytes >> 20,
	}}, nil
}
