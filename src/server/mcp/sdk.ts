/** What is used of the official SDK. The build puts it into a file of its own, which is loaded by the first call. */
export { Server } from '@modelcontextprotocol/sdk/server/index.js'
export { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
export { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
export {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
