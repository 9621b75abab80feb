/** A process that asks without pause whether a home is held. */
import { isHeld } from '../lease.ts'

const [home] = process.argv.slice(2) as [string]
console.log('asking')
for (;;) isHeld(home)
