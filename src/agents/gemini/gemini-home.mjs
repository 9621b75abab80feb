// Makes a home for one run: node gemini-home.mjs <the person's home> <the new one> <file with settings to add>
// The client takes servers only from the settings of its home. Everything else in there is linked to the person's own
// home, so that the client is signed in and finds its conversations.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [person, home, added] = process.argv.slice(2)
const [theirs, ours] = [person, home].map(folder => join(folder, '.gemini'))
const SETTINGS = 'settings.json'

// Conversations are stored there. A folder that is missing when the links are made would be lost with this home.
mkdirSync(join(theirs, 'tmp'), { recursive: true })
mkdirSync(ours, { recursive: true })
const names = readdirSync(theirs).filter(name => name !== SETTINGS)
for (const name of names) symlinkSync(join(theirs, name), join(ours, name))
const settings = { ...read(join(theirs, SETTINGS)), ...read(added) }
writeFileSync(join(ours, SETTINGS), JSON.stringify(settings), { mode: 0o600 })

/** Settings may have comments. */
function read(file) {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return {}
  }
  return JSON.parse(text.replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, quoted) => quoted ?? ''))
}
