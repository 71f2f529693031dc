module svc.example/tools/outside

go 1.26.0

require github.com/transparency-dev/merkle v0.0.2
