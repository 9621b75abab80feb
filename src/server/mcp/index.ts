/** Offers tools, resources and prompts to MCP clients. */
export { addMcp, type Endpoint } from './http.ts'
export {
  type Call,
  type Listed,
  type Offer,
  type Prompt,
  type Resource,
  type Tool,
  tool,
} from './offer.ts'
