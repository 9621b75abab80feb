// Copies a conversation into the current folder: node opencode-copy.mjs <conversation> <folder for its files>
// The client's own copy would keep working in the folder of the original. So the conversation is exported, and imported
// again under new names and with this folder. Prints the name of the copy.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [conversation, folder] = process.argv.slice(2)
const file = join(folder, 'conversation.json')

// Exported to a file: with a pipe, the client may exit before everything was read, and the rest is lost.
client(['export', conversation], file)
const { info, messages } = JSON.parse(readFileSync(file, 'utf8'))
const { share: _, ...rest } = info
const copied = renamed(JSON.stringify({ info: rest, messages }))
writeFileSync(file, copied, { mode: 0o600 })
client(['import', file], join(folder, 'imported'))
console.log(JSON.parse(copied).info.id)

/** Only the random end of a name is replaced, because names are sorted by what comes before it. */
function renamed(text) {
  const names = [info.id, ...messages.flatMap(each => [each.info.id, ...each.parts.map(part => part.id)])]
  const news = new Map(names.map(name => [name, name.slice(0, -14) + randomBytes(7).toString('hex')]))
  const elsewhere = text.replace(/[a-z]+_[0-9A-Za-z]+/g, name => news.get(name) ?? name)
  // Work in the folder of the original is remembered as done here.
  const [there, here] = [info.directory, process.cwd()].map(path => JSON.stringify(path).slice(1, -1))
  return elsewhere.replaceAll(there, here)
}

function client(args, output) {
  const out = openSync(output, 'w', 0o600)
  const { status, error } = spawnSync('opencode', args, { stdio: ['ignore', out, 'inherit'] })
  closeSync(out)
  if (error) console.error(error.message)
  if (status !== 0) process.exit(1)
}
