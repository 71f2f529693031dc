package agent

import "github.com/google/jsonschema-go/jsonschema"

// AnswerSchemas returns all that holds of the answers of each tool, of which the published
// schemas describe a part.
func AnswerSchemas() map[string]*jsonschema.Schema {
	return map[string]*jsonschema.Schema{
		string(inspectTool): answerSchema[inspected](), string(quoteTool): answerSchema[inspected](), string(previewTool): answerSchema[looked](),
		string(startTool): answerSchema[jobStatus](), string(statusTool): answerSchema[jobStatus](),
		string(cancelTool): answerSchema[jobStatus](), string(jobsTool): answerSchema[jobList](), string(walletTool): answerSchema[balance](),
		string(downloadTool): answerSchema[download](), string(receiptTool): answerSchema[receiptAnswer](),
	}
}
