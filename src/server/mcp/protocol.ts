import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Caller } from '../../operations/operation.ts'
import { jsonSchema, parseInput, withoutNulls } from '../../operations/shape.ts'
import { VERSION } from '../../platform/version.ts'
import type { Explain } from '../answers.ts'
import { fieldsOf, isTemplate } from './addresses.ts'
import type { Offer, Resource, Tool } from './offer.ts'

export interface Asking {
  caller: Caller
  explain: Explain
  /** Fires when the server stops. */
  closing: AbortSignal
  key?: string
}

type Sdk = typeof import('./sdk.ts')
export const loadSdk = (): Promise<Sdk> => import('./sdk.ts')

// The one that the SDK makes for every server takes milliseconds, and no client is asked to fill in a form here.
const NO_FORMS = {
  getValidator: () => {
    throw new Error('No form was sent to a client, so there is none to check.')
  },
}

/** Speaks the protocol for one offer and one caller. It keeps nothing, so that there may be a new one for every request. */
export function protocolServer(sdk: Sdk, offer: Offer, asking: Asking): Server {
  const { resources = [], prompts = [] } = offer
  const server = new sdk.Server(
    { name: offer.name, title: 'Flotilla', version: VERSION },
    {
      instructions: offer.instructions,
      capabilities: {
        tools: {},
        ...(resources.length > 0 && { resources: {} }),
        ...(prompts.length > 0 && { prompts: {}, completions: {} }),
      },
      jsonSchemaValidator: NO_FORMS,
    },
  )
  offerTools(sdk, server, offer.tools, asking)
  if (resources.length) offerResources(sdk, server, resources, asking)
  if (prompts.length) offerPrompts(sdk, server, prompts, asking)
  return server
}

function offerTools(sdk: Sdk, server: Server, tools: readonly Tool[], { caller, explain, closing, key }: Asking): void {
  server.setRequestHandler(sdk.ListToolsRequestSchema, () => ({ tools: tools.map(described) as never }))
  server.setRequestHandler(sdk.CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (!tool) throw new sdk.McpError(sdk.ErrorCode.InvalidParams, `There is no tool ${params.name}.`)
    const progressToken = params._meta?.progressToken
    try {
      const answer = await tool.run(caller, parseInput(tool, withoutNulls(tool, params.arguments ?? {})), {
        key,
        signal: AbortSignal.any([signal, closing]),
        progress: ({ done, total, message }) => {
          if (progressToken === undefined) return
          const notice = { progressToken, progress: done, total, message }
          // A client that is gone is noticed by its signal.
          sendNotification({ method: 'notifications/progress', params: notice }).catch(() => {})
        },
      })
      return { content: contentOf(answer) as never }
    } catch (error) {
      const { message, try: hint } = explain(error, `the tool ${tool.name}`).body.error
      return { isError: true, content: contentOf([message, hint].filter(Boolean).join(' ')) as never }
    }
  })
}

const descriptions = new WeakMap<Tool, object>()

function described(tool: Tool): object {
  const known = descriptions.get(tool)
  if (known) return known
  const { name, summary, input, readOnly = false } = tool
  const description = {
    name,
    description: summary,
    inputSchema: { ...input.meta(), type: 'object', ...jsonSchema(input, 'input') },
    annotations: { readOnlyHint: readOnly },
  }
  descriptions.set(tool, description)
  return description
}

function contentOf(answer: unknown): unknown[] {
  if (Array.isArray(answer)) return answer
  return [{ type: 'text', text: typeof answer === 'string' ? answer : JSON.stringify(answer) }]
}

function offerResources(sdk: Sdk, server: Server, resources: readonly Resource[], { caller, explain }: Asking): void {
  const shown = ({ name, summary, mimeType }: Resource) => ({ name, description: summary, mimeType })
  const templates = resources.filter(isTemplate)
  const fixed = resources.filter(resource => !isTemplate(resource))
  const listable = templates.filter(({ list }) => list)

  server.setRequestHandler(sdk.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: templates.map(resource => ({ uriTemplate: resource.uri, ...shown(resource) })),
  }))

  // One page holds one page of one template: the cursor says of which, and where in it.
  server.setRequestHandler(sdk.ListResourcesRequestSchema, async ({ params }) => {
    const [at = '0', ...inner] = (params?.cursor ?? '').split(':')
    const template = listable[Number(at)]
    const first = params?.cursor ? [] : fixed.map(resource => ({ uri: resource.uri, ...shown(resource) }))
    if (!template) return { resources: first }
    const page = await template.list!(caller, inner.join(':') || undefined)
    const { mimeType } = template
    const next = page.cursor ? `${Number(at)}:${page.cursor}` : Number(at) + 1 < listable.length && `${Number(at) + 1}:`
    return {
      resources: [...first, ...page.items.map(item => ({ mimeType, ...item }))],
      ...(next && { nextCursor: next }),
    }
  })

  server.setRequestHandler(sdk.ReadResourceRequestSchema, async ({ params: { uri } }) => {
    for (const resource of resources) {
      const fields = fieldsOf(resource.uri, uri)
      if (!fields) continue
      const found = await resource.read(caller, fields).catch(error => {
        throw refused(sdk, explain, error, `the resource ${resource.name}`)
      })
      const { mimeType } = resource
      const content = typeof found === 'string' ? { text: found } : { blob: found.toString('base64') }
      return { contents: [{ uri, mimeType, ...content }] }
    }
    throw new sdk.McpError(RESOURCE_NOT_FOUND, `There is no resource ${uri}.`)
  })
}

/** As the protocol numbers it. */
const RESOURCE_NOT_FOUND = -32002

function offerPrompts(
  sdk: Sdk,
  server: Server,
  prompts: NonNullable<Offer['prompts']>,
  { caller, explain }: Asking,
): void {
  server.setRequestHandler(sdk.ListPromptsRequestSchema, () => ({
    prompts: prompts.map(prompt => ({
      name: prompt.name,
      description: prompt.summary,
      arguments: prompt.arguments.map(({ complete, ...argument }) => argument),
    })),
  }))
  server.setRequestHandler(sdk.GetPromptRequestSchema, async ({ params }) => {
    const prompt = prompts.find(({ name }) => name === params.name)
    if (!prompt) throw new sdk.McpError(sdk.ErrorCode.InvalidParams, `There is no prompt ${params.name}.`)
    const given = params.arguments ?? {}
    const missing = prompt.arguments.find(({ name, required }) => required && !given[name])
    if (missing) throw new sdk.McpError(sdk.ErrorCode.InvalidParams, `The argument ${missing.name} is missing.`)
    const written = await prompt.write(caller, given).catch(error => {
      throw refused(sdk, explain, error, `the prompt ${prompt.name}`)
    })
    const said = typeof written === 'string' ? [userSays(written)] : written
    return { description: prompt.summary, messages: said as never }
  })
  server.setRequestHandler(sdk.CompleteRequestSchema, async ({ params: { ref, argument } }) => {
    const prompt = prompts.find(({ name }) => ref.type === 'ref/prompt' && ref.name === name)
    const complete = prompt?.arguments.find(({ name }) => name === argument.name)?.complete
    const values = (await complete?.(caller, argument.value)) ?? []
    return { completion: { values: values.slice(0, MAX_COMPLETIONS), hasMore: values.length > MAX_COMPLETIONS } }
  })
}

/** As the protocol bounds it. */
const MAX_COMPLETIONS = 100

const userSays = (text: string): object => ({ role: 'user', content: { type: 'text', text } })

function refused(sdk: Sdk, explain: Explain, error: unknown, where: string): Error {
  if (error instanceof sdk.McpError) return error
  const { status, body } = explain(error, where)
  const code =
    status === 404 ? RESOURCE_NOT_FOUND : status < 500 ? sdk.ErrorCode.InvalidParams : sdk.ErrorCode.InternalError
  // Not an McpError, which would put its number before the sentence.
  return Object.assign(new Error([body.error.message, body.error.try].filter(Boolean).join(' ')), { code })
}
