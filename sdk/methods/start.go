package main

import (
	"fmt"
	"strings"
)

// kind chooses between what a text and what a list of texts needs.
func (s setting) kind(text, list string) string {
	if s.list {
		return list
	}
	return text
}

// goSettings is the type of what a start says.
func goSettings() string {
	var b strings.Builder
	b.WriteString("// StartRequest is what a start sends with the quote. The price is the quote's and\n// is never sent; only the most that it may be.\ntype StartRequest struct {\n" +
		"LegalAcceptance string `json:\"legal_acceptance\"` // [LegalV1], required\n" +
		"// MaxPriceCents refuses the start of a dearer quote with price_above_max; nil for the\n// quote's own price.\nMaxPriceCents *int64 `json:\"max_price_cents,omitempty\"`\n")
	for _, s := range settings() {
		name := strings.ReplaceAll(camel("_"+s.name), "Url", "URL")
		fmt.Fprintf(&b, "// %s\n%s %s `json:\"%s,omitempty\"`\n", strings.Join(wrapped(s.docGo, 85), "\n// "), name, s.kind("string", "[]string"), s.name)
	}
	return b.String() + "}\n\n"
}

const startDoc = "Spends: accepts the quote, reserves its price and queues the job. Starting a quote again returns the same job and reserves nothing more. %s is LEGAL_V1. " +
	"The service refuses a quote above %s. A webhook secret that the service made comes in this answer only; all tries carry one idempotency key, so that it is not lost with a lost answer."

func pythonStart() string {
	var params, members strings.Builder
	for _, s := range settings() {
		fmt.Fprintf(&params, " %s: %s,", s.name, s.kind(`str = ""`, "Sequence[str] = ()"))
		fmt.Fprintf(&members, "        if %s:\n            request[%q] = %s\n", s.name, s.name, s.kind(s.name, "list("+s.name+")"))
	}
	return fmt.Sprintf(`    def start(self, quote: Quote, *, legal_acceptance: str, max_cents: Optional[int] = None,%s
              idempotency_key: str = "") -> Job:
        """%s"""
        request: Dict[str, Any] = {"quote_id": quote["quote_id"], "legal_acceptance": legal_acceptance}
        if max_cents is not None:
            request["max_price_cents"] = max_cents
%s        path = "/node/v1/uploads/%%s/start" %% quoted(quote["upload_id"], safe="")
        return cast(Job, self._transport.json("POST", path, request,
                                              idempotency_key=idempotency_key or secrets.token_hex(16)))
`, params.String(), strings.Join(wrapped(fmt.Sprintf(startDoc, "``legal_acceptance``", "``max_cents``"), 84), "\n        "), members.String())
}

func typescriptStart() string {
	var names, kinds, members strings.Builder
	for _, s := range settings() {
		name := camel(s.name)
		fmt.Fprintf(&names, " %s,", name)
		fmt.Fprintf(&kinds, " %s?: %s;", name, s.kind("string", "string[]"))
		member := s.name + ": " + name
		if member == name+": "+name {
			member = name
		}
		fmt.Fprintf(&members, " ...(%s ? { %s } : {}),", s.kind(name, name+"?.length"), member)
	}
	return fmt.Sprintf(`  /** %s */
  async start(quote: Pick<Quote, "quote_id" | "upload_id">, { legalAcceptance, maxCents,%s idempotencyKey, signal }:
    Call & { legalAcceptance: string; maxCents?: number;%s idempotencyKey?: string }): Promise<Job> {
    const value = {
      quote_id: quote.quote_id, legal_acceptance: legalAcceptance, ...(maxCents === undefined ? {} : { max_price_cents: maxCents }),
     %s
    };
    return this.transport.json("POST", `+"`/node/v1/uploads/${encodeURIComponent(quote.upload_id)}/start`"+`,
      { value, idempotencyKey: idempotencyKey || newKey(), signal });
  }
`, fmt.Sprintf(startDoc, "`legalAcceptance`", "`maxCents`"), names.String(), kinds.String(), members.String())
}
