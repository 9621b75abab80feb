/** A process that checks without pause whether a home is held. */
import { isHeld } from './lock.ts'

const [home] = process.argv.slice(2) as [string]
console.log('asking')
for (;;) isHeld(home)
