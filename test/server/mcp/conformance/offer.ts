import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { NotAllowed } from '../../../../src/domain/errors.ts'
import type { Offer, Tool } from '../../../../src/server/mcp/index.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' }
const text = (words: string) => ({ type: 'text', text: words })
const resource = (uri: string, mimeType: string, words: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
})
const answering = (name: string, content: unknown): Tool => ({
  name,
  summary: `Answers as the conformance suite wants of ${name}`,
  input: z.strictObject({}),
  run: async () => content,
})

const eliciting = (name: string, properties: Record<string, object>, input = z.strictObject({})): Tool => ({
  name,
  summary: `Shows a form as the conformance suite wants of ${name}`,
  input,
  long: true,
  run: async (_, { message = 'Fill it in.' }: { message?: string }, { elicit, signal }) => {
    if (!elicit) throw new NotAllowed('The client shows no forms.')
    return `User response: ${JSON.stringify(await elicit({ message, properties, required: [] }, signal))}`
  },
})
const titled = (...values: string[]) => values.map(value => ({ const: value, title: value.toUpperCase() }))
const plain = ['option1', 'option2', 'option3']

/** What the official conformance suite expects from a server, in the form in which the fleet offers its tools. */
export const EXPECTED: Offer = {
  name: 'conformance',
  instructions: 'For the conformance suite.',
  tools: [
    answering('test_simple_text', 'This is a simple text response for testing.'),
    answering('test_image_content', [image]),
    answering('test_audio_content', [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }]),
    answering('test_embedded_resource', [
      resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
    ]),
    answering('test_multiple_content_types', [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ]),
    {
      name: 'test_error_handling',
      summary: 'Fails',
      input: z.strictObject({}),
      run: async () => {
        throw new Error('This tool intentionally returns an error for testing')
      },
    },
    {
      name: 'test_tool_with_progress',
      summary: 'Tells how far it is',
      input: z.strictObject({}),
      long: true,
      run: async (_, __, { progress }) => {
        for (const done of [0, 50, 100]) {
          progress({ done, total: 100, message: `${done} of 100` })
          await pause(50)
        }
        return 'done'
      },
    },
    eliciting(
      'test_elicitation',
      { username: { type: 'string' }, email: { type: 'string' } },
      z.strictObject({ message: z.string() }) as never,
    ),
    eliciting('test_elicitation_sep1034_defaults', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
    eliciting('test_elicitation_sep1330_enums', {
      untitledSingle: { type: 'string', enum: plain },
      titledSingle: { type: 'string', oneOf: titled('value1', 'value2', 'value3') },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
      titledMulti: { type: 'array', items: { anyOf: titled('value1', 'value2', 'value3') } },
    }),
    {
      name: 'json_schema_2020_12_tool',
      summary: 'Has an input with definitions',
      input: z
        .strictObject({
          name: z.string().optional(),
          address: z
            .object({ street: z.string().optional(), city: z.string().optional() })
            .meta({ id: 'address' })
            .optional(),
        })
        .meta({ $schema: 'https://json-schema.org/draft/2020-12/schema' }),
      run: async () => 'done',
    },
  ],
  resources: [
    {
      uri: 'test://static-text',
      name: 'text',
      summary: 'A text',
      mimeType: 'text/plain',
      read: async () => 'This is the content of the static text resource.',
    },
    {
      uri: 'test://static-binary',
      name: 'picture',
      summary: 'A picture',
      mimeType: 'image/png',
      read: async () => Buffer.from(PIXEL, 'base64'),
    },
    {
      uri: 'test://template/{id}/data',
      name: 'data',
      summary: 'Data by id',
      mimeType: 'application/json',
      read: async (_, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    },
  ],
  prompts: [
    {
      name: 'test_simple_prompt',
      summary: 'Says something',
      arguments: [],
      write: async () => 'This is a simple prompt for testing.',
    },
    {
      name: 'test_prompt_with_arguments',
      summary: 'Says what it was given',
      arguments: [
        { name: 'arg1', description: 'first', required: true, complete: async (_, typed) => [`${typed}ed`] },
        { name: 'arg2', description: 'second', required: true },
      ],
      write: async (_, { arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    },
    {
      name: 'test_prompt_with_embedded_resource',
      summary: 'Says something about a resource',
      arguments: [{ name: 'resourceUri', description: 'which', required: true }],
      write: async (_, { resourceUri }) => [
        { role: 'user', content: resource(resourceUri!, 'text/plain', 'Embedded resource content for testing.') },
        { role: 'user', content: text('Please process the embedded resource above.') },
      ],
    },
    {
      name: 'test_prompt_with_image',
      summary: 'Says something about a picture',
      arguments: [],
      write: async () => [
        { role: 'user', content: image },
        { role: 'user', content: text('Please analyze the image above.') },
      ],
    },
  ],
}
