import { parseArgs } from 'node:util'
import { startModel } from './server.ts'

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })
console.log((await startModel(Number(values.port))).url)
