/** The memory engine for tests, and a hostile variant. */
export { type Hostility, LaggingStore, memoryStore } from './engine.ts'
