export { NO_TOKENS, type Step, steps, type Tokens } from './scenario.ts'
export { type Model, type Recorded, type Served, startModel } from './server.ts'
