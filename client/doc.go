// Package client is the Go SDK of svc: it prices a Blender file, renders it
// at that price, follows the render, downloads the ZIP and verifies the receipt.
//
// What always holds:
//   - Only [Client.Start] spends, and starting one quote again gives the same
//     job, so every call may be repeated after any failure.
//   - Calls repeat themselves on lost connections, 429 and 5xx answers, and while
//     the server still works on an earlier try, waiting as long as the server
//     asks. What they return has failed for good.
//   - The key goes to the configured server only, never to a download link.
//   - A downloaded file carries its final name only after its SHA-256 matched.
//
// A whole render, for 5 USD at most:
//
//	c, err := client.New("https://render.example.com", os.Getenv("SVC_KEY"))
//	r, err := c.Render(ctx, client.RenderRequest{
//		Scene: "scene.blend", Folder: "frames", MaxCents: new(int64(500)), LegalAcceptance: client.LegalV1,
//	})
//	for frame, err := range r.Frames(ctx) { … } // each as soon as it is accepted
//
// Step by step:
//
//	c, err := client.New("https://render.example.com", os.Getenv("SVC_KEY"))
//	quote, err := c.Inspect(ctx, client.InspectRequest{Filename: "scene.blend", Body: file})
//	job, err := c.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
//	job, err = c.Wait(ctx, job.JobID, func(e client.Event) { … })
//	_, err = c.Download(ctx, job.JobID, "scene.zip", nil)
//
// Start reading at [New], then [Client.Inspect] and [Client.Render].
package client
