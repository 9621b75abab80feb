import { expect, test } from 'vitest'
import { KNOWN_NAMES } from './known-names/index.ts'
import { notTaken } from './not-taken.ts'

const OF_SERVERS = ['JWT_SECRET', 'CORS_ORIGINS', 'MAX_WORKERS', 'CAFLEET_DATABASE_URL']

test('a variable of another tool that is not used is said, and one that was taken is not', () => {
  const set = Object.fromEntries([...OF_SERVERS, 'CAFLEET_BROKER_HOST', 'CAFLEET_BROKER_PORT'].map(name => [name, 'x']))
  const said = notTaken(set)
  expect(said.map(line => line.split(' ')[0]).toSorted()).toEqual(Object.keys(set).toSorted())
  expect(notTaken(set, { host: '127.0.0.1', port: 1 }).map(line => line.split(' ')[0])).toEqual(OF_SERVERS)
  expect(notTaken({ PATH: '/bin', MAX_WORKERS: '' })).toEqual([])
})

test('the list of known names says what became of each', () => {
  const known = KNOWN_NAMES.filter(({ kind }) => kind === 'variable').map(({ name }) => name)
  for (const name of [...OF_SERVERS, 'CAFLEET_BROKER_HOST', 'CAFLEET_BROKER_PORT', 'CAFLEET_MAX_TEXT_LEN'])
    expect(known).toContain(name)
})
