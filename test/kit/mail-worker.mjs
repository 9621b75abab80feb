// The script of a team member that answers by rule: it replies to whatever wants a reply, with the same text behind
// `heard:`, and writes down what it was told. It asks again while no server answers.
import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const { FLEET_MAIL_FILE, FLEET_URL, FLEET_TOKEN } = process.env
// With the name of another member it does not stop talking to that one.
const [journal, other] = process.argv.slice(2)

async function post(path, body) {
  for (;;) {
    try {
      const answer = await fetch(`${FLEET_URL}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${FLEET_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (answer.status < 500) return { status: answer.status, body: await answer.json() }
    } catch {}
    await pause(20)
  }
}

for (const line of readFileSync(FLEET_MAIL_FILE, 'utf8').split('\n').filter(Boolean)) {
  const { id, thread, body, needs, from } = JSON.parse(line)
  let said = ''
  if (other) {
    const letter = { body: `${body}!`, needs: 'reply' }
    if (from === other) await post(`/api/mail/${id}/reply`, letter)
    else await post('/api/mail', { ...letter, to: other })
    continue
  }
  if (needs === 'reply') {
    const { status } = await post(`/api/mail/${id}/reply`, { body: `heard: ${body}` })
    said = String(status)
  }
  if (needs === 'ack') said = String((await post(`/api/mail/${id}/ack`, {})).status)
  appendFileSync(journal, `${JSON.stringify({ id, thread, from, body, said })}\n`)
}
