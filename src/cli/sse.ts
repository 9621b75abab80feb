export interface ServerSentEvent {
  id: string
  event: string
  data: string
}

/** Reads an event stream as the standard describes it: fields until an empty line; a comment is skipped. */
export async function* serverSentEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<ServerSentEvent> {
  let id = ''
  let event = 'message'
  let data: string[] = []
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data.length || event !== 'message') yield { id, event, data: data.join('\n') }
      event = 'message'
      data = []
      continue
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') id = value
    else if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
}

export async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/)
    rest = lines.pop()!
    yield* lines
  }
}
