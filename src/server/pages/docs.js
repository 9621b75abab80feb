/**
 * The API page is made by hand because no maintained renderer is better here. Redoc, RapiDoc, Scalar and Stoplight
 * Elements break under the content security policy. swagger-ui works under it, but takes thirty times the processor
 * time and does not show streams. docs/architecture/server.md has the figures.
 */
import { ask, element } from './dom.js'
import { provenFetch } from './proof.js'

const MAX_SHOWN_CHARACTERS = 200_000
const TONES = { get: 'good', post: 'warn', put: 'warn', delete: 'bad' }
const description = await ask('/api/openapi.json')
// A link carries no proof, so it leads to what was already read.
const file = new Blob([JSON.stringify(description, null, 2)], { type: 'application/json' })
document.getElementById('openapi').href = URL.createObjectURL(file)
document.getElementById('version').textContent = `version ${description.info.version}`

const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
)
const nouns = Map.groupBy(operations, operation => operation.tags[0])
document
  .getElementById('operations')
  .append(
    ...Array.from(nouns, ([noun, members]) =>
      element('section', {}, element('h2', { id: noun }, noun), members.map(card)),
    ),
  )

document.getElementById('filter').addEventListener('input', event => {
  const text = event.target.value.toLowerCase()
  for (const section of document.querySelectorAll('#operations section')) {
    const cards = [...section.querySelectorAll('.operation')]
    for (const each of cards) each.hidden = !each.querySelector('summary').textContent.toLowerCase().includes(text)
    section.hidden = cards.every(each => each.hidden)
  }
})

function card(operation) {
  const { method, path, summary, operationId } = operation
  const head = element(
    'summary',
    {},
    element('span', { class: `method ${TONES[method]}` }, method.toUpperCase()),
    element('span', { class: 'mono' }, path),
    element('span', {}, summary),
    element('span', { class: 'faint mono' }, operationId),
  )
  const made = element('details', { class: 'card operation', id: operationId }, head)
  // Created only when opened: forty forms at once are slow on a phone.
  made.addEventListener('toggle', () => made.open && made.children.length === 1 && made.append(body(operation)))
  return made
}

function body(operation) {
  const [type, { schema: output }] = Object.entries(operation.responses['200'].content)[0]
  const input = operation.requestBody?.content['application/json'].schema
  return element(
    'div',
    {},
    element(
      'p',
      { class: 'faint' },
      operation['x-agents'] ? 'The token of a session may use this for its own mission.' : 'For the owner only.',
    ),
    input && [element('h3', {}, 'Body'), element('pre', {}, typeText(input))],
    element('h3', {}, type === 'text/event-stream' ? 'Each event' : 'Answer'),
    element('pre', {}, typeText(output)),
    element('h3', {}, 'Try it'),
    form(operation, input),
  )
}

function form(operation, input) {
  const fields = operation.parameters.filter(parameter => parameter.in !== 'header').map(field)
  const text = input && element('textarea', { 'aria-label': 'Body', spellcheck: 'false' })
  if (text) text.value = JSON.stringify(example(input), null, 2)
  const stop = element('button', { type: 'button', hidden: true }, 'Stop')
  const result = element('pre', { hidden: true, tabindex: '0' })
  const made = element(
    'form',
    {},
    fields.length > 0 &&
      element(
        'dl',
        { class: 'fields' },
        fields.map(each => [each.term, each.entry]),
      ),
    text,
    element('button', {}, 'Send'),
    stop,
    result,
  )
  made.addEventListener('submit', event => {
    event.preventDefault()
    send(operation, fields, text?.value, { result, stop })
  })
  return made
}

function field({ name, required, schema, in: place, description: about }) {
  const input = element('input', { name, required, placeholder: typeText(schema), 'aria-label': name })
  const term = element(
    'dt',
    {},
    element('code', {}, name),
    required ? '' : element('span', { class: 'faint' }, ' optional'),
  )
  return {
    name,
    place,
    input,
    term,
    entry: element('dd', {}, input, about && element('div', { class: 'faint' }, about)),
  }
}

async function send({ method, path, operationId }, fields, body, { result, stop }) {
  const gone = new AbortController()
  stop.onclick = () => gone.abort()
  stop.hidden = false
  result.hidden = false
  result.textContent = `${operationId}…`
  try {
    const response = await provenFetch(addressOf(path, fields), {
      method: method.toUpperCase(),
      signal: gone.signal,
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    })
    result.textContent = `${response.status} ${response.statusText}\n\n`
    await showBody(response, result)
  } catch (error) {
    result.textContent += gone.signal.aborted ? '\nstopped' : `\n${error.message}`
  }
  stop.hidden = true
}

function addressOf(path, fields) {
  const filled = fields.filter(each => each.input.value !== '')
  const inPath = path.replace(/{(\w+)}/g, (_, name) =>
    encodeURIComponent(fields.find(each => each.name === name).input.value),
  )
  const query = new URLSearchParams(
    filled.filter(each => each.place === 'query').map(each => [each.name, each.input.value]),
  )
  return query.size ? `${inPath}?${query}` : inPath
}

async function showBody(response, result) {
  if (response.headers.get('content-type')?.startsWith('application/json')) {
    result.append(JSON.stringify(await response.json(), null, 2).slice(0, MAX_SHOWN_CHARACTERS))
    return
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    result.textContent = (result.textContent + part.value).slice(-MAX_SHOWN_CHARACTERS)
  }
}

/** A schema as a person would write the type. */
function typeText(schema, indent = '') {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map(choice => typeText(choice, indent)).join(' | ')
  if (schema.allOf) return schema.allOf.map(part => typeText(part, indent)).join(' & ')
  if (schema.type === 'array') return `${typeText(schema.items ?? {}, indent)}[]`
  if (schema.type === 'object') return objectText(schema, indent)
  return [schema.type ?? 'anything'].flat().join(' | ')
}

function objectText({ properties, required = [], additionalProperties }, indent) {
  const inner = `${indent}  `
  if (!properties) return `{ [name]: ${typeText(additionalProperties || {}, inner)} }`
  const lines = Object.entries(properties).map(([name, schema]) => {
    const fallback = schema.default === undefined ? '' : ` = ${JSON.stringify(schema.default)}`
    const about = schema.description ? `  — ${schema.description}` : ''
    return `${inner}${name}${required.includes(name) ? '' : '?'}: ${typeText(schema, inner)}${fallback}${about}`
  })
  return lines.length ? `{\n${lines.join('\n')}\n${indent}}` : '{}'
}

/** The required fields, empty: what a person has to fill in. */
function example({ properties = {}, required = [] }) {
  return Object.fromEntries(required.map(name => [name, EMPTY[properties[name]?.type] ?? null]))
}
const EMPTY = { string: '', number: 0, integer: 0, boolean: false, array: [], object: {} }
