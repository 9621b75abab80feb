import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { VERSION } from '../../platform/version.ts'
import { type Answers, type Asking, answering, type Extra, type Sdk, type Send } from './answering.ts'
import { CODES, refused, rpcError } from './errors.ts'
import type { Offer } from './offer.ts'
import { declaresForms } from './requests.ts'
import { completionAnswers } from './serving-completions.ts'
import { promptAnswers } from './serving-prompts.ts'
import { resourceAnswers } from './serving-resources.ts'
import { toolAnswers } from './serving-tools.ts'

// The validator that the SDK makes for every server takes milliseconds, and nothing here uses it.
const NO_FORMS = {
  getValidator: () => {
    throw new Error('No form was sent to a client, so there is none to check.')
  },
}

/** Speaks the protocol for one offer and one caller. It keeps no state, so every request may have a new one. */
export function protocolServer(sdk: Sdk, offer: Offer, asking: Asking): Server {
  const { resources = [], prompts = [] } = offer
  const serverInfo = { name: offer.name, title: 'Flotilla', version: VERSION }
  const capabilities = {
    tools: {},
    ...(resources.length > 0 && { resources: {} }),
    ...(prompts.length > 0 && { prompts: {} }),
    ...(resources.length + prompts.length > 0 && { completions: {} }),
  }
  const server = new sdk.Server(serverInfo, { capabilities, jsonSchemaValidator: NO_FORMS })
  const send: Send = async (message, { requestId }) =>
    server.transport?.send(message as never, { relatedRequestId: requestId })
  const answers: Answers = {
    initialize: answering(sdk.InitializeRequestSchema, ({ protocolVersion: wanted, capabilities: theirs }) => {
      asking.showsForms = declaresForms(theirs)
      const known = sdk.SUPPORTED_PROTOCOL_VERSIONS.includes(wanted)
      const protocolVersion = known ? wanted : sdk.LATEST_PROTOCOL_VERSION
      return { protocolVersion, capabilities, serverInfo, instructions: offer.instructions }
    }),
    ping: answering(sdk.PingRequestSchema, () => ({})),
    ...toolAnswers(sdk, offer.tools, asking, send),
    ...(resources.length > 0 && resourceAnswers(sdk, resources, asking)),
    ...(prompts.length > 0 && promptAnswers(sdk, prompts, asking)),
    ...(resources.length + prompts.length > 0 && completionAnswers(sdk, offer, asking)),
  }
  // The SDK's own handlers answer malformed parameters with an internal error that shows its parser.
  for (const method of ['initialize', 'ping']) server.removeRequestHandler(method)
  server.fallbackRequestHandler = async (request, extra) => {
    const answer = Object.hasOwn(answers, request.method) ? answers[request.method] : undefined
    if (!answer) throw rpcError(CODES.methodNotFound, `There is no method ${request.method} here.`)
    return answer(request, extra as Extra).catch(error => {
      throw refused(asking.explain, error, request.method)
    })
  }
  return server
}
