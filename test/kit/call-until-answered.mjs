import { setTimeout as delay } from 'node:timers/promises'

// Calls an operation as an agent, and repeats it with the same key while the store gives no answer.
const [method, path, body, key] = process.argv.slice(2)
const { FLEET_URL, FLEET_TOKEN } = process.env
const headers = {
  authorization: `Bearer ${FLEET_TOKEN}`,
  'content-type': 'application/json',
  'idempotency-key': key,
}
for (;;) {
  const answer = await fetch(FLEET_URL + path, { method, headers, body })
  if (answer.status !== 503) process.exit(answer.ok ? 0 : 1)
  await delay(20)
}
