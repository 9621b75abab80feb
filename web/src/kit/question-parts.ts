export interface Choice {
  label: string
  about: string
}

/** The choices of a question: lines that begin with a dash. Several questions in one text give none. */
export function choicesIn(text: string): { question: string; choices: Choice[] } {
  const lines = text.split('\n')
  const first = lines.findIndex(line => line.startsWith('- '))
  const offered = first === -1 ? [] : lines.slice(first)
  if (offered.length < 2 || !offered.every(line => line.startsWith('- '))) return { question: text, choices: [] }
  const choices = offered.map(line => {
    const [, label = '', about = ''] = /^- (.*?)(?:: (.*))?$/.exec(line) ?? []
    return { label, about }
  })
  return { question: lines.slice(0, first).join('\n').trim(), choices }
}

/** The input of a tool that asks for permission, parsed if it is JSON. */
export function inputIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
