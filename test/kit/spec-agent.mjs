// A coding agent by rule, for flows about specifications: it does what each stage asks for, and reviews by what it
// sees in the files. The second argument is a file with what it leaves out.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const { FLEET_URL, FLEET_TOKEN } = process.env
const [promptFile, moodFile, journal] = process.argv.slice(2)
const prompt = readFileSync(promptFile, 'utf8')
const mood = JSON.parse(readFileSync(moodFile, 'utf8'))
const path = /design-docs\/\d{4}-[a-z0-9-]+\/README\.md/.exec(prompt)?.[0]
const text = () => (path && existsSync(path) ? readFileSync(path, 'utf8') : '')
const put = words => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, words)
}

async function ask(question) {
  for (;;) {
    try {
      const answer = await fetch(`${FLEET_URL}/api/agent/questions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${FLEET_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ question, wait_seconds: 0 }),
      })
      if (answer.status < 500) return await answer.json()
    } catch {}
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

const verdict = wrong => console.log(wrong && !mood.lenient ? `Missing: ${wrong}` : 'I read all of it.\n\nAPPROVED')

const STAGES = {
  'Read this task': async () => {
    if (mood.silent) return console.log('It is all clear to me.')
    const { status, answer } = await ask('1. Which colour? I would choose grey.\n2. How long? I would choose ten.')
    console.log(status === 'answered' ? `Asked for colour and length. Answer: ${answer}` : 'I wait for the answer.')
  },
  'Write the design document': () => {
    if (!text()) return put(`# A bridge\n\nStatus: Draft\n\n${/Answer: .*/.exec(prompt)?.[0] ?? 'No answer.'}\n`)
    if (mood.stubborn) console.log('It is good as it is.')
    else put(`${text()}\n## Criteria\n\n- [ ] There is a bridge.\n`)
  },
  'Review the design document': () => verdict(text().includes('- [ ]') ? '' : 'criteria'),
  'Read design-docs': async () => {
    const { status, answer } = await ask('1. May carts cross it? I would say no.')
    console.log(status === 'answered' ? `1. May carts cross it? ${answer}` : 'I wait for the answer.')
  },
  'Write these answers': () => put(`${text()}\nCOMMENT(person): ${/carts cross it\? (.*)/.exec(prompt)?.[1]}\n`),
  'has remarks of people': () => put(text().replace(/^COMMENT\(.*\): (.*)$/gm, 'Decided: $1')),
  'was changed after remarks': () => verdict(text().includes('COMMENT(') ? 'a mark is left' : ''),
  'Write the tests': () => writeFileSync('bridge.test.sh', 'test -f bridge.txt\n'),
  'Review the new tests': () => verdict(existsSync('bridge.test.sh') ? '' : 'tests'),
  'Make the tests for': () => {
    writeFileSync('bridge.txt', prompt.includes('mend it') ? 'stone\n' : 'straw\n')
    put(`${text()}- Built of ${prompt.includes('mend it') ? 'stone' : 'straw'}.\n`)
  },
  'Check what was built': () =>
    verdict(readFileSync('bridge.txt', 'utf8').includes('stone') ? '' : 'the first criterion: straw does not hold'),
  'Tick each criterion': () => {
    if (mood.forgetful) console.log('I looked at all of them.')
    else put(text().replace('- [ ]', '- [x]'))
  },
}

// The words that come first in the prompt say which stage it is.
const [stage] = Object.keys(STAGES)
  .filter(words => prompt.includes(words))
  .sort((one, other) => prompt.indexOf(one) - prompt.indexOf(other))
appendFileSync(journal, `${stage}\n`)
await STAGES[stage]()
