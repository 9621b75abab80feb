import type { Output } from '../../api/client.ts'

/** A person or a service besides the owner of the home. */
export type Person = Output<'list_people'>['people'][number]
