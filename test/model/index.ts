export { type Step, steps } from './scenario.ts'
export { type Model, type Recorded, startModel } from './server.ts'
