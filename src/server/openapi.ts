import type { FastifyInstance } from 'fastify'
import type { Operation } from '../operations/operation.ts'
import { type JsonSchema, jsonSchema, routeOf } from '../operations/shape.ts'
import { VERSION } from '../platform/version.ts'

export function addOpenapi(app: FastifyInstance, operations: readonly Operation[]): void {
  let text: string | undefined
  app.get('/api/openapi.json', async (_, reply) => {
    text ??= JSON.stringify(openapi(operations))
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

/** The OpenAPI document of all operations. */
export function openapi(operations: readonly Operation[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const { method, path } = routeOf(operation)
    const template = path.replace(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: described(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Flotilla',
      version: VERSION,
      description: 'Runs fleets of coding agents. Every id may be shortened to its first letters.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { browser: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: "The content of the home's token file, or the token of a session.",
        },
        browser: {
          type: 'http',
          scheme: 'Fleet-Proof',
          description:
            'A signature over each request, made by the page with a key that the browser has kept since it signed in.',
        },
      },
      responses: { Refusal: { description: 'The reason, and what to do next', content: json(REFUSAL) } },
    },
  }
}

const json = (schema: JsonSchema): object => ({ 'application/json': { schema } })

const REFUSAL: JsonSchema = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        try: { type: 'string' },
        field: { type: 'string' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A command repeated with the same key is carried out once.',
  schema: { type: 'string', maxLength: 200 },
}

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'Continue after this event.',
  schema: { type: 'string' },
}

function described(operation: Operation): object {
  const { path, pathFields, rest } = routeOf(operation)
  const { properties = {}, required = [], ...schema } = named(operation.input, 'input', operation.name)
  const others = Object.entries(properties).filter(([name]) => !pathFields.includes(name))
  const parameter =
    (place: string) =>
    ([name, field]: [string, JsonSchema]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(field.description && { description: field.description }),
      schema: field,
    })
  const body = {
    ...schema,
    properties: Object.fromEntries(others),
    required: required.filter(name => !pathFields.includes(name)),
  }
  return {
    operationId: operation.name,
    summary: operation.summary,
    tags: [path.split('/')[2]],
    'x-kind': operation.kind,
    'x-agents': operation.agentMay !== undefined,
    parameters: [
      ...pathFields.map(name => parameter('path')([name, properties[name] ?? { type: 'string' }])),
      ...(rest === 'query' ? others.map(parameter('query')) : []),
      ...(operation.kind === 'command' ? [IDEMPOTENCY_KEY] : []),
      ...(operation.kind === 'stream' ? [LAST_EVENT_ID] : []),
    ],
    ...(rest === 'body' && { requestBody: { required: body.required.length > 0, content: json(body) } }),
    responses: { 200: success(operation), default: { $ref: '#/components/responses/Refusal' } },
  }
}

function success(operation: Operation): object {
  const schema = named(operation.output, 'output', `${operation.name}_output`)
  if (operation.kind !== 'stream') return { description: 'The answer', content: json(schema) }
  const description =
    'Server-sent events: `id` is the cursor to continue from, `event` the kind, `data` JSON of this form.'
  return { description, content: { 'text/event-stream': { schema } } }
}

/** A schema that refers to parts of itself needs a name, because its references would otherwise mean the whole document. */
function named(type: Operation['output'], io: 'input' | 'output', id: string): JsonSchema {
  const schema = jsonSchema(type, io)
  return schema.$defs ? { $id: id, ...schema } : schema
}
