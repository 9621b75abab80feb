import type { FastifyRequest } from 'fastify'
import type { Fleet } from '../fleet/fleet.ts'
import { audited } from '../operations/auditing.ts'
import type { Caller } from '../operations/operation.ts'
import { callerWith } from './auth.ts'
import { fromOf, fromPage } from './from.ts'

/** What is asked for at addresses of their own and is in the audit log beside the operations. */
type Asked = 'sign_in' | 'sign_out' | 'exchange_token' | 'decide_terminal'

/** Carries out such a request of somebody known. */
export const auditedRequest = <T>(
  name: Asked,
  { fleet, caller, request }: { fleet: Fleet; caller: Caller; request: FastifyRequest },
  named: Record<string, unknown>,
  run: (fleet: Fleet) => Promise<T>,
): Promise<T> => audited({ name, kind: 'command' }, { fleet, caller, from: fromOf(request) }, () => named, run)

/** Who signs in is known only now. */
export async function noteSignIn(fleet: Fleet, request: FastifyRequest, device: string): Promise<void> {
  const caller = await callerWith(fleet, device)
  const asking = { fleet, caller, from: fromPage(request) }
  await audited(
    { name: 'sign_in', kind: 'command' },
    asking,
    () => ({ device_id: device }),
    async () => {},
  )
}
